/** Every limit of the ledger in one place, with the values that a gateway runs with. */

export interface LedgerOptions {
  readonly url: string
  /** Stable and unique among the processes that run at the same time: host and worker number. */
  readonly instanceName: string
  /** Folder of the spool; needs a disk that outlives a restart of the process. */
  readonly spoolDir: string
  /** Digest of the catalogue that this process admits calls by; absent: rows do not say. */
  readonly catalogueDigest?: string
  /** What the operator should see; never holds a secret, a prompt or a reply. */
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
  /** Longest wait for money that other calls hold. */
  readonly admissionWaitMs: number
  /** Calls that wait for money at the same time in this process. */
  readonly waitersMax: number
  /** Pause between two tries of a waiting wallet when no local settlement wakes it; jittered. */
  readonly admissionRetryMs: number
  /** Time that a hold may take in all while Postgres fails. */
  readonly holdRetryMs: number
  /** Holds that wait for Postgres at the same time. */
  readonly holdsMax: number
  /** Time after which a settlement counts as spooled. */
  readonly settleWaitMs: number
  /** Longest pause between two tries of a settlement while Postgres fails. */
  readonly settleRetryMs: number
  /** Settlements kept in memory; beyond that only the spool has them until there is room. */
  readonly settlementsMax: number
  /** Statements under way at the same time, for holds and for settlements each. */
  readonly concurrency: number
  readonly batchMax: number
  /** Server's limit of one statement; the process waits 1 s longer. */
  readonly statementTimeoutMs: number
  readonly heartbeatMs: number
  readonly sweepMs: number
  /**
   * Age at which a hold of this process that no call owns is freed: one that was placed after its call had been told that
   * Postgres is away. Well above the time of a statement, so that a hold that is just being placed is never taken for one.
   */
  readonly orphanMs: number
  /** Silence after which another process counts as lost, if its lock is free. */
  readonly lostAfterMs: number
  /** After a start of Postgres everyone needs time to take the lock again before silence may count. */
  readonly restartGraceMs: number
  /** Longest wait for settlements at close; the spool keeps the rest. */
  readonly closeWaitMs: number
  /** Longest wait at a start for a sibling that settles what a dead process of this name left. */
  readonly spoolLockMs: number
  readonly spoolSegmentBytes: number
  readonly spoolSegmentMs: number
  /** Time that finished settlements stay in the spool, to be replayed after a failover that lost them. */
  readonly spoolRetentionMs: number
  /** Above this, finished segments go before their time. */
  readonly spoolBytesMax: number
  /** Size of the file with damaged lines; beyond it the files that have them stay instead. */
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
