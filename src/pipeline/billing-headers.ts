/** The `x-<service>-…` headers that tell a client what served the call and what it cost. */

import { formatVnd, type MicroVnd } from '../lib/money.ts'
import type { HeaderMap } from './call.ts'
import type { Metered } from './meter.ts'
import type { Resolution } from './resolve.ts'

/** Longest value of the mapped-from header, in characters after encoding. */
const MAPPED_FROM_MAX = 256

/** Cuts an encoded name without leaving half an escape behind. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed().slice(0, MAPPED_FROM_MAX))
    .slice(0, MAPPED_FROM_MAX)
    .replace(/%[0-9A-F]?$/, '')
}

/** Headers that are known before the reply: also those of a streamed call. */
export function modelHeaders(service: string, { item, entry, mappedFrom }: Resolution): HeaderMap {
  const unit = entry.price.per === 'mtok' ? 'mtok' : 'request'
  return {
    [`x-${service}-model`]: entry.id,
    ...(mappedFrom === null ? {} : { [`x-${service}-model-mapped-from`]: encodeName(mappedFrom) }),
    [`x-${service}-price-vnd-per-${unit}`]: item.priceText,
    ...item.deprecationHeaders,
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
