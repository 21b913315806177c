/**
 * What the dialect asks for where client and upstream speak the same format: edits at single places, so that every other
 * byte of the body stays as the client sent it.
 */

import type { ReasoningRequest, StructureRequest } from '../conversation/request.ts'
import { adaptChat } from '../dialect/chat/adapt.ts'
import { adaptMessages } from '../dialect/messages/adapt.ts'
import { adaptResponses } from '../dialect/responses/adapt.ts'
import type { Adapt, Adapted, DialectFacts } from '../dialect/types.ts'
import { readReasoning as readChatReasoning } from '../formats/chat/read-reasoning.ts'
import { readStructure as readChatStructure } from '../formats/chat/read-tools.ts'
import { readReasoning as readMessagesReasoning } from '../formats/messages/read-reasoning.ts'
import { readStructure as readMessagesStructure } from '../formats/messages/read-tools.ts'
import {
  readReasoning as readResponsesReasoning,
  readStructure as readResponsesStructure,
} from '../formats/responses/read-request.ts'
import type { ModelEntry, UpstreamTarget, WireName } from '../generated/types.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'
import { editsBetween } from '../lib/json-diff.ts'
import type { BodyEdit } from '../lib/json-text.ts'

export interface SameFormatPlan extends Adapted {
  /** What turns the client's body into the one to send; `model` is not among them. */
  readonly edits: readonly BodyEdit[]
}

export interface SameFormatCall {
  readonly format: WireName
  readonly body: JsonObject
  readonly entry: Pick<ModelEntry, 'outputTokensMax' | 'contextTokens' | 'capabilities'>
  readonly target: Pick<UpstreamTarget, 'dialect'>
  /** Cap on the output for a body that has none; null or absent: it stays without one. */
  readonly outputTokensAfforded?: number | null
  /** Beta flags that the client sent (messages format), in order. */
  readonly betas?: readonly string[]
  /** Opens marks of the caller's account; absent: there are none. */
  readonly openMark?: (text: string) => JsonValue | null
}

interface Wire {
  readonly adapt: Adapt
  readonly reasoning: (body: JsonObject) => ReasoningRequest
  readonly structure: (body: JsonObject) => StructureRequest | null
  readonly stopField: string
  readonly place: (index: number) => string
}

const WIRES: Readonly<Record<WireName, Wire>> = {
  messages: {
    adapt: adaptMessages,
    reasoning: readMessagesReasoning,
    structure: readMessagesStructure,
    stopField: 'stop_sequences',
    place: index => `messages.${index}`,
  },
  chat_completions: {
    adapt: adaptChat,
    reasoning: readChatReasoning,
    structure: readChatStructure,
    stopField: 'stop',
    place: index => `messages[${index}]`,
  },
  responses: {
    adapt: adaptResponses,
    reasoning: readResponsesReasoning,
    structure: readResponsesStructure,
    stopField: 'stop',
    place: index => `input[${index}]`,
  },
}

/** Throws GatewayError for what the upstream is known to refuse in words that clients do not understand. */
export function planSameFormat(call: SameFormatCall): SameFormatPlan {
  const { format, body, entry, target, outputTokensAfforded = null, betas = [], openMark = () => null } = call
  const { dialect } = target
  const { adapt, reasoning, structure, stopField, place } = WIRES[format]
  const facts: DialectFacts = {
    dialect,
    road: 'same',
    hasVision: entry.capabilities.includes('vision'),
    outputTokensMax: entry.outputTokensMax,
    contextTokens: entry.contextTokens,
    inputTokensEstimate: 0,
    outputTokensAfforded,
    reasoning: reasoning(body),
    structure: knowsSchemas(dialect) ? null : structure(body),
    betas,
    stopField,
    place,
    openMark,
  }
  const adapted = adapt(body, facts)
  return { ...adapted, edits: editsBetween(body, adapted.body) }
}

/** The client's own words for a JSON reply go up as they are; kinds that came later are the upstream's to judge. */
function knowsSchemas({ structuredOutput: { method } }: DialectFacts['dialect']): boolean {
  return method === 'native' || method === 'json_schema'
}
