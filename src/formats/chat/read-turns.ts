/** Reads the messages of a chat request as turns. */

import { argumentsObject } from '../../conversation/arguments.ts'
import type { ReadFacts } from '../../conversation/format.ts'
import { FREEFORM_INPUT } from '../../conversation/freeform.ts'
import { unwrappedReasonings } from '../../conversation/reasoning-envelope.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { CallPart, ClientErrors, ContentPart, ResultPart, Turn } from '../../conversation/request.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { readBorrowed } from './borrowed.ts'
import { cacheControl, partsOf, readContent, readPartAt, readResultContent } from './read-content.ts'

/** Reads `messages`. Throws GatewayError `invalid_request` for content that cannot be converted. */
export function readTurns(body: JsonObject, facts: ReadFacts): Turn[] {
  if (!Array.isArray(body.messages) || body.messages.length === 0) {
    refuse('messages', 'expected an array with at least one message')
  }
  return body.messages.map((message, index) => readMessage(message, `messages[${index}]`, facts))
}

/** Errors in the wording that clients of the chat format know. */
export const chatErrors: ClientErrors = {
  stopField: 'stop',
  allowsRepeatedResults: true,
  missing(turn, ids) {
    refuse(
      '',
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
        `The following tool_call_ids did not have response messages: ${ids.join(', ')} (${turn.place})`,
    )
  },
  orphan(result) {
    refuse(
      result.place,
      "messages with role 'tool' must be a response to a preceding message with 'tool_calls' that has not been answered yet",
    )
  },
}

function readMessage(value: JsonValue, place: string, facts: ReadFacts): Turn {
  const message = objectOrNull(value) ?? refuse(place, 'expected a message, e.g. {"role": "user", "content": "…"}')
  const content = `${place}.content`
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: readContent(message.content, content), place }
    case 'user':
      return { role: 'user', parts: readParts(message.content, content), place }
    case 'assistant':
      return { role: 'assistant', parts: [...readReasoning(message, facts), ...readAssistant(message, place)], place }
    case 'tool':
    case 'function':
      return { role: 'user', parts: [readResult(message, place)], place }
    default:
      return refuse(`${place}.role`, 'expected one of system, developer, user, assistant, tool')
  }
}

/**
 * Reads the reasoning of an earlier reply. `reasoning_details` may contain this gateway's envelopes: signed tokens that hold
 * the sealed reasoning of the provider.
 */
function readReasoning(message: JsonObject, facts: ReadFacts): ContentPart[] {
  const text = textOrNull(message.reasoning_content) ?? textOrNull(message.reasoning) ?? ''
  const envelopes = arrayOrEmpty(message.reasoning_details).flatMap(detail => {
    const envelope = isObject(detail) && detail.type === 'reasoning.encrypted' ? textOrNull(detail.data) : null
    return envelope === null ? [] : [envelope]
  })
  return unwrappedReasonings(text, envelopes, facts)
}

function readAssistant(message: JsonObject, place: string): ContentPart[] {
  if (isObject(message.audio))
    refuse(`${place}.audio`, 'earlier audio cannot be used with this model; send its transcript')
  const parts = readParts(message.content, `${place}.content`)
  const refusal = textOrNull(message.refusal)
  if (refusal !== null) parts.push({ kind: 'text', text: refusal })
  const calls = arrayOrEmpty(message.tool_calls).map((call, index) => readCall(call, `${place}.tool_calls[${index}]`))
  if (calls.length === 0 && isObject(message.function_call)) calls.push(legacyCall(message.function_call, place))
  // Some clients also put their calls among the content, as the messages format has them.
  const ids = new Set(calls.map(call => call.id))
  return [...parts.filter(part => part.kind !== 'call' || !ids.has(part.id)), ...calls]
}

/** Reads content that may have calls and results among its parts, as some clients send it. */
function readParts(content: JsonValue | undefined, place: string): ContentPart[] {
  if (typeof content === 'string') return readContent(content, place)
  return partsOf(content, place).flatMap((part, index): ContentPart[] => {
    const at = `${place}[${index}]`
    return readBorrowed(part, at) ?? readPartAt(part, at)
  })
}

function readCall(value: JsonValue, place: string): CallPart {
  const call = objectOrNull(value) ?? refuse(place, 'expected a tool call')
  const custom = call.type === 'custom' ? objectOrNull(call.custom) : null
  if (custom !== null) return readCustomCall(call, custom, `${place}.custom`)
  const fn = objectOrNull(call.function)
  if (fn === null) refuse(place, 'only tool calls of type "function" and "custom" are supported by this model')
  const name = textOrNull(fn.name) ?? refuse(`${place}.function.name`, 'expected the name of the function')
  return { kind: 'call', id: textOrNull(call.id) ?? '', name, input: argumentsObject(fn.arguments), signature: null }
}

function readCustomCall({ id }: JsonObject, { name, input }: JsonObject, place: string): CallPart {
  return {
    kind: 'call',
    id: textOrNull(id) ?? '',
    name: textOrNull(name) ?? refuse(`${place}.name`, 'expected the name of the tool'),
    input: { [FREEFORM_INPUT]: typeof input === 'string' ? input : refuse(`${place}.input`, 'expected a string') },
    signature: null,
  }
}

function legacyCall(call: JsonObject, place: string): CallPart {
  const name = textOrNull(call.name) ?? refuse(`${place}.function_call.name`, 'expected the name of the function')
  return { kind: 'call', id: '', name, input: argumentsObject(call.arguments), signature: null }
}

function readResult(message: JsonObject, place: string): ResultPart {
  return {
    kind: 'result',
    id: textOrNull(message.tool_call_id) ?? '',
    name: message.role === 'function' ? (textOrNull(message.name) ?? '') : '',
    content: readResultContent(message.content, `${place}.content`),
    isError: false,
    place,
    ...cacheControl(message),
  }
}
