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
 * Maximum number of entries with money counters of their own. More than a catalogue has, because a spool may name entries of
 * older catalogues.
 */
const ENTRIES_MAX = 20_000

/** Metrics of one kind of batched statement: calls per batch, and seconds per statement. */
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
  /** Number of hold requests by outcome; `failed`: without an answer. */
  readonly admissions: Record<HoldAnswer['outcome'] | 'failed', number> = {
    admitted: 0,
    refused_key: 0,
    refused_model: 0,
    empty: 0,
    capped: 0,
    waited: 0,
    failed: 0,
  }
  /**
   * Number of requests to extend the hold of a running stream: granted in full, cut because the wallet had less, or lost
   * because the hold no longer existed.
   */
  readonly extensions = { granted: 0, cut: 0, lost: 0 }
  readonly holdBatches = new BatchMetrics()
  readonly extendBatches = new BatchMetrics()
  readonly settleBatches = new BatchMetrics()
  /** Amounts charged and uncollected, keyed by entry id. A call is added once its settlement is durable. */
  readonly money = new Map<string, Money>()
  /** Number of holds released because their call never ended. */
  holdsSwept = 0
  /** Number of settlements sent again from a spool. */
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

/** A snapshot of the ledger's work, exported as metrics. */
export interface LedgerState {
  /** Number of calls waiting for their hold, because other calls hold the wallet's money. */
  readonly waiting: number
  readonly queues: readonly QueueLoad[]
  /** Number of calls that have requested a hold and whose settlement is not durable yet. */
  readonly open: number
  /** When the oldest open call began, in milliseconds since 1970; null if there is none. */
  readonly oldestOpenedMs: number | null
  /** Number of settlements that are not durable yet. */
  readonly owed: number
  readonly spool: { readonly owed: number; readonly bytes: number }
  /**
   * What was moved out of the spools on this disk for an operator to look at: lines that are damaged or unproven, and files
   * that belong to another database.
   */
  readonly setAside: { readonly lines: number; readonly files: number }
  readonly pools: readonly PoolLoad[]
  readonly counts: LedgerMetrics
}

/** Returns when the oldest of these calls began. They are in order of arrival, and a call id begins with the time. */
export function oldestOf(open: Iterable<string>): number | null {
  const [oldest] = open
  return oldest === undefined ? null : timeOf(oldest)
}
