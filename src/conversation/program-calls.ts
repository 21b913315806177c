/**
 * Calls that a program makes which runs at the provider (Anthropic: programmatic tool calling; OpenAI: the `program` item).
 * The model wrote the program and not the call. Block and item types of `@anthropic-ai/sdk` 1.10.0 (`BetaToolUseCaller`)
 * and `openai` 7.57.0 (`ResponseFunctionToolCall.Program`), read 2026-11.
 */

import { isObject, type JsonValue, textOrNull } from '../lib/json.ts'

/** Whether the parts of a reply are nothing but such calls; each part is told once. */
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

/** The same for a whole reply. */
export function onlyProgramCalls(parts: readonly JsonValue[]): boolean {
  return parts.length > 0 && parts.every(isProgramCall)
}

function isProgramCall(part: JsonValue | undefined): boolean {
  if (!isObject(part) || !isObject(part.caller)) return false
  const type = textOrNull(part.caller.type) ?? ''
  return type === 'program' || type.startsWith('code_execution_')
}
