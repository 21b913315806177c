/**
 * Tells waiting code that the result is no longer needed. It has just the part of AbortSignal's interface that we use: an
 * AbortSignal may take its place, but calls do without the cost of an event target each.
 */

type Listener = () => void

export interface Cancellation {
  readonly aborted: boolean
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', listener: Listener): void
  removeEventListener(type: 'abort', listener: Listener): void
}

/** A cancellation with its trigger. */
export class Canceller implements Cancellation {
  /** Rarely more than one listener. */
  #listeners: Listener[] = []
  aborted = false
  #reason: DOMException | undefined

  /** Created when first read: every stream ends with an abort, and the reason is rarely looked at. */
  get reason(): unknown {
    if (!this.aborted) return undefined
    this.#reason ??= new DOMException('This operation was aborted', 'AbortError')
    return this.#reason
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }

  addEventListener(_type: 'abort', listener: Listener): void {
    if (!this.#listeners.includes(listener)) this.#listeners.push(listener)
  }

  removeEventListener(_type: 'abort', listener: Listener): void {
    const index = this.#listeners.indexOf(listener)
    if (index >= 0) this.#listeners.splice(index, 1)
  }

  /** Calls each listener once. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    const listeners = this.#listeners
    this.#listeners = []
    for (const listener of listeners) listener()
  }
}

/** For work that continues even if the client leaves. */
export const NEVER_CANCELLED: Cancellation = {
  aborted: false,
  reason: undefined,
  throwIfAborted() {},
  addEventListener() {},
  removeEventListener() {},
}

/** The same as an AbortSignal, for platform functions. */
export function signalOf(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation
  const controller = new AbortController()
  if (cancellation.aborted) controller.abort(cancellation.reason)
  else cancellation.addEventListener('abort', () => controller.abort(cancellation.reason))
  return controller.signal
}
