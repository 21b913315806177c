/** Holds on their way to Postgres: batched, and retried with the same call id while Postgres fails. */

import { GatewayError } from '../errors.ts'
import { classifyFault, type StatementPool } from '../lib/database.ts'
import { type Again, backoffMs, createLanes, type Lanes, NOTHING_AGAIN } from '../lib/lanes.ts'
import { type HoldResult, type HoldRow, placeHolds } from './hold.ts'
import type { LedgerEvent, LedgerLimits } from './options.ts'

interface Placement {
  readonly row: HoldRow
  readonly lane: number
  readonly resolve: (result: HoldResult) => void
  readonly reject: (error: Error) => void
  /** Its time is over and its caller has been told; it may still be under way. */
  expired: boolean
}

export interface PlacingOptions {
  readonly pool: StatementPool
  readonly limits: LedgerLimits
  readonly report: (event: LedgerEvent) => void
  readonly instanceId: () => string
}

export class Placing {
  readonly #options: PlacingOptions
  readonly #lanes: Lanes<Placement>
  #failures = 0
  #lastFault: unknown = 'Postgres did not answer in time'

  constructor(options: PlacingOptions) {
    this.#options = options
    this.#lanes = createLanes<Placement>({
      lanes: options.limits.lanes,
      batchMax: options.limits.batchMax,
      laneOf: placement => placement.lane,
      run: batch => this.#run(batch),
    })
  }

  /**
   * One try for the money. `lane` is the account where it is known, so that this process never waits for itself.
   * Rejects with GatewayError ledger_unavailable when Postgres gave no answer in time; a hold may exist then.
   */
  place(row: HoldRow, lane: number): Promise<HoldResult> {
    if (this.#lanes.size >= this.#options.limits.holdsMax) return Promise.reject(unavailable('too many holds wait'))
    const { promise, resolve, reject } = Promise.withResolvers<HoldResult>()
    const placement: Placement = { row, lane, resolve, reject, expired: false }
    const timer = setTimeout(() => {
      placement.expired = true
      reject(unavailable(this.#lastFault))
    }, this.#options.limits.holdRetryMs)
    this.#lanes.push(placement)
    return promise.finally(() => clearTimeout(timer))
  }

  async #run(taken: Placement[]): Promise<Again<Placement>> {
    const batch = taken.filter(placement => !placement.expired)
    if (batch.length === 0) return NOTHING_AGAIN
    try {
      const rows = batch.map(placement => placement.row)
      const results = await placeHolds(this.#options.pool, rows, this.#options.instanceId())
      if (this.#failures > 0) {
        this.#options.report({ level: 'info', code: 'database_back', message: 'Postgres answers again' })
      }
      this.#failures = 0
      for (const [index, placement] of batch.entries()) placement.resolve(results[index]!)
      return NOTHING_AGAIN
    } catch (error) {
      return this.#recover(batch, error)
    }
  }

  #recover(batch: Placement[], error: unknown): Again<Placement> {
    // A twin of this very statement on a connection that broke may have placed the hold: the next try finds it.
    if (classifyFault(error) === 'bug') {
      this.#options.report({ level: 'error', code: 'background_failed', message: 'a hold was refused', cause: error })
      for (const placement of batch) placement.reject(new GatewayError('internal', { cause: error }))
      return NOTHING_AGAIN
    }
    this.#failures++
    if (this.#failures === 1) {
      this.#options.report({
        level: 'warn',
        code: 'database_unavailable',
        message: 'holds wait for Postgres',
        cause: error,
      })
    }
    this.#lastFault = error
    return { items: batch.filter(placement => !placement.expired), pauseMs: backoffMs(this.#failures, 250) }
  }
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('ledger_unavailable', { cause, retryAfterSeconds: 2 })
}
