/** The `x-<service>-…` headers that tell a client what served the call and what it cost. */

import { formatVnd, type MicroVnd } from '../lib/money.ts'
import type { HeaderMap } from './call.ts'
import type { Metered } from './meter.ts'
import type { Resolution } from './resolve.ts'

/** Longest value of the mapped-from header, in characters after encoding. */
const MAPPED_FROM_MAX = 256

/** Percent-encodes a name, whole characters only, up to the limit. */
function encodeName(name: string): string {
  let encoded = ''
  for (const character of name.slice(0, MAPPED_FROM_MAX).toWellFormed()) {
    const next = encodeURIComponent(character)
    if (encoded.length + next.length > MAPPED_FROM_MAX) break
    encoded += next
  }
  return encoded
}

/** Headers that are known before the reply: also those of a streamed call. */
export function modelHeaders(service: string, { item, entry, mappedFrom }: Resolution, at: Date): HeaderMap {
  const unit = entry.price.per === 'mtok' ? 'mtok' : 'request'
  return {
    [`x-${service}-model`]: entry.id,
    ...(mappedFrom === null ? {} : { [`x-${service}-model-mapped-from`]: encodeName(mappedFrom) }),
    [`x-${service}-price-vnd-per-${unit}`]: item.priceText,
    ...(item.deprecatedFromMs <= at.getTime() ? item.deprecationHeaders : {}),
  }
}

/** Headers of a finished, non-streamed call. Cost is decimal VND without rounding. */
export function costHeaders(service: string, used: Metered, cost: MicroVnd): HeaderMap {
  return {
    [`x-${service}-input-tokens`]: String(used.inputTokens),
    [`x-${service}-output-tokens`]: String(used.outputTokens),
    [`x-${service}-cost-vnd`]: formatVnd(cost),
  }
}
