/** Keeps silent streams alive: one timer for all of them, so that an open stream costs no timer of its own. */

/** A stream under watch. */
export interface Watch {
  readonly afterMs: number
  readonly ping: () => void
  quietSinceMs: number
  /** Something was sent since the last look; set by whoever sends. */
  touched: boolean
}

export interface PingerOptions {
  readonly nowMs: () => number
  /** How often silent streams are looked for, in ms. */
  readonly everyMs: number
}

export class Pinger {
  readonly #options: PingerOptions
  readonly #watches = new Set<Watch>()
  #timer: NodeJS.Timeout | null = null

  constructor(options: PingerOptions) {
    this.#options = options
  }

  /** Calls `ping` whenever nothing was sent for `afterMs`, give or take a look, until `stop`. */
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

  /** Streams that are open. */
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
