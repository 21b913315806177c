/** What follows from one entry alone: its price in µVND, its endpoints, and when it goes. */

import type { Endpoint, ModelEntry } from '../generated/types.ts'
import { type MicroVnd, microVnd, vndToMicro } from '../lib/money.ts'

/** What is worked out once for each entry. */
export interface CatalogueItem {
  readonly entry: ModelEntry
  /** Price of one token, one call or one image (as `entry.price.per` says), in µVND. */
  readonly unitPriceMicroVnd: MicroVnd
  /** The price in whole dong, as headers and lists print it. */
  readonly priceText: string
  readonly endpoints: ReadonlySet<Endpoint>
  /**
   * Milliseconds since 1970 from which clients are warned: the day of the deprecation, and 60 days before the end at the
   * latest. Infinity when there is nothing to warn of.
   */
  readonly deprecatedFromMs: number
  /** Milliseconds since 1970 from which the id maps to its successor; Infinity when it stays, or nothing can succeed it. */
  readonly retiresAtMs: number
  /** Response headers that warn of the deprecation (RFC 9745, RFC 8594, and the successor), or null. */
  readonly deprecationHeaders: Readonly<Record<string, string>> | null
}

/** Clients hear of an end at least so long before it, whatever day the deprecation is of. */
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
