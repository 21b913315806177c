/** Assigns tool call deltas to calls, even if upstreams omit, repeat or reuse indexes and ids. */

import type { CallSegment } from '../../conversation/sequencer.ts'
import { type JsonObject, numberOrNull, objectOrNull, textOrNull } from '../../lib/json.ts'

export class CallTracker {
  readonly #byIndex = new Map<number, CallSegment>()
  readonly #byId = new Map<string, CallSegment>()
  #last: CallSegment | undefined

  /** Returns the call that the delta continues; null if it starts a new one. */
  find(delta: JsonObject): CallSegment | null {
    const index = numberOrNull(delta.index)
    const id = textOrNull(delta.id)
    const name = textOrNull(objectOrNull(delta.function)?.name)
    const known = index === null ? this.#withoutIndex(id) : this.#byIndex.get(index)
    if (known === undefined) return null
    // A different id under the same index starts a new call.
    if (id !== null && known.id !== '' && known.id !== id) return null
    // Without ids, a call ends when its arguments are complete; a name after that starts the next call.
    const begins = id === null && name !== null && known.name !== ''
    if (begins && (name !== known.name || known.arguments.complete)) return null
    return known
  }

  add(delta: JsonObject, call: CallSegment): void {
    const index = numberOrNull(delta.index)
    if (index !== null) this.#byIndex.set(index, call)
    this.#last = call
  }

  /** Records a call's id. Call this as soon as the id is known. */
  identify(call: CallSegment): void {
    this.#byId.set(call.id, call)
  }

  #withoutIndex(id: string | null): CallSegment | undefined {
    return id === null ? this.#last : this.#byId.get(id)
  }
}
