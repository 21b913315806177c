/** Builds the items of a response, streamed or not. */

import { argumentsObject } from '../../conversation/arguments.ts'
import { CallIds } from '../../conversation/call-ids.ts'
import type { Seal } from '../../conversation/envelope.ts'
import type { WriterFacts } from '../../conversation/format.ts'
import { freeformText } from '../../conversation/freeform.ts'
import type { PartStart } from '../../conversation/reply.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ClientTool, ResponsesEcho } from './echo.ts'
import { BLANK, formOf } from './form.ts'

export type CallStart = PartStart & { readonly kind: 'call' }

/** A call, with the tool's name and namespace as the client defined them. */
export interface ClientCall extends ClientTool {
  readonly callId: string
}

/** Assigns call ids that are unique within the conversation. Create one instance per reply. */
export class ReplyCalls {
  readonly #tools: ResponsesEcho['tools']
  readonly #ids: CallIds

  constructor({ tools, callIds }: ResponsesEcho, { newId }: WriterFacts) {
    this.#tools = tools
    this.#ids = new CallIds(callIds, () => `call_${newId()}`)
  }

  describe({ id, name, signature }: CallStart): ClientCall {
    const tool = this.#tools.get(name) ?? { kind: 'function', name, namespace: null }
    return { ...tool, callId: this.#ids.assign(id, signature) }
  }
}

const ID_PREFIXES = { message: 'msg_', reasoning: 'rs_', function: 'fc_', custom: 'ctc_', tool_search: 'tsc_' } as const

export function itemId(kind: keyof typeof ID_PREFIXES, { newId }: WriterFacts): string {
  return ID_PREFIXES[kind] + newId()
}

/** State of an item that has no content yet. */
const BEGUN = { status: 'in_progress' } as const
const DONE = { status: 'completed' } as const

/** `incomplete`: the reply was truncated within the item. */
export type EndStatus = 'completed' | 'incomplete'

export function textContent(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

export function refusalContent(refusal: string): JsonObject {
  return { type: 'refusal', refusal }
}

export function messageItem(id: string, content: JsonObject | null): JsonObject {
  const state = content === null ? BEGUN : DONE
  return { id, type: 'message', ...state, role: 'assistant', content: content === null ? [] : [content] }
}

export function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text }
}

/** Reasoning that has no content yet. Its only blank is its id. */
export const REASONING_ADDED = formOf({ id: BLANK, type: 'reasoning', ...BEGUN, summary: [] })

/**
 * Returns a finished reasoning item. `envelope`: the token that carries the provider's encrypted reasoning (see
 * `conversation/envelope.ts`); null if there is none.
 */
export function reasoningItem(id: string, texts: readonly string[], envelope: string | null): JsonObject {
  const sealed = envelope === null ? {} : { encrypted_content: envelope }
  return { id, type: 'reasoning', ...DONE, summary: texts.map(summaryPart), ...sealed }
}

export function envelopeOf(seal: Seal | null | undefined, { wrapSeal }: WriterFacts): string | null {
  // In this format, the texts of an item stay separate, so the envelope need not record where each one ends.
  return seal == null ? null : wrapSeal(seal, [])
}

/** Returns a call item. `json`: the arguments as the model wrote them; null if they have not arrived yet. */
export function callItem(id: string, call: ClientCall, json: string | null): JsonObject {
  const state = json === null ? BEGUN : DONE
  const { callId: call_id, name } = call
  const namespace = call.namespace === null ? {} : { namespace: call.namespace }
  switch (call.kind) {
    case 'function':
      return { id, type: 'function_call', ...state, arguments: json ?? '', call_id, name, ...namespace }
    case 'custom':
      return {
        id,
        type: 'custom_tool_call',
        ...state,
        call_id,
        input: json === null ? '' : freeformText(json),
        name,
        ...namespace,
      }
    case 'tool_search':
      return {
        id,
        type: 'tool_search_call',
        ...state,
        call_id,
        execution: 'client',
        arguments: argumentsObject(json ?? ''),
      }
  }
}
