/** The ledger's options and limits, with the limits' production values. */

export interface LedgerOptions {
  readonly url: string
  /** Survives restarts. Unique among running processes, on all machines. */
  readonly instanceName: string
  /** Folder for the spool, on a disk that survives a restart of the process. */
  readonly spoolDir: string
  /** Digest of the catalogue that this process uses, to be recorded with its calls. If absent, nothing is recorded. */
  readonly catalogueDigest?: string
  /** Receives events for the operator. They never contain secrets, prompts or replies. */
  readonly report: (event: LedgerEvent) => void
  readonly limits?: Partial<LedgerLimits>
}

export const LEDGER_EVENTS = [
  'database_unavailable',
  'database_back',
  'settlement_refused',
  'spool_failed',
  'spool_set_aside',
  'spool_foreign',
  'spool_replayed',
  'holds_swept',
  'fenced',
  'background_failed',
] as const

export interface LedgerEvent {
  readonly level: 'info' | 'warn' | 'error'
  readonly code: (typeof LEDGER_EVENTS)[number]
  readonly message: string
  readonly cause?: unknown
}

export interface LedgerLimits {
  /** How long a call waits, in ms, for other calls to free money if the rest of the balance does not cover its hold. */
  readonly admissionWaitMs: number
  /** Maximum number of calls that wait for money in this process. */
  readonly waitersMax: number
  /** Interval at which waiting calls retry their holds, in ms with jitter. Settlements in this process also trigger a retry. */
  readonly admissionRetryMs: number
  /** How long placing a hold may take in total while Postgres is failing, in ms. */
  readonly holdRetryMs: number
  /** Maximum number of holds waiting for Postgres. */
  readonly holdsMax: number
  /** How long a caller waits for its settlement to reach Postgres, in ms. After that, the caller gets the outcome `spooled`. */
  readonly settleWaitMs: number
  /** Longest pause between attempts to settle while Postgres is failing, in ms. */
  readonly settleRetryMs: number
  /** Maximum number of pending settlements in memory. When it is reached, further settlements wait in the spool only. */
  readonly settlementsMax: number
  /** Number of Postgres connections for holds, and number of further connections for settlements. */
  readonly concurrency: number
  readonly batchMax: number
  /** Statement timeout set in Postgres, in ms; this process waits 1 s longer. */
  readonly statementTimeoutMs: number
  /** Longest wait for a new connection to Postgres, in ms; must be whole seconds. */
  readonly connectTimeoutMs: number
  readonly heartbeatMs: number
  readonly sweepMs: number
  /**
   * Age, in ms, at which this process releases its own holds that have no running call. Such holds are left if Postgres places
   * a hold after the call has given up waiting. Well above `statementTimeoutMs`, so that a hold being placed is never released.
   */
  readonly orphanMs: number
  /** Time without a heartbeat, in ms, after which another process counts as dead if its lock is free. */
  readonly lostAfterMs: number
  /** Grace period after Postgres starts, in ms, in which missing heartbeats do not count: each process must retake its lock. */
  readonly restartGraceMs: number
  /** Longest wait for settlements when closing, in ms; the rest stay in the spool. */
  readonly closeWaitMs: number
  /**
   * Longest wait for the spool's lock at start-up, in ms. If the previous process of this name has died, another process may be
   * settling that process's calls from the spool and hold the lock meanwhile.
   */
  readonly spoolLockMs: number
  readonly spoolSegmentBytes: number
  readonly spoolSegmentMs: number
  /** How long finished settlements stay in the spool, in ms, so that they can be sent again after a failover that lost them. */
  readonly spoolRetentionMs: number
  /** Size of the spool, in bytes, above which finished segments are deleted early. */
  readonly spoolBytesMax: number
  /**
   * Maximum size, in bytes, of the file to which damaged spool lines are copied for the operator. While it is full, spool files
   * with further damaged lines are not deleted.
   */
  readonly spoolSetAsideBytesMax: number
}

export const LEDGER_LIMITS: LedgerLimits = {
  admissionWaitMs: 15_000,
  waitersMax: 10_000,
  admissionRetryMs: 150,
  holdRetryMs: 5_000,
  holdsMax: 20_000,
  settleWaitMs: 250,
  settleRetryMs: 1_000,
  settlementsMax: 50_000,
  concurrency: 2,
  batchMax: 500,
  statementTimeoutMs: 4_000,
  connectTimeoutMs: 3_000,
  heartbeatMs: 1_000,
  sweepMs: 5_000,
  orphanMs: 15_000,
  lostAfterMs: 16 * 60_000,
  restartGraceMs: 60_000,
  closeWaitMs: 5_000,
  spoolLockMs: 2_000,
  spoolSegmentBytes: 8 * 2 ** 20,
  spoolSegmentMs: 60_000,
  spoolRetentionMs: 10 * 60_000,
  spoolBytesMax: 512 * 2 ** 20,
  spoolSetAsideBytesMax: 16 * 2 ** 20,
}
