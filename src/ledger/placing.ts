/** Places holds in batches, and retries with the same call id while Postgres fails. */

import { GatewayError } from '../errors.ts'
import {
  type Again,
  type Batcher,
  backoffMs,
  createBatcher,
  NOTHING_AGAIN,
  type QueueLoad,
  queueLoad,
} from '../lib/batcher.ts'
import { classifyFault, type StatementPool } from '../lib/database.ts'
import { type Deadline, startDeadline } from '../lib/deadlines.ts'
import { type HoldResult, type HoldRow, placeHolds } from './hold.ts'
import { placeCoveredHolds } from './hold-covered.ts'
import { findLockedKeys, LockedWallets } from './locked.ts'
import type { LedgerMetrics } from './metrics.ts'
import type { LedgerEvent, LedgerLimits } from './options.ts'

const LIMITED_KEYS_MAX = 10_000

/** `first` is a new call, which may have to queue; `queued` is a call at the head of its queue. */
export type Origin = 'first' | 'queued'

interface GivenPlacement {
  readonly row: HoldRow
  /** Whether the key had its own limit when this process last saw it. */
  readonly limited: boolean
  /** The key's account; null if this process has not seen the key yet. */
  readonly accountId: number | null
  readonly origin: Origin
  readonly resolve: (result: HoldResult | null) => void
  readonly reject: (error: Error) => void
}

class Placement {
  readonly #given: GivenPlacement
  readonly #lastFault: () => unknown
  readonly #deadline: Deadline
  /** Whether the request has timed out. Its caller has got an error; the statement may still be running. */
  expired = false
  /** Whether the key has its own limit. */
  limited: boolean
  /**
   * Whether a statement for this request has failed. It may still be running, and place the hold while the next statement waits
   * for its locks. That one does not see the hold, only that it has used up the money.
   */
  inDoubt = false

  constructor(given: GivenPlacement, retryMs: number, lastFault: () => unknown) {
    this.#given = given
    this.limited = given.limited
    this.#lastFault = lastFault
    this.#deadline = startDeadline(retryMs, this)
  }

  get row(): HoldRow {
    return this.#given.row
  }

  get accountId(): number | null {
    return this.#given.accountId
  }

  get origin(): Origin {
    return this.#given.origin
  }

  resolve(result: HoldResult | null): void {
    this.#deadline.end()
    this.#given.resolve(result)
  }

  reject(error: Error): void {
    this.#deadline.end()
    this.#given.reject(error)
  }

  late(): void {
    this.expired = true
    this.#given.reject(unavailable(this.#lastFault()))
  }
}

export interface PlacingOptions {
  readonly pool: StatementPool
  readonly limits: LedgerLimits
  readonly report: (event: LedgerEvent) => void
  readonly instanceId: () => string
  /** Whether other calls of this account are waiting for money. A new call must not overtake them. */
  readonly isQueued: (accountId: number) => boolean
  readonly metrics: LedgerMetrics
}

export class Placing {
  readonly #options: PlacingOptions
  readonly #batcher: Batcher<Placement>
  /**
   * Hashes of keys that had their own limit when last seen: a guess at which statement a hold needs. A wrong one costs a second
   * statement.
   */
  readonly #limited = new Set<string>()
  readonly #locked: LockedWallets<Placement, string>
  #failures = 0
  #lastFault: unknown = 'Postgres did not respond in time'
  readonly #faultOf = (): unknown => this.#lastFault

  constructor(options: PlacingOptions) {
    this.#options = options
    this.#batcher = createBatcher<Placement>({
      concurrency: options.limits.concurrency,
      batchMax: options.limits.batchMax,
      queueOf: ({ accountId, row }) => accountId ?? Number.parseInt(row.keyHashHex.slice(0, 8), 16),
      run: batch => this.#run(batch),
    })
    this.#locked = new LockedWallets({
      ownerOf: ({ row }) => row.keyHashHex,
      find: keyHashes => findLockedKeys(options.pool, keyHashes),
    })
  }

  get queue(): QueueLoad {
    return queueLoad('holds', this.#batcher, this.#options.limits.holdsMax)
  }

  /**
   * Tries once to place the hold; resolves with null if the call has to queue first. The holds of one account are placed in one
   * batch after another, so that this process never waits for its own locks. Rejects with GatewayError `ledger_unavailable` if
   * Postgres does not respond in time; the hold may have been placed nevertheless.
   */
  place(row: HoldRow, accountId: number | null, origin: Origin): Promise<HoldResult | null> {
    if (this.#batcher.size >= this.#options.limits.holdsMax)
      return Promise.reject(unavailable('too many holds are waiting'))
    return new Promise((resolve, reject) => {
      const limited = this.#limited.has(row.keyHashHex)
      const given = { row, limited, accountId, origin, resolve, reject }
      this.#batcher.push(new Placement(given, this.#options.limits.holdRetryMs, this.#faultOf))
    })
  }

  async #run(taken: Placement[]): Promise<Again<Placement>> {
    const batch = taken.filter(placement => !placement.expired && !this.#queues(placement))
    if (batch.length === 0) return NOTHING_AGAIN
    try {
      return await this.#locked.send(batch, free => this.#place(free))
    } catch (error) {
      return this.#recover(batch, error)
    }
  }

  /** Sends what the short statement can decide, then the rest. */
  async #place(batch: Placement[]): Promise<Again<Placement>> {
    let rest = batch
    try {
      rest = await this.#placeCovered(batch)
      return rest.length === 0 ? NOTHING_AGAIN : await this.#placeRest(rest)
    } catch (error) {
      return this.#recover(rest, error)
    }
  }

  /**
   * Resolves the holds that HOLD_COVERED places; returns the other requests. Of each wallet, it asks for the calls before the first
   * one that only HOLD can decide, so that none overtakes that one.
   */
  async #placeCovered(batch: Placement[]): Promise<Placement[]> {
    const undecided = new Set<number | null>()
    const asked = batch.filter(({ row: { access }, accountId, inDoubt }) => {
      const wallet = access?.accountId ?? accountId
      if (access === null || inDoubt) undecided.add(wallet)
      return !undecided.has(wallet)
    })
    if (asked.length === 0) return batch
    const startedMs = performance.now()
    const rows = asked.map(placement => placement.row)
    const results = await placeCoveredHolds(this.#options.pool, rows, this.#options.instanceId())
    const placed = new Set(asked.filter((_, index) => results[index] !== null))
    // An answer that places nothing does not show that Postgres takes holds again.
    if (placed.size > 0) this.#answered(placed.size, startedMs)
    for (const [index, placement] of asked.entries()) if (placed.has(placement)) placement.resolve(results[index]!)
    return placed.size === batch.length ? [] : batch.filter(placement => !placed.has(placement))
  }

  async #placeRest(batch: Placement[]): Promise<Again<Placement>> {
    const startedMs = performance.now()
    const rows = batch.map(placement => placement.row)
    const withinLimits = batch.some(({ limited }) => limited)
    const results = await placeHolds(this.#options.pool, rows, this.#options.instanceId(), { withinLimits })
    this.#answered(batch.length, startedMs)
    const again: Placement[] = []
    for (const [index, placement] of batch.entries()) {
      const result = results[index]!
      if (result.active && result.refusal === 'limited') again.push(this.#asLimited(placement))
      else if (result.active && result.heldMicroVnd === null && placement.inDoubt) again.push(asCertain(placement))
      else placement.resolve(result)
    }
    return again.length === 0 ? NOTHING_AGAIN : { items: again, pauseMs: 0 }
  }

  #answered(calls: number, startedMs: number): void {
    this.#options.metrics.holdBatches.answered(calls, startedMs)
    if (this.#failures > 0) {
      this.#options.report({ level: 'info', code: 'database_back', message: 'Postgres is responding again' })
    }
    this.#failures = 0
  }

  #asLimited(placement: Placement): Placement {
    if (this.#limited.size >= LIMITED_KEYS_MAX) this.#limited.clear()
    this.#limited.add(placement.row.keyHashHex)
    placement.limited = true
    return placement
  }

  #queues(placement: Placement): boolean {
    const { origin, accountId } = placement
    if (origin === 'queued' || accountId === null || !this.#options.isQueued(accountId)) return false
    placement.resolve(null)
    return true
  }

  #recover(batch: Placement[], error: unknown): Again<Placement> {
    // The statement may have succeeded on a connection that then broke. In that case, the next attempt finds the hold.
    if (classifyFault(error) === 'bug') {
      this.#options.report({
        level: 'error',
        code: 'background_failed',
        message: 'Postgres rejected a hold',
        cause: error,
      })
      for (const placement of batch) placement.reject(new GatewayError('internal', { cause: error }))
      return NOTHING_AGAIN
    }
    this.#locked.failed(error)
    this.#failures++
    if (this.#failures === 1) {
      this.#options.report({
        level: 'warn',
        code: 'database_unavailable',
        message: 'Postgres is not responding; holds are waiting',
        cause: error,
      })
    }
    this.#lastFault = error
    for (const placement of batch) placement.inDoubt = true
    return { items: batch.filter(placement => !placement.expired), pauseMs: backoffMs(this.#failures, 250) }
  }
}

/** Lets a request ask once more: a hold that the failed statement has placed is seen by now. */
function asCertain(placement: Placement): Placement {
  placement.inDoubt = false
  return placement
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('ledger_unavailable', { cause, retryAfterSeconds: 2 })
}
