/** Converts a request in the responses format to a conversation. */

import type { ReadFacts } from '../../conversation/format.ts'
import { isCall } from '../../conversation/pairing.ts'
import { reasoningRequest } from '../../conversation/reasoning-request.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { ConversationRequest, ReasoningRequest, StructureRequest, Turn } from '../../conversation/request.ts'
import { GatewayError } from '../../errors.ts'
import { type JsonObject, numberOrNull, objectOrNull, textOrNull } from '../../lib/json.ts'
import type { ResponsesEcho } from './echo.ts'
import { refuseWrongTypes } from './parameter-types.ts'
import { itemReading } from './read-input.ts'
import { readDefinitions, readTools } from './read-tools.ts'
import { readTurns, responsesErrors } from './read-turns.ts'
import type { ToolRegistry } from './tool-registry.ts'

/** Reads the request. Throws GatewayError `invalid_request` or `previous_response_not_found`. */
export function readRequest(body: JsonObject, facts: ReadFacts): { request: ConversationRequest; echo: ResponsesEcho } {
  refuseWrongTypes(body)
  refuseMemory(body)
  const registry = readDefinitions(body, facts.toolsLeftOut)
  const turns = readTurns(body, itemReading(body, registry, facts))
  const request: ConversationRequest = {
    turns,
    tools: readTools(body, registry),
    structure: readStructure(body),
    reasoning: readReasoning(body),
    sampling: { temperature: numberOrNull(body.temperature), topP: numberOrNull(body.top_p), topK: null },
    stopSequences: [],
    outputTokensMax: numberOrNull(body.max_output_tokens),
    endUser: textOrNull(body.safety_identifier) ?? textOrNull(body.user),
    cacheKey: textOrNull(body.prompt_cache_key),
    verbosity: textOrNull(objectOrNull(body.text)?.verbosity),
    tierIsAuto: body.service_tier === 'auto',
    streamed: body.stream === true,
    clientErrors: responsesErrors,
  }
  return { request, echo: echoOf(body, registry, turns) }
}

/** Refuses references to content that a provider has stored. Ignoring such a reference would lose part of the conversation. */
function refuseMemory(body: JsonObject): void {
  if (isGiven(body.previous_response_id)) {
    throw new GatewayError('previous_response_not_found', { param: 'previous_response_id' })
  }
  if (isGiven(body.conversation)) {
    refuse('conversation', 'this service stores no conversations. Send the whole conversation in input.')
  }
  if (isGiven(body.prompt))
    refuse('prompt', 'this service stores no prompts. Send the instructions and the input themselves.')
  if (body.background === true) {
    refuse(
      'background',
      'background responses are not supported; leave the field out, and set stream: true for long replies',
    )
  }
}

function isGiven(value: JsonObject[string]): boolean {
  return value !== undefined && value !== null && value !== ''
}

/** Reads `text.format`; null for plain text. */
export function readStructure(body: JsonObject): StructureRequest | null {
  const format = objectOrNull(objectOrNull(body.text)?.format)
  switch (format?.type) {
    case undefined:
    case null:
    case 'text':
      return null
    case 'json_object':
      return { kind: 'object' }
    case 'json_schema': {
      const schema = objectOrNull(format.schema)
      if (schema === null) return { kind: 'object' }
      return {
        kind: 'schema',
        name: textOrNull(format.name) ?? 'reply',
        description: textOrNull(format.description),
        schema,
        strict: format.strict === true,
      }
    }
    default:
      return refuse('text.format.type', 'expected "text", "json_object" or "json_schema"')
  }
}

/** Reads `reasoning`. A request for a summary alone does not turn reasoning on. */
export function readReasoning(body: JsonObject): ReasoningRequest {
  const reasoning = objectOrNull(body.reasoning)
  const summary = textOrNull(reasoning?.summary) ?? textOrNull(reasoning?.generate_summary)
  const shown = summary === null ? null : summary !== 'none'
  return reasoningRequest({ wanted: null, budgetTokens: null, effort: reasoning?.effort, shown })
}

function echoOf(body: JsonObject, registry: ToolRegistry, turns: readonly Turn[]): ResponsesEcho {
  const reasoning = objectOrNull(body.reasoning)
  const text = objectOrNull(body.text)
  return {
    tools: registry.clientTools(),
    fields: {
      instructions: body.instructions ?? null,
      max_output_tokens: body.max_output_tokens ?? null,
      metadata: body.metadata ?? {},
      parallel_tool_calls: body.parallel_tool_calls ?? true,
      prompt_cache_key: body.prompt_cache_key ?? null,
      reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
      safety_identifier: body.safety_identifier ?? null,
      temperature: body.temperature ?? 1,
      text: { ...text, format: text?.format ?? { type: 'text' } },
      tool_choice: body.tool_choice ?? 'auto',
      tools: body.tools ?? [],
      top_p: body.top_p ?? 1,
      truncation: 'disabled',
      user: body.user ?? null,
    },
    refersToItems: body.store !== false,
    callIds: new Set(turns.flatMap(turn => turn.parts.filter(isCall).map(({ id }) => id))),
  }
}
