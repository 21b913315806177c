/**
 * Finds runs of events that carry output and may pass through without being parsed. Consecutive events usually begin with the
 * same bytes, so that an event is only searched for its output if it begins differently from the last one.
 */

import { type ByteText, byteText, NO_BYTES, toBuffer } from '../lib/byte-text.ts'
import { endOfDigits, numberOf } from './event-template.ts'

const LINE_FEED = 10

export interface DeltaSkimmerOptions {
  /** The JSON keys whose string values are output. */
  readonly markers: readonly ByteText[]
  /** Returns the offset of the data if an event that carries output begins at `at`, otherwise 0. */
  readonly dataAt: (all: ByteText, at: number) => number
}

/** How the last event that was searched begins, up to its output. */
interface Head {
  /** What comes before its sequence number, or all of it if it has none; empty if the event had no output. */
  readonly before: ByteText
  readonly after: ByteText | null
}

const NO_HEAD: Head = { before: NO_BYTES, after: null }

export class DeltaSkimmer {
  readonly #options: DeltaSkimmerOptions
  #head = NO_HEAD
  /** Offset after the last event of the latest run, and where that event begins. */
  end = 0
  last = 0
  /** Bytes that may be output in the latest run. */
  outputBytes = 0

  constructor(options: DeltaSkimmerOptions) {
    this.#options = options
  }

  /**
   * Finds the run of such events that begins at `at`. Each has exactly two lines, and together they have at most
   * `outputBytesMax` bytes that may be output.
   */
  run(all: ByteText, at: number, outputBytesMax: number): void {
    this.end = at
    this.last = at
    this.outputBytes = 0
    for (;;) {
      const from = this.end
      const known = this.#matchHead(all, from)
      const data = known > 0 ? known : this.#options.dataAt(all, from)
      if (data === 0) return
      const lineEnd = all.indexOf('\n', data)
      if (lineEnd < 0 || all.charCodeAt(lineEnd + 1) !== LINE_FEED) return
      const outputAt = known > 0 ? known : from + this.#learnHead(all.slice(from, lineEnd))
      const outputBytes = this.outputBytes + lineEnd - outputAt
      if (outputBytes > outputBytesMax) return
      this.outputBytes = outputBytes
      this.last = from
      this.end = lineEnd + 2
    }
  }

  /** Returns where the output begins in the event at `at`; 0 if the event begins differently from the last one. */
  #matchHead(all: ByteText, at: number): number {
    const { before, after } = this.#head
    let end = at + before.length
    // Comparing slices is faster than `startsWith`.
    if (before.length === 0 || all.slice(at, end) !== before) return 0
    if (after === null) return end
    const afterNumber = endOfDigits(all, end)
    if (afterNumber < 0) return 0
    end = afterNumber + after.length
    return all.slice(afterNumber, end) === after ? end : 0
  }

  /** Returns where the output may begin in an event: behind the first marker, or at its end if it has none. */
  #learnHead(event: ByteText): number {
    let end = event.length
    for (const marker of this.#options.markers) {
      const found = event.indexOf(marker)
      if (found >= 0) end = Math.min(end, found + marker.length)
    }
    // Copied, because a slice would keep the whole chunk in memory.
    const head = byteText(toBuffer(event.slice(0, end)))
    const number = numberOf(head)
    if (end === event.length) this.#head = NO_HEAD
    else if (number === null) this.#head = { before: head, after: null }
    else this.#head = { before: head.slice(0, number.start), after: head.slice(number.end) }
    return end
  }
}
