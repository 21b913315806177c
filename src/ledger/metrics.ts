/** Counters of one process's ledger, exported as metrics. */

import type { QueueLoad } from '../lib/batcher.ts'
import type { PoolLoad } from '../lib/database.ts'
import { timeOf } from '../lib/ids.ts'
import { Histogram } from '../lib/metrics.ts'
import { type MicroVnd, ZERO_MICRO_VND } from '../lib/money.ts'
import type { HoldAnswer } from './types.ts'

const BATCH_CALLS = [1, 2, 5, 10, 25, 50, 100, 250, 500]
const BATCH_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
/**
 * Maximum number of entries whose money is counted separately. More than a catalogue has, because a spool may name entries of
 * older catalogues.
 */
const ENTRIES_MAX = 20_000

/** Metrics of one kind of statement that serves a batch of calls. */
export class BatchMetrics {
  readonly calls = new Histogram(BATCH_CALLS)
  readonly seconds = new Histogram(BATCH_SECONDS)

  /** Call when a batch has been answered; `startedMs` is from `performance.now()`. */
  answered(calls: number, startedMs: number): void {
    this.calls.observe(calls)
    this.seconds.observe((performance.now() - startedMs) / 1000)
  }
}

/** Amounts in µVND. As numbers, they are exact up to 9·10⁹ VND. */
interface Money {
  charged: number
  uncollected: number
}

export class LedgerMetrics {
  /** Calls that requested a hold, by the answer that they got; `failed` if they got none. */
  readonly admissions: Record<HoldAnswer['outcome'] | 'failed', number> = {
    admitted: 0,
    refused_key: 0,
    refused_model: 0,
    empty: 0,
    capped: 0,
    waited: 0,
    failed: 0,
  }
  /** Requests of streams for a larger hold: granted, cut because the wallet had less, or lost because the hold was not found. */
  readonly extensions = { granted: 0, cut: 0, lost: 0 }
  readonly holdBatches = new BatchMetrics()
  readonly extendBatches = new BatchMetrics()
  readonly settleBatches = new BatchMetrics()
  /** For each entry, what was charged and what remained uncollected; counted once settlements are durable. */
  readonly money = new Map<string, Money>()
  /** Holds freed because their call never ended. */
  holdsSwept = 0
  /** Settlements sent again from a spool. */
  settlementsReplayed = 0

  charged(entryId: string, { cost, charged }: { readonly cost: MicroVnd; readonly charged: MicroVnd }): void {
    if (cost === ZERO_MICRO_VND) return
    let money = this.money.get(entryId)
    if (money === undefined) {
      if (this.money.size >= ENTRIES_MAX) return
      money = { charged: 0, uncollected: 0 }
      this.money.set(entryId, money)
    }
    money.charged += Number(charged)
    if (charged !== cost) money.uncollected += Number(cost - charged)
  }
}

/** Number of calls waiting for money. */
export interface LedgerState {
  /** Calls waiting for money. */
  readonly waiting: number
  readonly queues: readonly QueueLoad[]
  /** Number of calls between their request for a hold and their durable settlement. */
  readonly open: number
  /** When the oldest of the `open` calls began, in milliseconds since 1970; null if there is none. */
  readonly oldestOpenedMs: number | null
  /** Number of settlements that are not durable yet. */
  readonly owed: number
  readonly spool: { readonly owed: number; readonly bytes: number }
  /** Number of untrusted lines, and of files of other databases, that have been set aside from the spools on this disk. */
  readonly setAside: { readonly lines: number; readonly files: number }
  readonly pools: readonly PoolLoad[]
  readonly counts: LedgerMetrics
}

/** When the oldest of these calls began. The set is in order of arrival, and a call id begins with the time. */
export function oldestOf(open: ReadonlySet<string>): number | null {
  const [oldest] = open
  return oldest === undefined ? null : timeOf(oldest)
}
