/** Everything that must add up, in one consistent snapshot; reads every row of the journal. */

import { audit as auditLedger, type AuditReport as LedgerAudit } from '../ledger/audit.ts'
import { readSetAside, type SetAsideSpool } from '../ledger/set-aside-report.ts'
import type { Sql } from '../lib/database.ts'
import { auditPayments, type PaymentAudit } from '../payments/audit.ts'

export interface AuditReport {
  /** True when every difference is zero. */
  readonly clean: boolean
  readonly ledger: LedgerAudit
  readonly payments: PaymentAudit
  readonly spool: {
    readonly differences: {
      /** Damaged or unproven spool lines: settlements charged to nobody. */
      readonly spool_lines: number
      /** Spool files that belong to another database. */
      readonly spool_files: number
    }
    readonly spools: readonly SetAsideSpool[]
  }
  /** All of them, by rule. */
  readonly differences: Readonly<Record<string, number>>
  /** The first accounts with a difference, at most 20 of each kind. */
  readonly accounts: readonly number[]
}

/** Statement timeout for this transaction only. */
const LIMIT_TIME = `select set_config('statement_timeout', $1, true)`

/** Rejects when it takes longer than `timeoutMs`. */
export async function audit(sql: Sql, { timeoutMs }: { readonly timeoutMs: number }): Promise<AuditReport> {
  return sql.begin('isolation level repeatable read read only', async transaction => {
    await transaction.unsafe(LIMIT_TIME, [String(Math.floor(timeoutMs))])
    const ledger = await auditLedger(transaction)
    const payments = await auditPayments(transaction)
    const spools = await readSetAside(transaction)
    const spool = {
      differences: {
        spool_lines: spools.reduce((sum, { lines }) => sum + lines, 0),
        spool_files: spools.reduce((sum, { files }) => sum + files, 0),
      },
      spools,
    }
    const differences = { ...ledger.differences, ...payments.differences, ...spool.differences }
    return {
      clean: Object.values(differences).every(difference => difference === 0),
      ledger,
      payments,
      spool,
      differences,
      accounts: [...new Set([...ledger.accounts, ...payments.accounts])].sort((one, other) => one - other),
    }
  })
}
