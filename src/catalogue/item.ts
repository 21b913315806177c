/** What the catalogue derives from a single entry: its price in µVND, its endpoints, and its deprecation and retirement dates. */

import type { Endpoint, ModelEntry } from '../generated/types.ts'
import { type MicroVnd, microVnd, vndToMicro } from '../lib/money.ts'

/** An entry with the values derived from it, computed once. */
export interface CatalogueItem {
  readonly entry: ModelEntry
  /** Price of one token, one call or one image (as `entry.price.per` says), in µVND. */
  readonly unitPriceMicroVnd: MicroVnd
  /** The price in whole dong, as headers and lists print it. */
  readonly priceText: string
  readonly endpoints: ReadonlySet<Endpoint>
  /**
   * When warnings to clients begin, in milliseconds since 1970: on the deprecation date, or 60 days before retirement if that is
   * earlier. Infinity if neither date is set.
   */
  readonly deprecatedFromMs: number
  /**
   * When the id starts to resolve to its successor, in milliseconds since 1970; Infinity if it never retires or has no successor.
   */
  readonly retiresAtMs: number
  /** Response headers that announce the deprecation (RFC 9745), the retirement (RFC 8594) and the successor, or null. */
  readonly deprecationHeaders: Readonly<Record<string, string>> | null
}

/** Clients are warned at least this long before retirement, even if the deprecation date is later. */
const NOTICE_DAYS = 60
const DAY_MS = 86_400_000

export function createItem(entry: ModelEntry, service: string): CatalogueItem {
  const { vnd, per } = entry.price
  const deprecated = entry.deprecated
  const endsAtMs = startOfDayMs(deprecated?.retiresOn ?? null)
  return {
    entry,
    // A price per million tokens in VND is the price of one token in µVND.
    unitPriceMicroVnd: per === 'mtok' ? microVnd(BigInt(vnd)) : vndToMicro(vnd),
    priceText: String(vnd),
    endpoints: new Set(entry.endpoints),
    deprecatedFromMs: Math.min(startOfDayMs(deprecated?.sinceOn ?? null), endsAtMs - NOTICE_DAYS * DAY_MS),
    retiresAtMs: deprecated === null || deprecated.successor === null ? Number.POSITIVE_INFINITY : endsAtMs,
    deprecationHeaders: deprecated === null ? null : deprecationHeaders(deprecated, service),
  }
}

function deprecationHeaders(
  deprecated: NonNullable<ModelEntry['deprecated']>,
  service: string,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { deprecation: `@${startOfDayMs(deprecated.sinceOn) / 1000}` }
  if (deprecated.retiresOn !== null) headers.sunset = new Date(startOfDayMs(deprecated.retiresOn)).toUTCString()
  if (deprecated.successor !== null) headers[`x-${service}-model-successor`] = deprecated.successor
  return headers
}

/** Midnight UTC of an ISO date, in milliseconds since 1970; Infinity for null. */
export function startOfDayMs(date: string | null): number {
  return date === null ? Number.POSITIVE_INFINITY : Date.parse(`${date}T00:00:00Z`)
}
