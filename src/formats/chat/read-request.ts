/** Parses a Chat Completions request into the format-neutral conversation. */

import type { ReadFacts } from '../../conversation/format.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { ConversationRequest } from '../../conversation/request.ts'
import { readStopSequences } from '../../conversation/stop-sequences.ts'
import { type JsonObject, numberOrNull, objectOrNull, textOrNull } from '../../lib/json.ts'
import { refuseWrongTypes } from './parameter-types.ts'
import { readReasoning } from './read-reasoning.ts'
import { clientToolsOf, readStructure, readTools } from './read-tools.ts'
import { chatErrors, readTurns } from './read-turns.ts'
import type { ClientTools } from './write-calls.ts'

/** The facts about a request that the writer of chat replies needs. */
export interface ChatEcho {
  readonly wantsUsageChunk: boolean
  readonly tools: ClientTools
}

export function readRequest(body: JsonObject, facts: ReadFacts): { request: ConversationRequest; echo: ChatEcho } {
  refuseWrongTypes(body)
  refuseUnsupported(body)
  const request = {
    turns: readTurns(body, facts),
    tools: readTools(body),
    structure: readStructure(body),
    reasoning: readReasoning(body),
    sampling: {
      temperature: numberOrNull(body.temperature),
      topP: numberOrNull(body.top_p),
      topK: numberOrNull(body.top_k),
    },
    stopSequences: readStopSequences(body.stop),
    outputTokensMax: numberOrNull(body.max_completion_tokens) ?? numberOrNull(body.max_tokens),
    endUser: textOrNull(body.user) ?? textOrNull(body.safety_identifier),
    cacheKey: textOrNull(body.prompt_cache_key),
    verbosity: textOrNull(body.verbosity),
    tierIsAuto: body.service_tier === 'auto',
    streamed: body.stream === true,
    clientErrors: chatErrors,
  }
  return { request, echo: { wantsUsageChunk: wantsUsageChunk(body), tools: clientToolsOf(body) } }
}

/** Makes the echo for a request that came to this format's endpoint in the body of another one. */
export function echoOf({ tools }: ConversationRequest, body: JsonObject): ChatEcho {
  const custom = tools.definitions.filter(tool => tool.freeform !== undefined).map(({ name }) => name)
  return { wantsUsageChunk: wantsUsageChunk(body), tools: { custom: new Set(custom), legacy: false } }
}

function wantsUsageChunk({ stream_options }: JsonObject): boolean {
  return objectOrNull(stream_options)?.include_usage === true
}

/** Refuses fields that no other format supports. */
function refuseUnsupported(body: JsonObject): void {
  const count = numberOrNull(body.n)
  if (count !== null && count !== 1) refuse('n', 'this model returns one choice per call; send n: 1 or leave it out')
  const modalities = Array.isArray(body.modalities) ? body.modalities : []
  if (modalities.some(modality => modality !== 'text') || (body.audio !== null && body.audio !== undefined)) {
    refuse('modalities', 'this model only replies in text')
  }
  if (body.web_search_options !== null && body.web_search_options !== undefined) {
    refuse('web_search_options', 'web search is not available with this model on this endpoint')
  }
}
