/** Builds the response object for a stream's events and for non-streamed replies. */

import type { WriterFacts } from '../../conversation/format.ts'
import type { StopReason } from '../../conversation/reply.ts'
import type { TokenUsage } from '../../conversation/usage.ts'
import { ascii, type ByteText, concat, encodeText, joinBytes } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { WrittenItem } from './carrier.ts'
import type { ResponsesEcho } from './echo.ts'
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
export const IN_PROGRESS: ResponseState = { status: 'in_progress', ...OPEN }

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
    return encodeText(JSON.stringify({ ...this.whole(IN_PROGRESS, []), ...LEFT_OUT_AT_THE_START }))
  }

  /** Returns the final state as JSON, from serialized items. */
  ended(state: ResponseState, items: readonly WrittenItem[]): ByteText {
    const head = encodeText(JSON.stringify({ ...this.#head, ...state })).slice(0, -1)
    const output = joinBytes(
      items.map(({ json }) => json),
      ',',
    )
    const rest = encodeText(JSON.stringify({ ...CONSTANT, ...this.#fields })).slice(1)
    return concat(head, ascii(',"output":['), output, ascii('],'), rest)
  }
}
