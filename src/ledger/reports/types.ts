/** Figures of the journal as the pages see them. */

import type { MicroVnd } from '../../lib/money.ts'

/** A day of Vietnam, `2026-11-21`. */
export type Day = string

export interface DayRange {
  readonly from: Day
  /** Not included. */
  readonly to: Day
}

export interface DailyFilter {
  readonly keyId?: number
  readonly entryId?: string
}

export interface UsageFilter {
  readonly keyId?: number
  readonly entryId?: string
  /** `ok` is below 400. */
  readonly status?: 'ok' | 'error' | number
  readonly from?: Date
  /** Not included. */
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
  /** The entry id, or the key's number as text. '' for calls that ended before a model was chosen. */
  readonly series: string
}

export interface UsageRow {
  readonly seq: number
  readonly callId: string
  readonly openedAt: Date
  readonly closedAt: Date
  /** Digest of the catalogue that admitted the call; null where it was not recorded. */
  readonly catalogue: string | null
  readonly keyId: number
  readonly entryId: string
  /** What the client asked for, when it was mapped. */
  readonly requestedName: string | null
  /** As ENDPOINT_FACTS says. */
  readonly endpoint: number
  readonly status: number
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
  /** Part of the cost that uses of a provider's tools make, in whole VND. */
  readonly extrasVnd: number
}
