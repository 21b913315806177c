/** What the ledger of one process counts while it works, for those who watch it. */

import type { PoolLoad } from '../lib/database.ts'
import { timeOf } from '../lib/ids.ts'
import { Histogram } from '../lib/metrics.ts'
import { type MicroVnd, ZERO_MICRO_VND } from '../lib/money.ts'
import type { HoldAnswer } from './types.ts'

const BATCH_CALLS = [1, 2, 5, 10, 25, 50, 100, 250, 500]
const BATCH_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
/** Entries whose money is counted apart: more than a catalogue has, so that old ones in a spool bring no end of them. */
const ENTRIES_MAX = 20_000

/** Statements for several calls at once. */
export class BatchMetrics {
  readonly calls = new Histogram(BATCH_CALLS)
  readonly seconds = new Histogram(BATCH_SECONDS)

  /** A batch was answered; `startedMs` is of `performance.now()`. */
  answered(calls: number, startedMs: number): void {
    this.calls.observe(calls)
    this.seconds.observe((performance.now() - startedMs) / 1000)
  }
}

/** In µVND; as numbers they are exact up to 9·10⁹ VND. */
interface Money {
  charged: number
  uncollected: number
}

export class LedgerMetrics {
  /** Answers to calls that asked for a hold, `failed` where there was none. */
  readonly admissions: Record<HoldAnswer['outcome'] | 'failed', number> = {
    admitted: 0,
    refused_key: 0,
    empty: 0,
    capped: 0,
    waited: 0,
    failed: 0,
  }
  /** Answers to streams that asked for a larger hold: as wanted, less because the wallet has not so much, or without a hold. */
  readonly extensions = { granted: 0, cut: 0, lost: 0 }
  readonly holdBatches = new BatchMetrics()
  readonly extendBatches = new BatchMetrics()
  readonly settleBatches = new BatchMetrics()
  /** By entry, as it became durable. */
  readonly money = new Map<string, Money>()
  /** Holds that were freed because their call never ended. */
  holdsSwept = 0
  /** Settlements that were sent again from a spool. */
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

/** The ledger of this process at a moment, for metrics. */
export interface LedgerState {
  /** Calls that wait for money. */
  readonly waiting: number
  /** Calls between asking for a hold and settling it durably. */
  readonly open: number
  /** Time when the oldest of them began, in milliseconds since 1970; null: there is none. */
  readonly oldestOpenedMs: number | null
  /** Settlements not yet durable. */
  readonly owed: number
  readonly spool: { readonly owed: number; readonly bytes: number }
  /** Of the spools of this disk: lines that cannot be trusted, and files of another database. */
  readonly setAside: { readonly lines: number; readonly files: number }
  readonly pools: readonly PoolLoad[]
  readonly counts: LedgerMetrics
}

/** Calls are in the set in the order in which they came, and their ids begin with the time. */
export function oldestOf(open: ReadonlySet<string>): number | null {
  const [oldest] = open
  return oldest === undefined ? null : timeOf(oldest)
}
