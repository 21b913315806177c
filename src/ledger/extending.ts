/** Extends the holds of running calls, in batches, and retries while Postgres is not responding. */

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
import type { Cancellation } from '../lib/cancellation.ts'
import { classifyFault, type StatementPool } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { AMOUNT_MICRO_VND_MAX } from './check.ts'
import { type ExtendResult, extendHolds } from './extend.ts'
import { findLockedAccounts, LockedWallets } from './locked.ts'
import type { LedgerMetrics } from './metrics.ts'
import type { LedgerEvent, LedgerLimits } from './options.ts'
import type { ExtendAnswer, ExtendRequest } from './types.ts'

interface Extension {
  readonly request: ExtendRequest
  readonly signal: Cancellation
  readonly resolve: (answer: ExtendAnswer | null) => void
  readonly reject: (error: Error) => void
}

export interface ExtendingOptions {
  readonly pool: StatementPool
  readonly limits: LedgerLimits
  readonly report: (event: LedgerEvent) => void
  readonly metrics: LedgerMetrics
}

export class Extending {
  readonly #options: ExtendingOptions
  readonly #batcher: Batcher<Extension>
  readonly #locked: LockedWallets<Extension, number>
  #failures = 0
  #stopped = false

  constructor(options: ExtendingOptions) {
    this.#options = options
    this.#batcher = createBatcher<Extension>({
      concurrency: options.limits.concurrency,
      batchMax: options.limits.batchMax,
      queueOf: ({ request }) => request.accountId,
      run: batch => this.#run(batch),
    })
    this.#locked = new LockedWallets({
      ownerOf: ({ request }) => request.accountId,
      find: accountIds => findLockedAccounts(options.pool, accountIds),
    })
  }

  /** Implements Ledger.extend. The queue is bounded: a running call has at most one request in it. */
  extend(request: ExtendRequest, { signal }: { readonly signal: Cancellation }): Promise<ExtendAnswer | null> {
    const wantMicroVnd =
      request.wantMicroVnd > AMOUNT_MICRO_VND_MAX ? microVnd(AMOUNT_MICRO_VND_MAX) : request.wantMicroVnd
    return new Promise((resolve, reject) => {
      this.#batcher.push({ request: { ...request, wantMicroVnd }, signal, resolve, reject })
    })
  }

  get queue(): QueueLoad {
    return queueLoad('extensions', this.#batcher, null)
  }

  /** Answers all waiting requests with null. */
  stop(): void {
    this.#stopped = true
  }

  async #run(taken: Extension[]): Promise<Again<Extension>> {
    const isOver = (extension: Extension): boolean => this.#stopped || extension.signal.aborted
    const batch = taken.filter(extension => !isOver(extension))
    for (const extension of taken) if (isOver(extension)) extension.resolve(null)
    if (batch.length === 0) return NOTHING_AGAIN
    try {
      return await this.#locked.send(batch, free => this.#extend(free))
    } catch (error) {
      return this.#recover(batch, error)
    }
  }

  async #extend(batch: Extension[]): Promise<Again<Extension>> {
    const startedMs = performance.now()
    try {
      const requests = batch.map(extension => extension.request)
      const results = await extendHolds(this.#options.pool, requests)
      this.#options.metrics.extendBatches.answered(batch.length, startedMs)
      this.#failures = 0
      batch.forEach((extension, index) => void extension.resolve(this.#answer(extension.request, results[index]!)))
      return NOTHING_AGAIN
    } catch (error) {
      return this.#recover(batch, error)
    }
  }

  /**
   * Returns the answer for a call. A hold that no longer exists, for example because Postgres crashed, is not placed again; the
   * call may then spend up to the total that it requested, as far as the wallet's free money covers it.
   */
  #answer({ wantMicroVnd }: ExtendRequest, { heldMicroVnd, freeMicroVnd }: ExtendResult): ExtendAnswer {
    const { extensions } = this.#options.metrics
    if (heldMicroVnd === null) {
      extensions.lost++
      return { heldMicroVnd: least(wantMicroVnd, freeMicroVnd ?? 0n) }
    }
    extensions[heldMicroVnd >= wantMicroVnd ? 'granted' : 'cut']++
    return { heldMicroVnd }
  }

  #recover(batch: Extension[], error: unknown): Again<Extension> {
    if (classifyFault(error) === 'bug') {
      const message = 'Postgres rejected a request to extend holds'
      this.#options.report({ level: 'error', code: 'background_failed', message, cause: error })
      for (const extension of batch) extension.reject(new GatewayError('internal', { cause: error }))
      return NOTHING_AGAIN
    }
    this.#locked.failed(error)
    this.#failures++
    if (this.#failures === 1) {
      const message = 'Postgres is not responding; running streams are waiting to extend their holds'
      this.#options.report({ level: 'warn', code: 'database_unavailable', message, cause: error })
    }
    return { items: batch, pauseMs: backoffMs(this.#failures, 250) }
  }
}

function least(wanted: bigint, free: bigint): MicroVnd {
  if (free <= 0n) return microVnd(0n)
  return microVnd(wanted < free ? wanted : free)
}
