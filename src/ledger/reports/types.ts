/** The figures and rows that reports return. */

import type { MicroVnd } from '../../lib/money.ts'

/** A Vietnamese calendar day, such as `2026-11-21`. */
export type Day = string

export interface DayRange {
  readonly from: Day
  /** Exclusive bound. */
  readonly to: Day
}

/** Restricts sums; an absent field matches everything. */
export interface HourlyFilter {
  readonly keyId?: number
  readonly entryId?: string
  /** `ok` means below 400. */
  readonly status?: 'ok' | 'error' | number
  readonly tag?: string
}

export interface DailyFilter {
  readonly keyId?: number
  readonly entryId?: string
}

export interface UsageFilter extends HourlyFilter {
  readonly from?: Date
  /** Exclusive bound. */
  readonly to?: Date
}

export interface UsageSums {
  readonly calls: number
  readonly errors: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly images: number
  readonly costMicroVnd: MicroVnd
  readonly chargedMicroVnd: MicroVnd
}

export interface DailyFigure extends UsageSums {
  readonly day: Day
  /** The group that the sums cover: a key's number as text, or an entry id ('' for calls that ended before one was chosen). */
  readonly series: string
}

/** Sums of one hour or day over the calls that match the filter. */
export interface HourlyFigure {
  /** The hour in Vietnam, such as `2026-11-21T14`, or the day. */
  readonly at: string
  /**
   * The group that the sums cover: an entry id ('' if none was chosen), a key's number as text, or a tag ('' for no tag). Null: all
   * that are too small to be named.
   */
  readonly series: string | null
  readonly calls: number
  readonly errors: number
  /** All input tokens, including those read from the provider's cache. */
  readonly inputTokens: number
  readonly cachedInputTokens: number
  /** All output tokens, including reasoning. */
  readonly outputTokens: number
  readonly reasoningTokens: number
  readonly images: number
  readonly chargedMicroVnd: MicroVnd
}

export interface UsageRow {
  readonly seq: number
  readonly callId: string
  readonly openedAt: Date
  readonly closedAt: Date
  /** Digest of the catalogue in use when the call was admitted; null if not recorded. */
  readonly catalogue: string | null
  readonly keyId: number
  readonly entryId: string
  /** The name that the client requested, if it was mapped to another entry. */
  readonly requestedName: string | null
  /** The endpoint's code in ENDPOINT_FACTS. */
  readonly endpoint: number
  readonly status: number
  /** Error code from errors.ts; null if the call succeeded, the client disconnected, or the row predates error codes. */
  readonly errorCode: string | null
  /** The client's own label for the call; null if it sent none. */
  readonly tag: string | null
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens: number
  readonly reasoningTokens: number
  readonly images: number
  readonly priceVnd: number
  readonly pricePer: 'mtok' | 'request' | 'image'
  readonly costMicroVnd: MicroVnd
  readonly chargedMicroVnd: MicroVnd
  readonly balanceAfterMicroVnd: MicroVnd
  readonly firstByteMs: number | null
  readonly latencyMs: number
  readonly streamed: boolean
  readonly estimated: boolean
  /** The part of the cost caused by priced tool uses, in whole VND. */
  readonly extrasVnd: number
}
