/**
 * Recognises tool calls made by a program that the model wrote and that runs at the provider (Anthropic: programmatic tool
 * calling; OpenAI: the `program` item). The block and item types are those in `@anthropic-ai/sdk` 1.10.0 (`BetaToolUseCaller`)
 * and `openai` 7.57.0 (`ResponseFunctionToolCall.Program`), as of 2026-11.
 */

import { isObject, type JsonValue, textOrNull } from '../lib/json.ts'

/** Determines whether a streamed reply consists only of calls made by a program at the provider. Call `add` once per part. */
export class ProgramCalls {
  #calls = 0
  #others = 0

  /** `part`: a content block of the messages format, or an output item of the responses format. */
  add(part: JsonValue | undefined): void {
    if (isProgramCall(part)) this.#calls++
    else this.#others++
  }

  get only(): boolean {
    return this.#calls > 0 && this.#others === 0
  }
}

/** Whether a non-streamed reply consists only of calls made by a program at the provider. */
export function onlyProgramCalls(parts: readonly JsonValue[]): boolean {
  return parts.length > 0 && parts.every(isProgramCall)
}

function isProgramCall(part: JsonValue | undefined): boolean {
  if (!isObject(part) || !isObject(part.caller)) return false
  const type = textOrNull(part.caller.type) ?? ''
  return type === 'program' || type.startsWith('code_execution_')
}
