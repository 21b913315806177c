/**
 * Puts right the tool calls of a chat stream that lack the `index` by which clients put their pieces together. Gemini's chat layer
 * streams them so, and ends with `stop` instead of `tool_calls`, at which agents end their loop (python-genai#2868, OpenMAIC#1556,
 * opencode#17902; read 2026-11).
 */

import type { BodyEdit } from '../../lib/edit-tree.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'

export class CallIndexes {
  /** By the index of the choice. */
  readonly #choices = new Map<JsonValue | undefined, ChoiceCalls>()

  /** Returns the edits to the chunk; none if its calls are as they should be. */
  edits({ choices }: JsonObject): BodyEdit[] {
    return arrayOrEmpty(choices).flatMap((choice, place) => {
      if (!isObject(choice)) return []
      const path = `/choices/${place}`
      const calls = arrayOrEmpty(objectOrNull(choice.delta)?.tool_calls)
      const edits = calls.flatMap((call, at): BodyEdit[] => {
        if (!isObject(call) || typeof call.index === 'number') return []
        return [{ op: 'set', path: `${path}/delta/tool_calls/${at}/index`, value: this.#of(choice).indexOf(call) }]
      })
      const isCallsEnd = choice.finish_reason === 'stop' && this.#choices.has(choice.index)
      return isCallsEnd ? [...edits, { op: 'set', path: `${path}/finish_reason`, value: 'tool_calls' }] : edits
    })
  }

  #of({ index }: JsonObject): ChoiceCalls {
    const known = this.#choices.get(index) ?? new ChoiceCalls()
    this.#choices.set(index, known)
    return known
  }
}

/** The calls of one choice that came without an index. */
class ChoiceCalls {
  readonly #byId = new Map<string, number>()
  #count = 0

  /** A new id begins a call, and so does a name without an id; any other delta continues the last call. */
  indexOf(call: JsonObject): number {
    const id = textOrNull(call.id)
    const known = id === null ? undefined : this.#byId.get(id)
    if (known !== undefined) return known
    const begins = id !== null || textOrNull(objectOrNull(call.function)?.name) !== null || this.#count === 0
    if (begins) this.#count++
    const index = this.#count - 1
    if (id !== null) this.#byId.set(id, index)
    return index
  }
}
