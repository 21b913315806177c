/** Keeps silent streams alive: one timer for all of them, so that an open stream costs no timer of its own. */

interface Watch {
  readonly afterMs: number
  readonly ping: () => void
  quietSinceMs: number
}

export interface PingerOptions {
  readonly nowMs: () => number
  /** How often silent streams are looked for, in ms. */
  readonly everyMs: number
}

export class Pinger {
  readonly #options: PingerOptions
  readonly #watches = new Map<() => void, Watch>()
  #timer: NodeJS.Timeout | null = null

  constructor(options: PingerOptions) {
    this.#options = options
  }

  /** Calls `ping` whenever nothing was sent for `afterMs`; returns what ends the watch. */
  watch(afterMs: number, ping: () => void): () => void {
    const stop = () => {
      this.#watches.delete(stop)
      if (this.#watches.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
    }
    this.#watches.set(stop, { afterMs, ping, quietSinceMs: this.#options.nowMs() })
    this.#timer ??= setInterval(() => this.#look(), this.#options.everyMs).unref()
    return stop
  }

  /** Streams that are open. */
  get watched(): number {
    return this.#watches.size
  }

  /** Something was sent on the stream that `stop` belongs to. */
  touch(stop: () => void): void {
    const watch = this.#watches.get(stop)
    if (watch) watch.quietSinceMs = this.#options.nowMs()
  }

  #look(): void {
    const now = this.#options.nowMs()
    for (const watch of this.#watches.values()) {
      if (now - watch.quietSinceMs < watch.afterMs) continue
      watch.quietSinceMs = now
      watch.ping()
    }
  }
}
