/**
 * Metrics that have to be read from the database: old holds, unmatched transfers, late alerts, and the periodic audit. All
 * processes on one database report the same values. A scrape never waits for the database; it returns the most recent values.
 */

import { overdueSeconds } from '../alerts/delivery-counts.ts'
import { audit } from '../audit/audit.ts'
import { type LastAudit, readLastAudit } from '../audit/last.ts'
import { openDatabase, type Sql } from '../lib/database.ts'
import { takeTurn } from '../lib/lease.ts'
import { type Family, gauge } from '../lib/metrics.ts'
import { countUnreadable } from '../payments/notification.ts'
import { type PullState, readPulls } from '../payments/pull.ts'
import { countUnmatched } from '../payments/unmatched.ts'
import { readServer, type ServerState, serverFamilies } from './server.ts'

export interface DatabaseMetricsOptions {
  readonly url: string
  readonly report: (event: { level: 'error' | 'warn'; message: string; cause?: unknown }) => void
  /** Minimum interval between reads, in ms. */
  readonly everyMs?: number
  /** Interval between audits, counting those of all processes, in ms; 0 disables audits. */
  readonly auditEveryMs: number
  /**
   * How often an audit must read the whole journal, in ms. Audits in between skip what earlier ones have checked. By default 0:
   * every audit reads the whole journal.
   */
  readonly auditFullEveryMs?: number
}

const HOLDS = `select count(*)::integer as holds,
  coalesce(extract(epoch from now() - min(opened_at)), 0)::double precision as oldest_seconds from hold`
/** Timeout for an audit. A full audit reads every row of the journal. */
const AUDIT_TIMEOUT_MS = 3_600_000
/** How often a process checks whether an audit is due. */
const AUDIT_CHECK_MS = 60_000

interface Snapshot {
  readonly atSeconds: number
  readonly holds: number
  readonly oldestSeconds: number
  readonly unmatched: { readonly transactions: number; readonly amountVnd: number }
  readonly unreadable: number
  readonly pulls: readonly PullState[]
  readonly alertsOverdueSeconds: number
  readonly server: ServerState
}

export class DatabaseMetrics {
  readonly #options: DatabaseMetricsOptions
  readonly #sql: Sql
  #snapshot: Snapshot | null = null
  #reading: Promise<void> | null = null
  #audited: LastAudit | null = null
  #auditing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isDown = false
  #closed = false

  constructor(options: DatabaseMetricsOptions) {
    this.#options = options
    this.#sql = openDatabase({
      url: options.url,
      name: 'gateway metrics',
      connectionsMax: 2,
      statementTimeoutMs: AUDIT_TIMEOUT_MS,
    })
    this.#schedule()
  }

  /** Returns the most recent values, and starts a read in the background if they are old. */
  families(): readonly Family[] {
    const { everyMs = 15_000 } = this.#options
    if (this.#snapshot === null || Date.now() - this.#snapshot.atSeconds * 1000 >= everyMs) void this.refresh()
    const server = serverFamilies(this.#snapshot?.server ?? null)
    return [...snapshotFamilies(this.#snapshot), ...server, ...auditFamilies(this.#audited)]
  }

  /** Reads the database now, or waits for the read in progress. */
  refresh(): Promise<void> {
    this.#reading ??= this.#closed ? Promise.resolve() : this.#readSafely()
    return this.#reading
  }

  /** Runs an audit now or, if one is in progress, right after it. */
  audit(): Promise<void> {
    this.#auditing = this.#auditing.then(() => this.#auditSafely())
    return this.#auditing
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    // Aborts an audit in progress.
    await this.#sql.end({ timeout: 0 }).catch(() => {})
    await Promise.all([this.#reading, this.#auditing])
  }

  async #readSafely(): Promise<void> {
    try {
      const services = { sql: this.#sql }
      const [row] = await this.#sql.unsafe(HOLDS)
      const unmatched = await countUnmatched(services)
      const unreadable = await countUnreadable(services)
      const pulls = await readPulls(services)
      const alertsOverdueSeconds = await overdueSeconds(services)
      const server = await readServer(this.#sql)
      this.#audited = await readLastAudit(this.#sql)
      const { holds, oldest_seconds: oldestSeconds } = row!
      const atSeconds = Date.now() / 1000
      this.#snapshot = { atSeconds, holds, oldestSeconds, unmatched, unreadable, pulls, alertsOverdueSeconds, server }
      this.#isDown = false
    } catch (cause) {
      if (!this.#isDown && !this.#closed)
        this.#report('warn', 'cannot read the ledger for the metrics; keeping the last values', cause)
      this.#isDown = true
    } finally {
      this.#reading = null
    }
  }

  async #auditSafely(): Promise<void> {
    if (this.#closed) return
    try {
      const { differences } = await audit(this.#sql, {
        mode: 'incremental',
        fullEveryMs: this.#options.auditFullEveryMs ?? 0,
        timeoutMs: AUDIT_TIMEOUT_MS,
      })
      this.#audited = await readLastAudit(this.#sql)
      const wrong = Object.entries(differences).filter(([, count]) => count > 0)
      if (wrong.length > 0) {
        this.#report(
          'error',
          `the audit found differences: ${wrong.map(([rule, count]) => `${rule} ${count}`).join(', ')}`,
        )
      }
    } catch (cause) {
      if (!this.#closed) this.#report('warn', 'the audit failed; will retry later', cause)
    }
  }

  #schedule(): void {
    if (this.#options.auditEveryMs === 0 || this.#closed) return
    this.#timer = setTimeout(() => void this.#auditOnLease().then(() => this.#schedule()), AUDIT_CHECK_MS)
    this.#timer.unref()
  }

  /** Runs an audit if one is due and no other process has started it. */
  async #auditOnLease(): Promise<void> {
    const query = (statement: string, parameters: string[]) => this.#sql.unsafe(statement, parameters)
    const lease = { task: 'audit', everyMs: this.#options.auditEveryMs }
    // If the lease cannot be taken, the next check tries again.
    await takeTurn(query, lease, () => this.audit()).catch(() => {})
  }

  #report(level: 'error' | 'warn', message: string, cause?: unknown): void {
    this.#options.report({ level, message, cause })
  }
}

function snapshotFamilies(snapshot: Snapshot | null): readonly Family[] {
  const known = (value: (snapshot: Snapshot) => number) => (snapshot === null ? [] : value(snapshot))
  return [
    gauge(
      'gateway_books_read_timestamp_seconds',
      'When holds, transfers and late alerts in the database were last counted, in seconds since 1970.',
      known(({ atSeconds }) => atSeconds),
    ),
    gauge(
      'gateway_database_holds',
      'Open holds of all processes.',
      known(({ holds }) => holds),
    ),
    gauge(
      'gateway_database_oldest_hold_age_seconds',
      'Age of the oldest open hold of all processes; 0: none.',
      known(({ oldestSeconds }) => oldestSeconds),
    ),
    gauge(
      'gateway_transfers_unmatched',
      'Bank transfers without an owner, waiting for an operator.',
      known(({ unmatched }) => unmatched.transactions),
    ),
    gauge(
      'gateway_transfers_unmatched_vnd',
      'Sum of the bank transfers waiting for an operator, in dong.',
      known(({ unmatched }) => unmatched.amountVnd),
    ),
    gauge(
      'gateway_notifications_unreadable',
      'Authentic bank notifications that could not be parsed.',
      known(({ unreadable }) => unreadable),
    ),
    gauge(
      'gateway_alerts_overdue_seconds',
      'How long the oldest email or webhook about an account has been due; 0: none is.',
      known(({ alertsOverdueSeconds }) => alertsOverdueSeconds),
    ),
    gauge(
      'gateway_bank_pull_timestamp_seconds',
      'When a bank service was last polled in full for missed transactions, in seconds since 1970; 0: never.',
      (snapshot?.pulls ?? []).map(({ source, finishedAt }) => [{ source }, (finishedAt?.getTime() ?? 0) / 1000]),
    ),
  ]
}

/** Shows the last audit of any process or command, so that its result outlives the process, and a later one replaces it at once. */
function auditFamilies(audited: LastAudit | null): readonly Family[] {
  const fullAt = audited?.fullAt ?? null
  return [
    gauge(
      'gateway_audit_timestamp_seconds',
      'When the ledger was last audited, by a process or a command, in seconds since 1970.',
      audited === null ? [] : audited.at.getTime() / 1000,
    ),
    gauge(
      'gateway_audit_full_timestamp_seconds',
      'When the whole journal was last audited, by a process or a command, in seconds since 1970.',
      fullAt === null ? [] : fullAt.getTime() / 1000,
    ),
    gauge(
      'gateway_audit_differences',
      'Differences found by the last audit, by rule; each must be 0.',
      Object.entries(audited?.differences ?? {}).map(([rule, count]) => [{ rule }, count]),
    ),
  ]
}
