/** Notices tool calls that a stream which passes through has left unfinished, should it end without a finish reason. */

import { argumentsFragment } from '../../conversation/arguments.ts'
import { type CallSegment, callSegment } from '../../conversation/sequencer.ts'
import type { ByteText } from '../../lib/byte-text.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { CallTracker } from './call-tracker.ts'

/** How a stream names a call: by its choice, its index and perhaps its id. */
export interface CallPlace {
  readonly choice: JsonValue | undefined
  readonly call: JsonObject
}

export class CallEnds {
  /** By the index of the choice. */
  readonly #trackers = new Map<JsonValue | undefined, CallTracker>()
  readonly #calls: CallSegment[] = []
  /** The call to which `take` has added last; null if it has added to none. */
  last: CallPlace | null = null

  /** Records what a choice's delta adds to its calls. */
  take(index: JsonValue | undefined, { tool_calls, function_call }: JsonObject): void {
    this.last = null
    for (const call of arrayOrEmpty(tool_calls)) if (isObject(call)) this.#add(index, call)
    if (isObject(function_call)) this.#add(index, { index: 0, function: function_call })
  }

  /** Adds arguments, as escaped JSON string content, to the call that is at a place now. */
  extend({ choice, call }: CallPlace, written: ByteText): void {
    this.#trackers.get(choice)?.find(call)?.arguments.pushWritten(written)
  }

  /** Whether any call lacks complete arguments. Input of a free-form tool is never known to be complete. */
  get isAnyOpen(): boolean {
    return this.#calls.some(call => !call.arguments.complete)
  }

  #add(index: JsonValue | undefined, delta: JsonObject): void {
    const tracker = this.#trackers.get(index) ?? new CallTracker()
    this.#trackers.set(index, tracker)
    const called = objectOrNull(delta.function) ?? objectOrNull(delta.custom)
    const call = tracker.find(delta) ?? this.#begin(tracker, delta)
    if (call.id === '' && textOrNull(delta.id) !== null) {
      call.id = String(delta.id)
      tracker.identify(call)
    }
    if (call.name === '') call.name = textOrNull(called?.name) ?? ''
    call.arguments.push(argumentsFragment(called?.arguments ?? called?.input))
    this.last = { choice: index, call: { index: delta.index ?? null, id: delta.id ?? null } }
  }

  #begin(tracker: CallTracker, delta: JsonObject): CallSegment {
    const call = callSegment({ id: '', name: '' })
    tracker.add(delta, call)
    this.#calls.push(call)
    return call
  }
}
