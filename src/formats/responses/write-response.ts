/** Builds the response object for a stream's events and for non-streamed replies. */

import type { WriterFacts } from '../../conversation/format.ts'
import type { StopReason } from '../../conversation/reply.ts'
import type { TokenUsage } from '../../conversation/usage.ts'
import { ascii, type ByteText, concat, joinBytes, NO_BYTES } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { WrittenItem } from './carrier.ts'
import type { ResponsesEcho } from './echo.ts'
import { jsonOf } from './form.ts'
import { writeUsage } from './usage.ts'

/** Members that do not depend on the request. Nothing is stored, even if the request asks for it. */
const CONSTANT: JsonObject = {
  background: false,
  max_tool_calls: null,
  previous_response_id: null,
  access_programs: null,
  service_tier: 'default',
  store: false,
  top_logprobs: 0,
}
const BEHIND_ITEMS = concat(ascii('],'), jsonOf(CONSTANT).slice(1, -1), ascii(','))

/**
 * Large members that repeat the request. They are empty in the first events, because clients only read them in the finished
 * response.
 */
const LEFT_OUT_AT_THE_START: JsonObject = { instructions: null, tools: [] }

/** The members of a response that change during a stream, except its items. */
export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly error: JsonObject | null
  readonly incomplete_details: JsonObject | null
  /** Time of completion in seconds since 1970; null unless the response is complete. */
  readonly completed_at: number | null
  readonly usage: JsonObject | null
}

const OPEN = { error: null, incomplete_details: null, completed_at: null, usage: null } as const
const IN_PROGRESS: ResponseState = { status: 'in_progress', ...OPEN }

export function endState(reason: StopReason, usage: TokenUsage, nowSeconds: number): ResponseState {
  const cut = reason === 'max_tokens' ? 'max_output_tokens' : reason === 'blocked' ? 'content_filter' : null
  return {
    status: cut === null ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: cut === null ? null : { reason: cut },
    completed_at: cut === null ? nowSeconds : null,
    usage: writeUsage(usage),
  }
}

export function failedState(code: string, message: string): ResponseState {
  return { ...OPEN, status: 'failed', error: { code, message } }
}

/** Writes the successive states of a response, all with the same id. */
export class ResponseObject {
  readonly #head: JsonObject
  readonly #fields: JsonObject

  constructor({ fields }: ResponsesEcho, { clientModel, newId, nowSeconds }: WriterFacts) {
    this.#head = { id: `resp_${newId()}`, object: 'response', created_at: nowSeconds, model: clientModel }
    this.#fields = fields
  }

  whole(state: ResponseState, output: JsonObject[]): JsonObject {
    return { ...this.#head, ...state, output, ...CONSTANT, ...this.#fields }
  }

  /** Returns the initial state as JSON. */
  begun(): ByteText {
    return this.#json(IN_PROGRESS, NO_BYTES, { ...this.#fields, ...LEFT_OUT_AT_THE_START })
  }

  /** Returns the final state as JSON, from serialized items. */
  ended(state: ResponseState, items: readonly WrittenItem[]): ByteText {
    const output = items.map(({ json }) => json)
    return this.#json(state, joinBytes(output, ','), this.#fields)
  }

  #json(state: ResponseState, output: ByteText, fields: JsonObject): ByteText {
    const members = concat(
      jsonOf(this.#head).slice(0, -1),
      ascii(','),
      jsonOf(state).slice(1, -1),
      ascii(',"output":['),
    )
    return concat(members, output, BEHIND_ITEMS, jsonOf(fields).slice(1))
  }
}
