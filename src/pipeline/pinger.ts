/** Sends pings to the clients of silent streams, with one timer for all streams. */

import { TransientSet } from '../lib/transient.ts'

/** A stream watched for silence. */
export interface Watch {
  readonly afterMs: number
  readonly ping: () => void
  quietSinceMs: number
  /** Whether anything was sent since the last check; the sender sets it. */
  touched: boolean
}

export interface PingerOptions {
  readonly nowMs: () => number
  /** Pause between two checks for silence, in ms. */
  readonly everyMs: number
}

export class Pinger {
  readonly #options: PingerOptions
  readonly #watches = new TransientSet<Watch>()
  #timer: NodeJS.Timeout | null = null

  constructor(options: PingerOptions) {
    this.#options = options
  }

  /** Calls `ping` whenever nothing has been sent for `afterMs`, to within one check interval, until `stop` is called. */
  watch(afterMs: number, ping: () => void): Watch {
    const watch = { afterMs, ping, quietSinceMs: this.#options.nowMs(), touched: false }
    this.#watches.add(watch)
    this.#timer ??= setInterval(() => this.#look(), this.#options.everyMs).unref()
    return watch
  }

  stop(watch: Watch): void {
    this.#watches.delete(watch)
    if (this.#watches.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  get watched(): number {
    return this.#watches.size
  }

  #look(): void {
    const now = this.#options.nowMs()
    for (const watch of this.#watches) {
      if (watch.touched) {
        watch.touched = false
        watch.quietSinceMs = now
      }
      if (now - watch.quietSinceMs < watch.afterMs) continue
      watch.quietSinceMs = now
      watch.ping()
    }
  }
}
