/** Converts a Messages request to the format-neutral conversation. */

import type { ReadFacts } from '../../conversation/format.ts'
import { hash } from '../../conversation/names.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { ConversationRequest } from '../../conversation/request.ts'
import { readStopSequences, visibleSequences } from '../../conversation/stop-sequences.ts'
import { arrayOrEmpty, type JsonObject, numberOrNull, objectOrNull, textOrNull } from '../../lib/json.ts'
import { refuseWrongTypes } from './parameter-types.ts'
import { readReasoning } from './read-reasoning.ts'
import { readStructure, readTools } from './read-tools.ts'
import { messagesErrors, readTurns } from './read-turns.ts'
import { refuseThread } from './threads.ts'

/** What the writer of Messages replies needs to know about the request. */
export interface MessagesEcho {
  /** Ids of the tool calls in the history. New tool calls must not reuse them. */
  readonly knownIds: ReadonlySet<string>
}

export function readRequest(body: JsonObject, facts: ReadFacts): { request: ConversationRequest; echo: MessagesEcho } {
  refuseWrongTypes(body)
  refuseUnsupported(body)
  const turns = readTurns(body, facts)
  const endUser = textOrNull(objectOrNull(body.metadata)?.user_id)
  const calls = turns.flatMap(turn => turn.parts.filter(part => part.kind === 'call'))
  const request = {
    turns,
    tools: readTools(body, facts.toolsLeftOut),
    structure: readStructure(body),
    reasoning: readReasoning(body),
    sampling: {
      temperature: numberOrNull(body.temperature),
      topP: numberOrNull(body.top_p),
      topK: numberOrNull(body.top_k),
    },
    stopSequences: visibleSequences(readStopSequences(body.stop_sequences)),
    outputTokensMax: numberOrNull(body.max_tokens) ?? refuse('max_tokens', 'Field required'),
    endUser,
    // Agents put a session id into the user id, so calls with the same user id can share a provider's cache.
    cacheKey: endUser === null ? null : hash(endUser),
    verbosity: null,
    tierIsAuto: false,
    streamed: body.stream === true,
    clientErrors: messagesErrors,
  }
  return { request, echo: { knownIds: new Set(calls.map(call => call.id)) } }
}

/** Refuses fields whose omission would change the meaning of the request. */
function refuseUnsupported(body: JsonObject): void {
  refuseThread(body)
  if (arrayOrEmpty(body.mcp_servers).length > 0) {
    refuse('mcp_servers', 'remote tool servers are not available with this model; connect to them from your client')
  }
}
