/** What follows from one entry alone: its price in µVND, its endpoints, and when it retires. */

import type { Endpoint, ModelEntry } from '../generated/types.ts'
import { type MicroVnd, microVnd, vndToMicro } from '../lib/money.ts'

/** Computed once per entry. */
export interface CatalogueItem {
  readonly entry: ModelEntry
  /** Price of one token, one call or one image (as `entry.price.per` says), in µVND. */
  readonly unitPriceMicroVnd: MicroVnd
  /** The price in whole dong, as headers and lists print it. */
  readonly priceText: string
  readonly endpoints: ReadonlySet<Endpoint>
  /**
   * When warnings to clients begin, in milliseconds since 1970: the day of the deprecation, and at the latest 60 days
   * before the end. Infinity when there is nothing to warn about.
   */
  readonly deprecatedFromMs: number
  /** From when the id maps to its successor, in milliseconds since 1970; Infinity when it never retires or has no successor. */
  readonly retiresAtMs: number
  /** Response headers announcing the deprecation (RFC 9745, RFC 8594, and the successor), or null. */
  readonly deprecationHeaders: Readonly<Record<string, string>> | null
}

/** Clients are warned at least this long before the end, whatever the date of the deprecation. */
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
function startOfDayMs(date: string | null): number {
  return date === null ? Number.POSITIVE_INFINITY : Date.parse(`${date}T00:00:00Z`)
}
