/**
 * Tells waiting code that its result is no longer needed. A lightweight replacement for AbortSignal, because creating an event
 * target for every API call is expensive. Has only the members that we use, so an AbortSignal is also a Cancellation.
 */

type Listener = () => void

export interface Cancellation {
  readonly aborted: boolean
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', listener: Listener): void
  removeEventListener(type: 'abort', listener: Listener): void
}

export class Canceller implements Cancellation {
  /** Nearly always empty or a single listener. */
  #listeners: Listener[] = []
  aborted = false
  #reason: DOMException | undefined

  /** Created when first read: every stream ends with an abort, and its reason is rarely read. */
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

  /** Marks the work as cancelled and calls each listener once. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    const listeners = this.#listeners
    this.#listeners = []
    for (const listener of listeners) listener()
  }
}

/** Never cancels: for work that continues even if the client disconnects. */
export const NEVER_CANCELLED: Cancellation = {
  aborted: false,
  reason: undefined,
  throwIfAborted() {},
  addEventListener() {},
  removeEventListener() {},
}

/** An AbortSignal that follows the cancellation, for platform functions. */
export function signalOf(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation
  const controller = new AbortController()
  if (cancellation.aborted) controller.abort(cancellation.reason)
  else cancellation.addEventListener('abort', () => controller.abort(cancellation.reason))
  return controller.signal
}
