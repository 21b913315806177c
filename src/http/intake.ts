/**
 * Limits how much of long request bodies is read in one turn of the event loop, across all connections: each read costs time
 * even if its bytes are discarded, and hundreds of sockets can be readable at once. Unread bytes wait in the kernel.
 */

import type { Readable } from 'node:stream'

/** Maximum number of reads in one turn, across all connections. Each returns at most 64 kB. */
const READS_PER_TURN = 64
/**
 * Maximum number of paused sources resumed in one turn. Each immediately emits a chunk that Node has already buffered, which
 * counts as a read. The turn's other reads are left for new data.
 */
const RESUMED_PER_TURN = 16

export class Intake {
  #reads = 0
  #scheduled = false
  /** Sources waiting to be resumed, first come, first served. */
  #paused: Readable[] = []

  /**
   * Call after each chunk of a body except the last. Once this turn's reads are used up, pauses the source until a later turn.
   */
  count(source: Readable): void {
    if (!this.#scheduled) {
      this.#scheduled = true
      setImmediate(this.#nextTurn)
    }
    this.#reads++
    if (this.#reads < READS_PER_TURN) return
    source.pause()
    this.#paused.push(source)
  }

  readonly #nextTurn = (): void => {
    this.#reads = 0
    this.#scheduled = this.#paused.length > 0
    if (!this.#scheduled) return
    setImmediate(this.#nextTurn)
    for (const source of this.#paused.splice(0, RESUMED_PER_TURN)) source.resume()
  }
}

/** Shared by all connections of this process. */
export const INTAKE = new Intake()
