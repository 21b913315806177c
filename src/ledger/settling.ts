/** Settles calls: spools each settlement, sends them in batches, retries until they are durable, and answers each caller once. */

import { setTimeout as sleep } from 'node:timers/promises'
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
import type { MicroVnd } from '../lib/money.ts'
import { TransientMap } from '../lib/transient.ts'
import { checkSettlement, cleanName } from './check.ts'
import { findLockedAccounts, LockedWallets } from './locked.ts'
import type { LedgerMetrics } from './metrics.ts'
import type { LedgerEvent, LedgerLimits } from './options.ts'
import { Patience, Pending, SPOOLED } from './pending.ts'
import {
  lookUpCalls,
  releaseHolds,
  type SettledBatch,
  type SettledCall,
  settleCalls,
  type WalletState,
} from './settle.ts'
import { type HeldSettlement, settleCoveredCalls } from './settle-covered.ts'
import type { Spool } from './spool.ts'
import type { SettleAnswer, Settlement } from './types.ts'

/** Logged as the reason when Postgres leaves out a settlement. */
const DISAGREES = "the wallet does not exist, or the call's record names another account, key, price or time"

export interface SettlingOptions {
  readonly pool: StatementPool
  readonly spool: Spool
  readonly limits: LedgerLimits
  readonly report: (event: LedgerEvent) => void
  /** Called after each batch, so that calls waiting for money in these wallets can continue. */
  readonly onWallets: (wallets: ReadonlyMap<number, WalletState>) => void
  readonly onSettled: (callId: string) => void
  /** The amount of the call's hold, if this process placed it; null if unknown. */
  readonly heldOf: (callId: string) => MicroVnd | null
  readonly metrics: LedgerMetrics
}

export class Settling {
  readonly #options: SettlingOptions
  readonly #pending = new TransientMap<string, Pending>()
  readonly #batcher: Batcher<Pending>
  readonly #locked: LockedWallets<Pending, number>
  /** Calls whose row Postgres has rejected. At most `settlementsMax`. */
  readonly #rejected = new Set<string>()
  #failures = 0
  #spooledOnly = 0
  #stopped = false

  constructor(options: SettlingOptions) {
    this.#options = options
    this.#batcher = createBatcher<Pending>({
      concurrency: options.limits.concurrency,
      batchMax: options.limits.batchMax,
      queueOf: pending => pending.settlement.accountId,
      run: batch => this.#run(batch),
    })
    this.#locked = new LockedWallets({
      ownerOf: ({ settlement }) => settlement.accountId,
      find: accountIds => findLockedAccounts(options.pool, accountIds),
    })
  }

  /** Resolves when the settlement is durable, or after `settleWaitMs`. Throws AssertionError for an invalid settlement. */
  async settle(given: Settlement): Promise<SettleAnswer> {
    checkSettlement(given)
    const pending = this.#take({ ...given, requestedName: cleanName(given.requestedName) })
    if (pending === null) return SPOOLED
    return new Promise(resolve => {
      pending.whenAnswered(new Patience(resolve, this.#options.limits.settleWaitMs).answered)
    })
  }

  /** Settles calls left over by an earlier process, however long that takes. Resolves when all are durable. */
  async replay(settlements: Iterable<Settlement>): Promise<void> {
    const answers: Promise<SettleAnswer>[] = []
    for (const settlement of settlements) {
      const pending = this.#take(settlement)
      if (pending !== null) answers.push(answerOf(pending))
    }
    await Promise.all(answers)
    await this.#takeBack()
  }

  /**
   * Frees the holds of calls that nobody will settle, given settlements that charge nothing. A call whose row Postgres has
   * rejected gets no row for it: its settlement stays in the spool, and is sent again at the next start.
   */
  async free(settlements: readonly Settlement[]): Promise<void> {
    const rejected = settlements.filter(({ callId }) => this.#rejected.has(callId))
    if (rejected.length > 0) await releaseHolds(this.#options.pool, rejected)
    await this.replay(settlements.filter(({ callId }) => !this.#rejected.has(callId)))
  }

  /** Replays settlements from a spool and counts them. */
  async resend(settlements: readonly Settlement[]): Promise<void> {
    await this.replay(settlements)
    this.#options.metrics.settlementsReplayed += settlements.length
  }

  /** Writes to the spool what could not be written before, or was in a file that has been removed. */
  respool(): void {
    for (const { settlement } of this.#pending.values()) this.#options.spool.append(settlement)
  }

  get size(): number {
    return this.#pending.size + this.#spooledOnly
  }

  get queue(): QueueLoad {
    return queueLoad('settlements', this.#batcher, this.#options.limits.settlementsMax)
  }

  /** Waits for pending settlements, at most `timeoutMs`; the rest stay in the spool. */
  async stop(timeoutMs: number): Promise<void> {
    await Promise.race([this.#batcher.drained(), sleep(timeoutMs, undefined, { ref: false })])
    this.#stopped = true
    for (const pending of this.#pending.values()) pending.resolve(SPOOLED)
  }

  /** Takes a settlement into memory. Null if memory is full: until there is room, only the spool has it. */
  #take(settlement: Settlement): Pending | null {
    const twin = this.#pending.get(settlement.callId)
    if (twin !== undefined) return twin
    this.#options.spool.append(settlement)
    if (this.#pending.size >= this.#options.limits.settlementsMax) {
      this.#spooledOnly++
      return null
    }
    const pending = new Pending(settlement)
    this.#pending.set(settlement.callId, pending)
    this.#batcher.push(pending)
    return pending
  }

  async #run(batch: Pending[]): Promise<Again<Pending>> {
    if (this.#stopped) {
      // The ledger is closing and sends no more settlements; these stay in the spool. Answer at once, because the periodic
      // clean-up of holds (`sweep` in ledger.ts) may be waiting for them.
      for (const pending of batch) pending.resolve(SPOOLED)
      return NOTHING_AGAIN
    }
    this.#options.spool.flush()
    try {
      return await this.#locked.send(batch, free => this.#send(free))
    } catch (error) {
      return this.#pause(batch, error)
    }
  }

  /** Sends what the short statement can settle, then the rest. */
  async #send(batch: Pending[]): Promise<Again<Pending>> {
    let rest = batch
    try {
      rest = await this.#sendCovered(batch)
      if (rest.length > 0) {
        const startedMs = performance.now()
        const settled = await settleCalls(
          this.#options.pool,
          rest.map(pending => pending.settlement),
        )
        this.#answered(rest, settled, startedMs)
      }
      if (this.#spooledOnly > 0 && this.#pending.size === 0) void this.#takeBack()
      return NOTHING_AGAIN
    } catch (error) {
      return await this.#recover(rest, error)
    }
  }

  /** Finishes the calls that SETTLE_COVERED settles; returns the others. Only SETTLE decides which calls Postgres rejects. */
  async #sendCovered(batch: Pending[]): Promise<Pending[]> {
    const asked: Pending[] = []
    const calls: HeldSettlement[] = []
    for (const pending of batch) {
      const { settlement } = pending
      const heldMicroVnd = this.#options.heldOf(settlement.callId)
      if (heldMicroVnd === null) continue
      asked.push(pending)
      calls.push({ settlement, heldMicroVnd })
    }
    if (asked.length === 0) return batch
    const startedMs = performance.now()
    let settled: SettledBatch
    try {
      settled = await settleCoveredCalls(this.#options.pool, calls)
    } catch (error) {
      if (classifyFault(error) === 'retry') throw error
      return batch
    }
    const done = new Set(asked.filter((_, index) => settled.calls[index] !== null))
    if (done.size === 0) return batch
    const found = settled.calls.filter(call => call !== null)
    this.#answered([...done], { calls: found, wallets: settled.wallets }, startedMs)
    return batch.filter(pending => !done.has(pending))
  }

  #answered(batch: readonly Pending[], { calls, wallets }: SettledBatch, startedMs: number): void {
    this.#options.metrics.settleBatches.answered(batch.length, startedMs)
    this.#failures = 0
    for (const [index, pending] of batch.entries()) {
      const call = calls[index] ?? null
      this.#finish(pending, call, call === null ? DISAGREES : undefined)
      const { entryId, costMicroVnd: cost } = pending.settlement
      if (call !== null) this.#options.metrics.charged(entryId, { cost, charged: call.chargedMicroVnd })
    }
    this.#options.onWallets(wallets)
  }

  /** Handles a failed batch. Must not reject: if handling it fails too, the batch is retried. */
  async #recover(batch: Pending[], error: unknown): Promise<Again<Pending>> {
    const kind = classifyFault(error)
    try {
      if (kind === 'conflict') return { items: await this.#withoutRecorded(batch, error), pauseMs: 0 }
      if (kind === 'bug') return { items: await this.#alone(batch, error), pauseMs: 0 }
    } catch (later) {
      return this.#pause(batch, later)
    }
    return this.#pause(batch, error)
  }

  #pause(batch: Pending[], cause: unknown): Again<Pending> {
    this.#locked.failed(cause)
    this.#failures++
    if (this.#failures === 1) {
      this.#options.report({
        level: 'warn',
        code: 'database_unavailable',
        message: 'Postgres is not responding; settlements are waiting',
        cause,
      })
    }
    return { items: batch, pauseMs: backoffMs(this.#failures, this.#options.limits.settleRetryMs) }
  }

  /** Called when some calls of the batch were settled before: answers those from their usage rows and returns the rest. */
  async #withoutRecorded(batch: Pending[], error: unknown): Promise<Pending[]> {
    const settlements = batch.map(pending => pending.settlement)
    const recorded = await lookUpCalls(this.#options.pool, settlements)
    if (recorded.size === 0) return await this.#alone(batch, error)
    const found = batch.filter(pending => recorded.has(pending.settlement.callId))
    await releaseHolds(
      this.#options.pool,
      found.map(pending => pending.settlement),
    )
    for (const pending of found) this.#finish(pending, recorded.get(pending.settlement.callId)!)
    return batch.filter(pending => !recorded.has(pending.settlement.callId))
  }

  /** A row that Postgres rejects fails its whole batch, so each row is tried alone; the bad one is set aside and logged. */
  async #alone(batch: Pending[], error: unknown): Promise<Pending[]> {
    if (batch.length === 1) {
      this.#finish(batch[0]!, null, error)
      return []
    }
    const half = Math.ceil(batch.length / 2)
    const again: Pending[] = []
    for (const part of [batch.slice(0, half), batch.slice(half)]) {
      const { items, pauseMs } = await this.#run(part)
      again.push(...items)
      if (pauseMs > 0) await sleep(pauseMs)
    }
    return again
  }

  /**
   * Ends a settlement. `call` is null if Postgres has rejected the settlement, which then stays in the spool. The ledger no
   * longer counts its call as open, so the periodic clean-up (`sweep` in ledger.ts) frees the hold. If the settlement disagrees
   * with the hold, that also writes the call's row, so that the settlement can never charge anybody.
   */
  #finish(pending: Pending, call: SettledCall | null, cause?: unknown): void {
    const { callId, accountId } = pending.settlement
    this.#pending.delete(callId)
    this.#options.onSettled(callId)
    if (call === null) {
      if (cause !== DISAGREES && this.#rejected.size < this.#options.limits.settlementsMax) this.#rejected.add(callId)
      const message = `Postgres rejected settlement ${callId} of account ${accountId}; it stays in the spool`
      this.#options.report({ level: 'error', code: 'settlement_refused', message, cause })
      pending.resolve(SPOOLED)
      return
    }
    this.#options.spool.done(callId)
    pending.resolve({ outcome: 'settled', ...call })
  }

  /** Loads settlements from the spool once there is room in memory again. */
  async #takeBack(): Promise<void> {
    while (this.#spooledOnly > 0) {
      this.#spooledOnly = 0
      const answers: Promise<SettleAnswer>[] = []
      for (const settlement of this.#options.spool.owed()) {
        const pending = this.#take(settlement)
        if (pending !== null) answers.push(answerOf(pending))
      }
      await Promise.all(answers)
    }
  }
}

function answerOf(pending: Pending): Promise<SettleAnswer> {
  return new Promise(resolve => pending.whenAnswered(resolve))
}
