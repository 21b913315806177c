/** The audit of the ledger: recomputes every wallet from its journal and compares. Every difference must be zero. */

import type { AnySql, Sql } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { type AuditMode, auditStatement } from './audit-statement.ts'

export interface AuditReport {
  /** True when every difference is zero. */
  readonly clean: boolean
  /** How many wallets break each rule; for `charge`, `refund` and `orphan`, how many rows do. */
  readonly differences: {
    /** The balance is not the sum of the journal. */
    readonly balance: number
    /** The journal's `seq` has a gap, or the last `seq` differs from the one in the wallet. */
    readonly seq: number
    /** A row's `balance_after` is not the sum of the rows up to it. */
    readonly chain: number
    /** The held amount is not the sum of the open holds. */
    readonly held: number
    /** The daily sums differ from the sums over the usage rows, including the recorded sums of deleted (retired) rows. */
    readonly daily: number
    /**
     * For deleted (retired) usage rows, only sums are kept. The credits up to the last of these rows, minus the charges in the
     * sums, do not equal the recorded balance after that row, or the numbers of credits and rows do not add up.
     */
    readonly retired: number
    /** Usage rows whose charge is not least(cost, balance before the call). */
    readonly charge: number
    /** Refunds of a call of a different account, or with an amount that differs from the call's charge. */
    readonly refund: number
    /** Journal rows, daily rows, holds and keys of accounts without a wallet. */
    readonly orphan: number
  }
  /** The first accounts with a difference, at most 20. */
  readonly accounts: readonly number[]
  readonly wallets: number
  readonly openHolds: number
  readonly calls: number
  /** Total cost that balances could not cover. */
  readonly uncollectedMicroVnd: MicroVnd
}

export interface AuditOptions {
  /** Default: `full`. */
  readonly mode?: AuditMode
  /**
   * Whether to record how far each wallet's journal has been proven correct, so that later incremental audits start from there
   * (see AuditMode). A full audit also deletes this record for wallets with a difference, so that the next audits read all of
   * their rows. Needs a transaction with snapshot isolation. Default: false.
   */
  readonly recordsPoints?: boolean
}

/** Audits one consistent snapshot of the whole ledger. */
export async function audit(
  sql: Sql | AnySql,
  { mode = 'full', recordsPoints = false }: AuditOptions = {},
): Promise<AuditReport> {
  const row: Readonly<Record<string, string | null>> = (await sql.unsafe(auditStatement(mode, recordsPoints)))[0]!
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
