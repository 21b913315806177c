/** Keeps silent streams alive with one timer for all of them. */

/** A watched stream. */
export interface Watch {
  readonly afterMs: number
  readonly ping: () => void
  quietSinceMs: number
  /** Whether something was sent since the last check; set by the sender. */
  touched: boolean
}

export interface PingerOptions {
  readonly nowMs: () => number
  /** How often streams are checked for silence, in ms. */
  readonly everyMs: number
}

export class Pinger {
  readonly #options: PingerOptions
  readonly #watches = new Set<Watch>()
  #timer: NodeJS.Timeout | null = null

  constructor(options: PingerOptions) {
    this.#options = options
  }

  /** Calls `ping` whenever nothing was sent for `afterMs` (within one check interval), until `stop`. */
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

  /** Number of open streams. */
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
