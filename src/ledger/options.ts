/** Every limit of the ledger, with the values used in production. */

export interface LedgerOptions {
  readonly url: string
  /** Stable, and unique among running processes: made of the host and the worker's number. */
  readonly instanceName: string
  /** Folder for the spool, on a disk that survives a restart of the process. */
  readonly spoolDir: string
  /**
   * Digest of the catalogue by which this process admits calls. Without it, calls are stored without a reference to a catalogue.
   */
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
  /** Longest wait for money that other calls hold, in ms. */
  readonly admissionWaitMs: number
  /** Maximum number of calls of this process waiting for money. */
  readonly waitersMax: number
  /** Pause between attempts for a wallet's waiting calls when no settlement in this process wakes them, in ms; jittered. */
  readonly admissionRetryMs: number
  /** How long placing a hold may take in all while Postgres fails, in ms. */
  readonly holdRetryMs: number
  /** Maximum number of holds waiting for Postgres. */
  readonly holdsMax: number
  /** How long a caller waits for its settlement, in ms, before it is told that the settlement is only spooled so far. */
  readonly settleWaitMs: number
  /** Longest pause between attempts to settle while Postgres fails, in ms. */
  readonly settleRetryMs: number
  /** Maximum number of concurrent statements for holds. As many again may run for settlements. */
  readonly settlementsMax: number
  /** Maximum number of concurrent statements for holds, and as many for settlements. */
  readonly concurrency: number
  readonly batchMax: number
  /** Statement timeout set in Postgres, in ms; this process waits 1 s longer. */
  readonly statementTimeoutMs: number
  /** Longest wait for a new connection to Postgres, in ms; must be whole seconds. */
  readonly connectTimeoutMs: number
  readonly heartbeatMs: number
  readonly sweepMs: number
  /**
   * Age, in ms, at which this process frees a hold that belongs to none of its calls: one that Postgres placed only after the
   * call had failed. Well above the time of a statement, so that a hold being placed is never freed.
   */
  readonly orphanMs: number
  /** Time without a sign of life, in ms, after which another process counts as dead if its lock is free. */
  readonly lostAfterMs: number
  /** Time after a start of Postgres during which no process counts as dead, so that each can take its lock again, in ms. */
  readonly restartGraceMs: number
  /** Longest wait for settlements when closing, in ms; the rest stay in the spool. */
  readonly closeWaitMs: number
  /** Longest wait at start-up for another process that is settling for a dead process of this name, in ms. */
  readonly spoolLockMs: number
  readonly spoolSegmentBytes: number
  readonly spoolSegmentMs: number
  /** How long finished settlements stay in the spool, in ms, so that they can be sent again after a failover that lost them. */
  readonly spoolRetentionMs: number
  /** Size of the spool, in bytes, above which finished segments are deleted early. */
  readonly spoolBytesMax: number
  /**
   * Largest size, in bytes, of the file of lines set aside as damaged. When it is full, spool files with further damaged lines
   * are kept.
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
