/**
 * Writes log lines to standard error, several at a time. Lines that cannot be written wait, and no failure ends the process: pino's
 * own destination (10.4) raises one that nobody handles on a full disk, and never ends its last flush.
 */

import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

const STANDARD_ERROR = 2
/** Longest time a line waits for others, in ms. */
const FLUSH_MS = 100
/** Number of waiting characters that triggers a write. */
const GATHERED_CHARACTERS = 16_000
/** Number of characters that wait while nothing can be written, as on a full disk; further lines are dropped, and counted in the log. */
const WAITING_CHARACTERS_MAX = 1_000_000
/** Longest time that a process which exits waits for a reader of its log, in ms, and the pause between its tries. */
const EXIT_WAIT_MS = 1_000
const EXIT_PAUSE_MS = 10

/** Standard error of this process, as the destination of all its logs. */
export function standardError(): DestinationStream {
  shared ??= new StandardError()
  return shared
}

let shared: StandardError | null = null

class StandardError implements DestinationStream {
  #waiting = ''
  /** Lines dropped since the last ones were taken for writing. */
  #dropped = 0
  /** What is being written, or could not be written yet. */
  #rest: Buffer = Buffer.alloc(0)
  #writing = false
  #timer: NodeJS.Timeout | undefined

  constructor() {
    process.once('exit', () => this.flushSync())
  }

  write(line: string): void {
    if (this.#waiting.length + line.length > WAITING_CHARACTERS_MAX) {
      this.#dropped++
      return
    }
    this.#waiting += line
    if (this.#waiting.length >= GATHERED_CHARACTERS) this.#flush()
    else this.#flushLater()
  }

  /** Writes all lines before it returns, unless that fails; pino calls this after a fatal line. */
  flushSync(): void {
    // A write is under way in another thread, and how much it has written is not known.
    const begun = this.#writing ? 0 : this.#rest.length
    let bytes = Buffer.concat([this.#rest.subarray(0, begun), this.#takeWaiting()])
    if (begun > 0) this.#rest = Buffer.alloc(0)
    for (let waitedMs = 0; bytes.length > 0 && waitedMs <= EXIT_WAIT_MS; ) {
      try {
        bytes = bytes.subarray(writeSync(STANDARD_ERROR, bytes))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_PAUSE_MS)
        waitedMs += EXIT_PAUSE_MS
      }
    }
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#writing) return
    if (this.#rest.length === 0) this.#rest = this.#takeWaiting()
    if (this.#rest.length === 0) return
    this.#writing = true
    write(STANDARD_ERROR, this.#rest, (error, written) => {
      this.#writing = false
      this.#rest = this.#rest.subarray(error === null ? written : 0)
      if (error === null && this.#waiting.length >= GATHERED_CHARACTERS) this.#flush()
      else if (this.#rest.length + this.#waiting.length > 0) this.#flushLater()
    })
  }

  #takeWaiting(): Buffer {
    const lines = this.#waiting + (this.#dropped === 0 ? '' : droppedLine(this.#dropped))
    this.#waiting = ''
    this.#dropped = 0
    return Buffer.from(lines)
  }
}

function droppedLine(lines: number): string {
  return `${JSON.stringify({ level: 'error', time: new Date().toISOString(), lines, msg: 'log lines dropped: writing them took too long' })}\n`
}
