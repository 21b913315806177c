/**
 * Limits the memory for long replies: those that are read whole before they are sent, and long events of streams. A permit counts
 * a reply's bytes from when they are read until its client has them. A reply that does not fit waits: its provider is paused.
 *
 * A provider has made and billed a reply by then, so one that waits is not refused while clients who do not read theirs use up the
 * room: they are disconnected.
 */

import type { ServerResponse } from 'node:http'
import { TransientSet } from '../lib/transient.ts'
import type { ReplyRoom } from '../upstream/reply-room.ts'
import { type BodyPermit, BodyPermits } from './body-permits.ts'

export interface ReplyPermitLimits {
  /** Largest whole reply of an upstream, in bytes. */
  readonly replyBytesMax: number
  /** Limit for the bytes of all long replies in this process together. */
  readonly repliesBytesMax: number
  readonly bodiesWaitingMax: number
  /** How long a client may take to read a finished reply while others wait for room, in ms. */
  readonly unreadMs: number
}

/** The share of `repliesBytesMax` that one account may use. */
const SHARE_OF_ACCOUNT = 1 / 2
/** How long a reply waits for room, in ms. Providers that are paused for longer tend to close the connection. */
const WAIT_MS = 60_000

export class ReplyPermits {
  readonly permits: BodyPermits
  readonly #unreadMs: number
  /** Replies that are being sent, oldest first. */
  readonly #sending = new TransientSet<ReplyPermit>()
  #watch: NodeJS.Timeout | undefined

  constructor({ replyBytesMax, repliesBytesMax, bodiesWaitingMax, unreadMs }: ReplyPermitLimits) {
    this.#unreadMs = unreadMs
    this.permits = new BodyPermits(
      {
        bodyBytesMax: replyBytesMax,
        bodiesBytesMax: repliesBytesMax,
        keyBodiesBytesMax: repliesBytesMax * SHARE_OF_ACCOUNT,
        bodiesWaitingMax,
        bodyWaitMs: WAIT_MS,
      },
      'long replies',
    )
  }

  open(accountId: number): ReplyPermit {
    return new ReplyPermit(this, this.permits.open(accountId))
  }

  /** @internal Call when a reply has to wait. */
  watch(): void {
    this.#watch ??= setInterval(() => this.#disconnectLate(), this.#unreadMs / 8).unref()
  }

  /** @internal */
  sending(permit: ReplyPermit): void {
    this.#sending.add(permit)
  }

  /** @internal */
  sent(permit: ReplyPermit): void {
    this.#sending.delete(permit)
  }

  /** Disconnects the client that has been reading for longest, if it is late, for each holder who is in the way of others. */
  #disconnectLate(): void {
    if (this.permits.waiting === 0) {
      clearInterval(this.#watch)
      this.#watch = undefined
      return
    }
    const sending = [...this.#sending]
    const dueMs = performance.now() - this.#unreadMs
    for (const holder of this.permits.inTheWay) {
      const late = sending.find(each => each.sinceMs < dueMs && (holder === null || each.holder === holder))
      late?.disconnect()
    }
  }
}

export class ReplyPermit implements ReplyRoom {
  readonly #all: ReplyPermits
  readonly #permit: BodyPermit
  #response: ServerResponse | null = null
  /** When its client began to have all of it, as a value of `performance.now()`. */
  sinceMs = 0

  constructor(all: ReplyPermits, permit: BodyPermit) {
    this.#all = all
    this.#permit = permit
  }

  get holder() {
    return this.#permit.holder
  }

  grow(bytes: number): Promise<void> | null {
    this.#permit.growing = true
    const waiting = this.#permit.growTo(bytes)
    if (waiting !== null) this.#all.watch()
    return waiting
  }

  settle(bytes: number): void {
    this.#permit.settle(bytes)
  }

  /** Call when the call has ended: releases the permit once the client has the reply, or has left. */
  replied(response: ServerResponse): void {
    if (response.closed) {
      this.#permit.release()
      return
    }
    this.#response = response
    this.sinceMs = performance.now()
    this.#all.sending(this)
    response.once('close', () => {
      this.#all.sent(this)
      this.#permit.release()
    })
  }

  disconnect(): void {
    this.#response?.destroy()
  }
}
