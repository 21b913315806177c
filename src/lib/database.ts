/** Connections to Postgres with the settings that make postgres.js 3.4 safe, and a classification of its errors. */

import postgres from 'postgres'
import { readDatabaseAddress } from './database-address.ts'
import { startDeadline } from './deadlines.ts'

export type Sql = postgres.Sql
export type TransactionSql = postgres.TransactionSql
/** A pool or the caller's transaction. */
export type AnySql = postgres.ISql

export interface DatabaseOptions {
  readonly url: string
  /**
   * Set when connecting through a pooler in transaction mode, which supports neither session settings nor prepared statements.
   */
  readonly pooled?: boolean
  /** Shown in pg_stat_activity. */
  readonly name: string
  readonly connectionsMax: number
  /** With `off`, a commit returns before Postgres has flushed its WAL: only for rows whose loss is harmless. */
  readonly synchronousCommit?: 'on' | 'off'
  readonly statementTimeoutMs?: number
  /** How long to wait for a new connection, in ms; a multiple of 1,000. */
  readonly connectTimeoutMs?: number
  readonly session?: Readonly<Record<string, string>>
}

/**
 * Opens a pool. Read-only connections are closed after their running statements, and opened again until they take writes. Otherwise,
 * those to a standby that were opened during a failover could stay there for good, and so could those to a database that a hosting
 * service made read-only while its disk was full.
 *
 * `fetch_types` is off because its start-up query can end the process when the server restarts. Without it, array types have no
 * serialiser, so a string that holds an array can be cast directly (`$1::bigint[]`). All other parameters must also be strings
 * that the statement casts (`$1::text::bigint`), because a retried statement serialises them twice.
 */
export function openDatabase(options: DatabaseOptions): Sql {
  const { session, place: _, ...address } = readDatabaseAddress(options.url)
  const settings = {
    ...address,
    max: options.connectionsMax,
    onparameter(name: string, value: string) {
      if (READ_ONLY.has(name) && value === 'on') setTimeout(leaveReadOnly, READ_ONLY_PAUSE_MS).unref()
    },
    fetch_types: false,
    connect_timeout: (options.connectTimeoutMs ?? 5_000) / 1_000,
    // Replace connections when they break, never because of their age.
    max_lifetime: null,
    // Queue at most one statement behind the running one on each connection.
    max_pipeline: 1,
    backoff: reconnectSeconds,
    onnotice: () => {},
    prepare: options.pooled !== true,
    connection: {
      ...session,
      application_name: options.name,
      TimeZone: 'UTC',
      ...(options.pooled ? {} : sessionOf(options)),
    },
  }
  const sql = postgres(settings as unknown as postgres.Options<Record<string, never>>)
  function leaveReadOnly(): void {
    // The driver reports a parameter only when it changes, and the next connection may be read-only again.
    for (const name of READ_ONLY) delete (sql.parameters as Record<string, string>)[name]
    // Notifications have a pool of their own inside the driver.
    const { sql: news } = sql.listen as { readonly sql?: Sql }
    for (const pool of [sql, news] as unknown as readonly (Closable | undefined)[]) void pool?.close()
  }
  return sql
}

/** What the driver's types leave out: closes all connections; the next statement opens a new one. */
interface Closable {
  close(): Promise<void>
}

/** Every connection to Postgres begins with these parameters, and has the second one as long as it lasts. */
const READ_ONLY: ReadonlySet<string> = new Set(['in_hot_standby', 'default_transaction_read_only'])
/** Age at which read-only connections are replaced, in ms. */
const READ_ONLY_PAUSE_MS = 1_000

/**
 * Session settings for direct connections. Poolers reject sessions that have such settings; behind a pooler, operators set them
 * on the role (see docs/scale.md).
 */
function sessionOf(options: DatabaseOptions): Readonly<Record<string, string | number>> {
  return {
    statement_timeout: options.statementTimeoutMs ?? 60_000,
    idle_in_transaction_session_timeout: 60_000,
    synchronous_commit: options.synchronousCommit ?? 'on',
    ...options.session,
  }
}

function reconnectSeconds(failures: number): number {
  return Math.min(0.02 * 2 ** Math.min(failures, 8), 0.5) * (0.5 + Math.random() / 2)
}

/** Writes an array as one text parameter, `{"a","b",NULL}`, for `$1::text[]`. Strips NULs, which Postgres cannot store. */
export function textArray(values: Iterable<string | null>): string {
  const elements: string[] = []
  for (const value of values) {
    elements.push(value === null ? 'NULL' : `"${NEEDS_CARE.test(value) ? escapeElement(value) : value}"`)
  }
  return `{${elements.join(',')}}`
}

const NEEDS_CARE = /["\\\0]/

function escapeElement(value: string): string {
  return value.replaceAll('\0', '').replaceAll('\\', '\\\\').replaceAll('"', '\\"')
}

/**
 * Writes an array as one text parameter, `{1,2,NULL}`. For values that need no quotes: numbers, booleans, UUIDs, hexadecimal,
 * ISO dates without spaces.
 */
export function plainArray(values: Iterable<string | number | bigint | boolean | null>): string {
  // Joined once: repeated `+` builds a rope that is copied again when it is sent.
  const elements: unknown[] = []
  for (const value of values) elements.push(value === null ? 'NULL' : value)
  return `{${elements.join(',')}}`
}

/** Splits an array as Postgres writes it, if no element needs quotes. Empty for null. */
export function elementsOf(array: string | null | undefined): string[] {
  return array === null || array === undefined || array === '{}' ? [] : array.slice(1, -1).split(',')
}

/** `retry`: the same statement may succeed later. `conflict`: the row already exists. `bug`: the statement can never succeed. */
export type FaultKind = 'retry' | 'conflict' | 'bug'

/** Codes of the driver and the system when a connection breaks or cannot be opened. */
const CONNECTION_FAULTS: ReadonlySet<string> = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'EPROTO',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_STREAM_DESTROYED',
  'STATEMENT_DEADLINE',
])
/** Codes of TLS, and of certificates that are refused: the server's may expire, or be replaced, while the gateway runs. */
const TLS_FAULT =
  /^ERR_(SSL|TLS)_|CERT|^CRL_|SIGNATURE|^INVALID_(CA|PURPOSE)$|^PATH_LENGTH_EXCEEDED$|^HOSTNAME_MISMATCH$/

/**
 * Connection, shutdown, resource, lock, read-only and log-in errors are worth a retry (SQLSTATE 08, 25006, 28, 3D, 40, 53,
 * 55P03, 57, 58); data, constraint and syntax errors are our bugs (22, 23, 42 and the rest). Errors of the file system are none
 * of Postgres' faults: they count as bugs, whatever their code.
 */
export function classifyFault(error: unknown): FaultKind {
  const code = faultCode(error)
  if (code === '23505') return 'conflict'
  if (CONNECTION_FAULTS.has(code) || TLS_FAULT.test(code) || isConnecting(error)) return 'retry'
  return /^(08|28|3D|40|53|57|58|25006|55P03)/.test(code) ? 'retry' : 'bug'
}

/** Whether no connection could be opened, for whatever reason: no file descriptors (EMFILE), no such socket (ENOENT) … */
function isConnecting(error: unknown): boolean {
  // A name with several addresses fails with the errors of all of them.
  if (error instanceof AggregateError) return error.errors.some(isConnecting)
  return (
    error instanceof Error && 'syscall' in error && (error.syscall === 'connect' || error.syscall === 'getaddrinfo')
  )
}

/** SQLSTATE, or else the driver's or the system's error code; '' when there is none. */
export function faultCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

export class StatementDeadlineError extends Error {
  readonly code = 'STATEMENT_DEADLINE'
}

export interface StatementPoolOptions extends DatabaseOptions {
  /** How long to wait for a result, in ms. Must be longer than the server's statement timeout. */
  readonly deadlineMs: number
}

/** Runs prepared statements with string parameters, and never waits longer than the deadline. */
export interface StatementPool {
  query<Row>(statement: string, parameters: readonly (string | null)[]): Promise<readonly Row[]>
  readonly load: PoolLoad
  close(): Promise<void>
}

export interface PoolLoad {
  /** The pool's name in `pg_stat_activity`. */
  readonly name: string
  /** Number of statements running or waiting for a connection. */
  readonly statements: number
  readonly connectionsMax: number
}

/** Opens a pool that replaces its connections when the server has not responded by the deadline. */
export function openStatementPool(options: StatementPoolOptions): StatementPool {
  let sql = openDatabase(options)
  let running = 0
  function renew(late: Sql): void {
    if (sql !== late) return
    sql = openDatabase(options)
    late.end({ timeout: 0 }).catch(() => {})
  }
  return {
    query<Row>(statement: string, parameters: readonly (string | null)[]) {
      const used = sql
      running++
      return new Promise<readonly Row[]>((resolve, reject) => {
        const deadline = startDeadline(options.deadlineMs, {
          late() {
            running--
            reject(new StatementDeadlineError(`no answer from Postgres within ${options.deadlineMs} ms`))
            renew(used)
          },
        })
        const answered = (settle: () => void): void => {
          if (!deadline.end()) return
          running--
          settle()
        }
        used.unsafe(statement, [...parameters], { prepare: true }).then(
          rows => answered(() => resolve(rows as unknown as readonly Row[])),
          error => answered(() => reject(error)),
        )
      })
    },
    get load() {
      return { name: options.name, statements: running, connectionsMax: options.connectionsMax }
    },
    // If the server closed a connection during a statement, the connection never becomes idle: do not wait for it.
    close: () => sql.end({ timeout: running === 0 ? 0 : 1 }),
  }
}

/** Escapes text for `like … escape '\'`, so that every character matches itself. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
