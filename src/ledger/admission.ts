/**
 * Decides which calls may start. A call is admitted if its hold fits into the wallet's free money, waits while other calls hold
 * that money, and is refused at once if the balance is 0. First come, first served per wallet.
 */

import assert from 'node:assert/strict'
import { GatewayError } from '../errors.ts'
import type { QueueLoad } from '../lib/batcher.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import { ZERO_MICRO_VND } from '../lib/money.ts'
import { checkHold, cleanName } from './check.ts'
import type { HoldResult, HoldRow } from './hold.ts'
import type { LedgerLimits } from './options.ts'
import type { Placing } from './placing.ts'
import type { WalletState } from './settle.ts'
import type { AdmissionOptions, HoldAnswer, HoldRequest } from './types.ts'

const KEYS_REMEMBERED_MAX = 100_000

interface Waiter {
  readonly row: HoldRow
  readonly settled: (answer: HoldAnswer) => void
  readonly failed: (error: unknown) => void
  /**
   * Ends the wait once Postgres has answered. Set if the wait times out, or the client leaves, while the hold is being placed.
   */
  endWait: (() => void) | null
  placing: boolean
}

interface WalletQueue {
  readonly accountId: number
  readonly waiters: Waiter[]
  busy: boolean
  /** How many waiters to try next, because money was freed during the current attempt. */
  woken: number
  timer: NodeJS.Timeout | undefined
}

export class Admission {
  readonly #placing: Placing
  readonly #limits: LedgerLimits
  readonly #queues = new Map<number, WalletQueue>()
  /** The account of each key, which never changes. Only used to find the right queue, never to decide about money. */
  readonly #accountOfKey = new Map<string, number>()
  #waiting = 0
  #closed = false

  constructor(placing: Placing, limits: LedgerLimits) {
    this.#placing = placing
    this.#limits = limits
  }

  /** Implements Ledger.admit. When it returns or throws, nothing is left in progress for the call, unless Postgres is down. */
  async admit(request: HoldRequest, { signal }: AdmissionOptions): Promise<HoldAnswer> {
    checkHold(request)
    signal.throwIfAborted()
    if (this.#closed) throw new GatewayError('draining')
    const row = toRow(request)
    const known = row.access?.accountId ?? this.#accountOfKey.get(row.keyHashHex)
    if (known !== undefined && this.#queues.has(known)) return this.#wait(known, row, signal)
    const result = await this.#placing.place(row, known ?? null, 'first')
    if (result?.active) this.#remember(row.keyHashHex, result.accountId)
    const answer = result === null ? null : answerOf(result)
    if (answer !== null) return answer
    signal.throwIfAborted()
    const accountId = result?.active ? result.accountId : known
    assert(accountId !== undefined, 'a call without an account cannot wait')
    return this.#wait(accountId, row, signal)
  }

  /** Whether calls of this account are waiting for money. */
  isQueued(accountId: number): boolean {
    return this.#queues.has(accountId)
  }

  /**
   * Tries again to admit calls that wait for money, after a settlement or credit in this process. `state` is the wallet's state
   * since then, or null if unknown. It only says how many calls to try: the wallet may have been topped up since, so each call
   * gets its own answer from Postgres.
   */
  wake(accountId: number, state: WalletState | null): void {
    const queue = this.#queues.get(accountId)
    if (queue === undefined) return
    if (state === null) this.#try(queue, 1)
    else if (state.balanceMicroVnd <= ZERO_MICRO_VND) this.#try(queue, queue.waiters.length)
    else this.#try(queue, fitting(queue, state.availableMicroVnd))
  }

  get waiting(): number {
    return this.#waiting
  }

  get queue(): QueueLoad {
    return { name: 'funds', items: this.#waiting, itemsMax: this.#limits.waitersMax }
  }

  close(): void {
    this.#closed = true
    for (const queue of this.#queues.values()) {
      clearTimeout(queue.timer)
      for (const waiter of [...queue.waiters]) waiter.failed(new GatewayError('draining'))
    }
  }

  #wait(accountId: number, row: HoldRow, signal: Cancellation): Promise<HoldAnswer> {
    if (this.#waiting >= this.#limits.waitersMax) return Promise.resolve({ outcome: 'waited' })
    const queue = this.#queue(accountId)
    return new Promise((resolve, reject) => {
      this.#waiting++
      const leave = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        const index = queue.waiters.indexOf(waiter)
        if (index < 0) return
        queue.waiters.splice(index, 1)
        this.#waiting--
        if (queue.waiters.length === 0) {
          clearTimeout(queue.timer)
          if (this.#queues.get(queue.accountId) === queue) this.#queues.delete(queue.accountId)
        }
      }
      const waiter: Waiter = {
        row,
        endWait: null,
        placing: false,
        settled: answer => {
          leave()
          resolve(answer)
        },
        failed: error => {
          leave()
          reject(error)
        },
      }
      const giveUp = (end: () => void): void => {
        if (waiter.placing) waiter.endWait = end
        else end()
      }
      const abort = (): void => giveUp(() => waiter.failed(signal.reason))
      const timer = setTimeout(() => giveUp(() => waiter.settled({ outcome: 'waited' })), this.#limits.admissionWaitMs)
      signal.addEventListener('abort', abort)
      queue.waiters.push(waiter)
      this.#schedule(queue)
    })
  }

  #schedule(queue: WalletQueue): void {
    if (queue.busy || queue.timer !== undefined || queue.waiters.length === 0) return
    const delay = this.#limits.admissionRetryMs * (0.5 + Math.random())
    queue.timer = setTimeout(() => this.#try(queue, 1), delay)
  }

  /** Tries the first `count` waiters in order. If all of them leave the queue, continues with twice as many. */
  #try(queue: WalletQueue, count: number): void {
    if (queue.busy) {
      queue.woken = Math.max(queue.woken, count)
      return
    }
    clearTimeout(queue.timer)
    queue.timer = undefined
    const tried = queue.waiters.slice(0, Math.min(count, this.#limits.batchMax))
    if (tried.length === 0) return
    queue.busy = true
    void Promise.all(tried.map(waiter => this.#placeWaiter(queue, waiter))).then(outcomes => {
      queue.busy = false
      const woken = queue.woken
      queue.woken = 0
      const next = outcomes.every(outcome => outcome === 'gone') ? Math.max(woken, tried.length * 2) : woken
      if (next > 0) this.#try(queue, next)
      else this.#schedule(queue)
    })
  }

  async #placeWaiter(queue: WalletQueue, waiter: Waiter): Promise<'gone' | 'stays'> {
    waiter.placing = true
    try {
      const result = await this.#placing.place(waiter.row, queue.accountId, 'queued')
      const answer = result === null ? null : answerOf(result)
      if (answer !== null) {
        waiter.settled(answer)
        return 'gone'
      }
    } catch (error) {
      waiter.failed(error)
      return 'stays'
    }
    waiter.placing = false
    waiter.endWait?.()
    return 'stays'
  }

  #queue(accountId: number): WalletQueue {
    let queue = this.#queues.get(accountId)
    if (queue === undefined) {
      queue = { accountId, waiters: [], busy: false, woken: 0, timer: undefined }
      this.#queues.set(accountId, queue)
    }
    return queue
  }

  #remember(keyHashHex: string, accountId: number): void {
    if (this.#accountOfKey.size >= KEYS_REMEMBERED_MAX) this.#accountOfKey.clear()
    this.#accountOfKey.set(keyHashHex, accountId)
  }
}

/** The answer for the caller, or null if the call must wait. */
function answerOf(result: HoldResult): HoldAnswer | null {
  if (!result.active) return { outcome: 'refused_key', state: result.state }
  const { accountId, keyId, heldMicroVnd, balanceMicroVnd, freeMicroVnd, refusal } = result
  if (heldMicroVnd !== null) {
    return { outcome: 'admitted', accountId, keyId, heldMicroVnd, freeMicroVnd: freeMicroVnd ?? heldMicroVnd }
  }
  if (refusal === 'model') return { outcome: 'refused_model' }
  assert(refusal !== 'limited', 'a call of a limited key was not placed within limits')
  if (refusal !== null) return { outcome: 'capped', ...refusal }
  return balanceMicroVnd === ZERO_MICRO_VND ? { outcome: 'empty' } : null
}

/**
 * How many waiters to try: as many as the free money covers, but at least one, because a hold may be reduced to what is left,
 * and the figure may be out of date.
 */
function fitting(queue: WalletQueue, availableMicroVnd: bigint): number {
  let left = availableMicroVnd
  let count = 0
  for (const waiter of queue.waiters) {
    left -= waiter.row.holdMinMicroVnd
    if (left < 0n) break
    count++
  }
  return Math.max(count, 1)
}

function toRow(request: HoldRequest): HoldRow {
  return {
    keyHashHex: Buffer.from(request.keyHash.buffer, request.keyHash.byteOffset, request.keyHash.length).toString('hex'),
    access: request.access ?? null,
    callId: request.callId,
    holdMinMicroVnd: request.holdMinMicroVnd,
    holdMaxMicroVnd: request.holdMaxMicroVnd ?? request.holdMinMicroVnd,
    entryId: request.entryId,
    requestedName: cleanName(request.requestedName),
    endpoint: request.endpoint,
    priceVnd: request.priceVnd,
    pricePer: request.pricePer,
    family: request.family,
    formerName: request.formerName ?? null,
  }
}
