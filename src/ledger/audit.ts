/** AUDIT: recomputes every wallet from its journal and compares. Every difference must be zero. */

import type { AnySql, Sql } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { type AuditMode, auditStatement } from './audit-statement.ts'

export interface AuditReport {
  /** True when every difference is zero. */
  readonly clean: boolean
  /** How many wallets (for the last three: rows) break each rule. */
  readonly differences: {
    /** The balance is not the sum of the journal. */
    readonly balance: number
    /** The journal's seq has a gap, or does not end at the wallet's. */
    readonly seq: number
    /** A balance_after is not the running sum. */
    readonly chain: number
    /** The held amount is not the sum of the open holds. */
    readonly held: number
    /** The daily sums are not those of the usage rows, retired ones included. */
    readonly daily: number
    /** The credits and the retired sums do not add up to the retired balance. */
    readonly retired: number
    /** Usage rows whose charge is not least(cost, balance before). */
    readonly charge: number
    /** Refunds whose call is not the account's, or was charged another amount. */
    readonly refund: number
    /** Journal rows, daily rows, holds and keys of accounts without a wallet. */
    readonly orphan: number
  }
  /** The first accounts with a difference, at most 20. */
  readonly accounts: readonly number[]
  readonly wallets: number
  readonly openHolds: number
  readonly calls: number
  /** Cost that the balance could not cover. */
  readonly uncollectedMicroVnd: MicroVnd
}

export interface AuditOptions {
  /** Default: `full`. */
  readonly mode?: AuditMode
  /**
   * Moves the proven points of wallets without a difference. A full audit also deletes the points of wallets with one, so that
   * the next audits read those whole. Needs a transaction that isolates by snapshot. Default: false.
   */
  readonly movesPoints?: boolean
}

/** Audits one consistent snapshot of the whole ledger. */
export async function audit(
  sql: Sql | AnySql,
  { mode = 'full', movesPoints = false }: AuditOptions = {},
): Promise<AuditReport> {
  const row: Readonly<Record<string, string | null>> = (await sql.unsafe(auditStatement(mode, movesPoints)))[0]!
  const count = (name: string): number => Number(row[name])
  const differences = {
    balance: count('balance'),
    seq: count('seq'),
    chain: count('chain'),
    held: count('held'),
    daily: count('daily'),
    retired: count('retired'),
    charge: count('charge'),
    refund: count('refund'),
    orphan: count('orphan'),
  }
  return {
    clean: Object.values(differences).every(difference => difference === 0),
    differences,
    accounts: (row.accounts ?? '').split(',').filter(Boolean).map(Number),
    wallets: count('wallets'),
    openHolds: count('open_holds'),
    calls: count('calls'),
    uncollectedMicroVnd: microVnd(BigInt(row.uncollected ?? 0)),
  }
}
