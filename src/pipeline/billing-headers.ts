/** The `x-<service>-…` headers that tell clients which entry served a call and what it cost. */

import { formatVnd, type MicroVnd } from '../lib/money.ts'
import type { HeaderMap } from './call.ts'
import type { Metered } from './meter.ts'
import type { Resolution } from './resolve.ts'

/** Longest value of the `…-model-mapped-from` header, in characters after encoding. */
const MAPPED_FROM_MAX = 256

/** Percent-encodes a name, and truncates the result to MAPPED_FROM_MAX without splitting a character. */
function encodeName(name: string): string {
  let encoded = ''
  for (const character of name.slice(0, MAPPED_FROM_MAX).toWellFormed()) {
    const next = encodeURIComponent(character)
    if (encoded.length + next.length > MAPPED_FROM_MAX) break
    encoded += next
  }
  return encoded
}

interface Names {
  readonly service: string
  readonly model: string
  readonly mappedFrom: string
  readonly pricePerMtok: string
  readonly pricePerRequest: string
  readonly inputTokens: string
  readonly outputTokens: string
  readonly outputTokensMax: string
  readonly cost: string
  readonly balance: string
}

let lastNames: Names = namesOf('')

/** Builds the names of a service's headers. `names` caches them, because they are the same for every call. */
function namesOf(service: string): Names {
  const prefix = `x-${service}`
  return {
    service,
    model: `${prefix}-model`,
    mappedFrom: `${prefix}-model-mapped-from`,
    pricePerMtok: `${prefix}-price-vnd-per-mtok`,
    pricePerRequest: `${prefix}-price-vnd-per-request`,
    inputTokens: `${prefix}-input-tokens`,
    outputTokens: `${prefix}-output-tokens`,
    outputTokensMax: `${prefix}-output-tokens-max`,
    cost: `${prefix}-cost-vnd`,
    balance: `${prefix}-balance-vnd`,
  }
}

function names(service: string): Names {
  if (lastNames.service !== service) lastNames = namesOf(service)
  return lastNames
}

/** Headers that are known before the reply begins, and so are sent with streamed replies, too. */
export function modelHeaders(service: string, { item, entry, mappedFrom }: Resolution, at: Date): HeaderMap {
  const name = names(service)
  const headers: HeaderMap = { [name.model]: entry.id }
  if (mappedFrom !== null) headers[name.mappedFrom] = encodeName(mappedFrom)
  headers[entry.price.per === 'mtok' ? name.pricePerMtok : name.pricePerRequest] = item.priceText
  if (item.deprecatedFromMs <= at.getTime()) Object.assign(headers, item.deprecationHeaders)
  return headers
}

/**
 * Headers of a finished, non-streamed call. The cost, and the wallet's balance after the call, are decimal VND without rounding;
 * the balance is null if the settlement is not in Postgres yet.
 */
export function costHeaders(
  service: string,
  used: Metered,
  { cost, balance }: { readonly cost: MicroVnd; readonly balance: MicroVnd | null },
): HeaderMap {
  const name = names(service)
  const headers: HeaderMap = {
    [name.inputTokens]: String(used.inputTokens),
    [name.outputTokens]: String(used.outputTokens),
    [name.cost]: formatVnd(cost),
  }
  if (balance !== null) headers[name.balance] = formatVnd(balance)
  return headers
}

/** Header with the output cap sent upstream, if the wallet cannot pay for a higher one. */
export function capHeader(service: string, outputTokensMax: number): HeaderMap {
  return { [names(service).outputTokensMax]: String(outputTokensMax) }
}
