/** Every limit of the ledger in one place, with the values that a gateway runs with. */

export interface LedgerOptions {
  readonly url: string
  /** Stable, and unique among running processes: host and worker number. */
  readonly instanceName: string
  /** The spool's folder, on a disk that survives a restart of the process. */
  readonly spoolDir: string
  /** Digest of the catalogue by which this process admits calls; absent: not recorded. */
  readonly catalogueDigest?: string
  /** Events for the operator; never contain secrets, prompts or replies. */
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
  /** Longest wait for money that other calls hold, in ms. */
  readonly admissionWaitMs: number
  /** Most calls of this process waiting for money. */
  readonly waitersMax: number
  /** Pause between attempts for a wallet's waiting calls when no settlement in this process wakes them, in ms; jittered. */
  readonly admissionRetryMs: number
  /** Total time for placing a hold while Postgres fails, in ms. */
  readonly holdRetryMs: number
  /** Most holds waiting for Postgres. */
  readonly holdsMax: number
  /** Time after which a caller is told that its settlement is spooled, in ms. */
  readonly settleWaitMs: number
  /** Longest pause between attempts to settle while Postgres fails, in ms. */
  readonly settleRetryMs: number
  /** Most settlements in memory; the rest stay in the spool until there is room. */
  readonly settlementsMax: number
  /** Most concurrent statements, for holds and for settlements each. */
  readonly concurrency: number
  readonly batchMax: number
  /** The server's statement timeout, in ms; the process waits 1 s longer. */
  readonly statementTimeoutMs: number
  /** Longest wait for a new connection to Postgres, in ms; whole seconds. */
  readonly connectTimeoutMs: number
  readonly heartbeatMs: number
  readonly sweepMs: number
  /**
   * Age, in ms, at which an unowned hold of this process is freed: one that was placed although its call had already failed,
   * because Postgres had been away. Well above a statement's time, so that a hold just being placed is never freed.
   */
  readonly orphanMs: number
  /** Silence, in ms, after which another process counts as dead if its lock is free. */
  readonly lostAfterMs: number
  /** After Postgres starts, every process gets this long to take its lock again before silence counts, in ms. */
  readonly restartGraceMs: number
  /** Longest wait for settlements when closing, in ms; the spool keeps the rest. */
  readonly closeWaitMs: number
  /** Longest wait at start-up for a sibling that is settling for a dead process of this name, in ms. */
  readonly spoolLockMs: number
  readonly spoolSegmentBytes: number
  readonly spoolSegmentMs: number
  /** How long finished settlements stay in the spool, in ms, to be replayed after a failover that lost them. */
  readonly spoolRetentionMs: number
  /** Above this size, finished segments are deleted early, in bytes. */
  readonly spoolBytesMax: number
  /** Largest file of damaged lines, in bytes; beyond it, the files that contain them are kept instead. */
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
