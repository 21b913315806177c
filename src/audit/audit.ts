/**
 * Audits the ledger, the payments and the spools in one consistent snapshot. A full audit reads every row of the journal; an
 * incremental one skips the rows of each wallet that earlier audits have found correct.
 */

import { createHash } from 'node:crypto'
import { audit as auditLedger, type AuditReport as LedgerAudit } from '../ledger/audit.ts'
import { type AuditMode, auditStatement } from '../ledger/audit-statement.ts'
import { auditDays, type DayAudit } from '../ledger/day-audit.ts'
import { readSetAside, type SetAsideSpool } from '../ledger/set-aside-report.ts'
import type { Sql, TransactionSql } from '../lib/database.ts'
import { auditPayments, type PaymentAudit } from '../payments/audit.ts'
import { readLastFull, writeResult } from './last.ts'

/**
 * Why an audit was full. `asked`: requested; `first`: there was no full audit before; `rules`: this version applies other rules;
 * `database`: it was restored, or a standby took over; `interval`: the last full audit was too old.
 */
export type FullReason = 'asked' | 'first' | 'rules' | 'database' | 'interval'

export interface AuditReport {
  /** True when every difference is zero. */
  readonly clean: boolean
  readonly mode: AuditMode
  /** Why this audit was full; null if it was incremental. */
  readonly fullBecause: FullReason | null
  /** When the whole journal was last read. */
  readonly fullAt: Date
  readonly ledger: LedgerAudit
  readonly days: DayAudit
  readonly payments: PaymentAudit
  readonly spool: {
    readonly differences: {
      /**
       * Number of spool lines set aside because they are damaged, or too old to have a checksum and not confirmed by the
       * database. Each is a settlement that nobody was charged for.
       */
      readonly spool_lines: number
      /** Number of spool files set aside because they belong to another database. */
      readonly spool_files: number
    }
    readonly spools: readonly SetAsideSpool[]
  }
  /** Number of differences by rule, from the ledger, the sums of days, the payments and the spools together. */
  readonly differences: Readonly<Record<string, number>>
  /** The first accounts with a difference: at most 20 from the ledger and 20 from the payments. */
  readonly accounts: readonly number[]
}

export interface AuditOptions {
  readonly timeoutMs: number
  /** `incremental` turns into `full` when a full audit is due. Default: full. */
  readonly mode?: AuditMode
  /** How old the last full audit may be before an incremental one becomes full. Default: no limit. */
  readonly fullEveryMs?: number
}

/** Digest of the audit's rules. After a change of the rules, the next audit is a full one. */
const RULES = createHash('sha256')
  .update(auditStatement('full', true))
  .update(auditStatement('incremental', true))
  .digest('hex')
/**
 * Makes audits run one at a time. The table stores up to which row each wallet has been found correct. The lock is taken before
 * the snapshot, so that each audit sees what the previous audit stored there.
 */
const LOCK = 'lock table audit_point in share row exclusive mode'

/** Runs an audit and stores its result. Rejects when it takes longer than `timeoutMs`. */
export async function audit(sql: Sql, options: AuditOptions): Promise<AuditReport> {
  return sql.begin('isolation level repeatable read', async transaction => {
    // Use `set`: a `select` would take the snapshot before the lock is held.
    await transaction.unsafe(`set local statement_timeout = ${Math.floor(options.timeoutMs)}`)
    await transaction.unsafe(LOCK)
    const last = await readLastFull(transaction, RULES)
    const fullBecause = reasonOf(options, last)
    const mode = fullBecause === null ? 'incremental' : 'full'
    const found = await compare(transaction, mode)
    // Only a full audit looks for orphans (rows whose account has no wallet) in every table, and compares the sums of every day.
    // An incremental audit therefore reports at least as many as the last full audit.
    const atLeast = (rule: string, count: number): number =>
      mode === 'full' ? count : Math.max(count, last.differences[rule] ?? 0)
    const differences = {
      ...found.ledger.differences,
      orphan: atLeast('orphan', found.ledger.differences.orphan),
      usage_days: atLeast('usage_days', found.days.differences.usage_days),
      ...found.payments.differences,
      ...found.spool.differences,
    }
    const fullAt = await writeResult(transaction, { differences, full: mode === 'full' ? last.basis : null })
    const accounts = [...new Set([...found.ledger.accounts, ...found.payments.accounts])].sort(
      (one, other) => one - other,
    )
    const clean = Object.values(differences).every(difference => difference === 0)
    return { clean, mode, fullBecause, fullAt, ...found, differences, accounts }
  })
}

function reasonOf(
  { mode = 'full', fullEveryMs = Number.POSITIVE_INFINITY }: AuditOptions,
  last: Awaited<ReturnType<typeof readLastFull>>,
): FullReason | null {
  if (mode === 'full') return 'asked'
  if (last.ageMs === null) return 'first'
  if (!last.sameRules) return 'rules'
  if (!last.sameDatabase) return 'database'
  return last.ageMs >= fullEveryMs ? 'interval' : null
}

async function compare(
  sql: TransactionSql,
  mode: AuditMode,
): Promise<Pick<AuditReport, 'ledger' | 'days' | 'payments' | 'spool'>> {
  const ledger = await auditLedger(sql, { mode, recordsPoints: true })
  const days = await auditDays(sql, mode)
  const payments = await auditPayments(sql)
  const spools = await readSetAside(sql)
  const spool_lines = spools.reduce((sum, { lines }) => sum + lines, 0)
  const spool_files = spools.reduce((sum, { files }) => sum + files, 0)
  return { ledger, days, payments, spool: { differences: { spool_lines, spool_files }, spools } }
}
