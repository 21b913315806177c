/** Reserves memory for a long reply, or for long events of a stream, while they arrive. */

/** Memory for one long reply. */
export interface ReplyRoom {
  /**
   * Reserves memory for `bytes` in total. Returns null if it was reserved at once, otherwise a promise that resolves when it is,
   * and rejects with GatewayError if that takes too long.
   */
  grow(bytes: number): Promise<void> | null
  /** Call with the reply's size when it has been read: gives back what it did not need. */
  settle(bytes: number): void
}

/** Up to this size, in bytes, replies and events need no room. */
const FREE_BYTES = 256 * 1024

export interface ReservationEvents {
  /** There is no room: read nothing until one of the others is called. */
  readonly wait: () => void
  readonly granted: () => void
  readonly refused: (error: unknown) => void
}

export class Reservation {
  readonly #room: ReplyRoom | null
  readonly #events: ReservationEvents
  #bytes = FREE_BYTES
  #needed = 0
  isWaiting = false

  /** Without a room, everything is granted. */
  constructor(room: ReplyRoom | null, events: ReservationEvents) {
    this.#room = room
    this.#events = events
  }

  /** Call with the number of bytes in memory, and with the number that there will be, if known. */
  need(bytes: number, expected = 0): void {
    this.#needed = bytes
    if (bytes > this.#bytes && !this.isWaiting) this.#grow(expected)
  }

  settle(): void {
    if (this.#bytes > FREE_BYTES) this.#room?.settle(this.#needed)
  }

  /** Reserves as much as is expected, or else twice as much as before. */
  #grow(expected: number): void {
    this.#bytes = Math.max(this.#needed, expected || this.#bytes * 2)
    const waiting = this.#room?.grow(this.#bytes) ?? null
    if (waiting === null) return
    this.isWaiting = true
    this.#events.wait()
    waiting.then(() => {
      this.isWaiting = false
      if (this.#needed > this.#bytes) this.#grow(expected)
      if (!this.isWaiting) this.#events.granted()
    }, this.#events.refused)
  }
}
