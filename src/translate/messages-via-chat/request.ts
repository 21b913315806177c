/** A messages request as a chat request. */

import { ToolNames, UpstreamIds } from '../../conversation/names.ts'
import { isCall, type PairedTurn, pairResults } from '../../conversation/pairing.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { ToolRequest, Turn } from '../../conversation/request.ts'
import { arrayOrEmpty, type JsonObject, numberOrNull, objectOrNull, textOrNull } from '../../lib/json.ts'
import { endUserId } from '../end-user.ts'
import { nameOnlyTool } from '../forced-choice.ts'
import { clampOutputTokens } from '../output-cap.ts'
import { refuseWrongTypes } from '../parameter-types.ts'
import { planChatReasoning, planForcedTool } from '../reasoning-plan.ts'
import { type ReasoningRequest, readMessagesReasoning } from '../reasoning-wish.ts'
import { convertSampling } from '../sampling.ts'
import { stopSequences } from '../stops.ts'
import { planChatStructure, REPLY_TOOL } from '../structure.ts'
import { refuseThread } from '../threads.ts'
import type { TranslationContext } from '../translator.ts'
import { messagesWords, readConversation } from './read-conversation.ts'
import { readStructure, readTools } from './read-tools.ts'
import { writeConversation } from './write-conversation.ts'
import { writeTools } from './write-tools.ts'

/** What the reply needs to know of its request. */
export interface RequestFacts {
  readonly names: ToolNames
  /** Ids of the calls in the history: a new call must not take one of them. */
  readonly knownIds: ReadonlySet<string>
  /** A forced tool stands for the JSON reply: its arguments are the text. */
  readonly replyTool: string | null
  readonly unwrapsFence: boolean
}

export interface ConvertedRequest extends RequestFacts {
  readonly body: JsonObject
}

export function convertRequest(messages: JsonObject, context: TranslationContext): ConvertedRequest {
  const { dialect } = context.target
  refuseWrongTypes(messages, 'messages')
  refuseUnsupported(messages)
  const wish = readMessagesReasoning(messages)
  const turns = pairResults(readConversation(messages), messagesWords)
  const tools = nameOnlyTool(readTools(messages, dialect.tools.leftOut), dialect.tools)
  const names = new ToolNames(toolNamesOf(tools, turns), dialect.tools)
  const stream = messages.stream === true
  const circumstances = { stream, hasTools: tools.definitions.length > 0 }
  const reason = (wanted: ReasoningRequest) => planChatReasoning(wanted, dialect.reasoning, circumstances)

  const wantsForce = circumstances.hasTools && (tools.choice?.mode === 'any' || tools.choice?.mode === 'tool')
  const callable = circumstances.hasTools && tools.choice?.mode !== 'none'
  const structureWish = readStructure(messages)
  const structureForce = structureWish !== null && dialect.structuredOutput.method === 'tool' && !callable
  const { plan, forced } =
    wantsForce || structureForce ? planForcedTool(wish, dialect, reason) : { plan: reason(wish), forced: false }
  const structure = planChatStructure({
    wish: structureWish,
    mode: dialect.structuredOutput.method,
    canForceTool: structureForce && forced,
  })
  const replyTool = structure.tool && { name: REPLY_TOOL, description: null, schema: structure.tool, strict: false }

  const ids = new UpstreamIds(dialect.tools.callId)
  const hasVision = context.entry.capabilities.includes('vision')
  const stops = stopSequences(messages.stop_sequences, { field: 'stop_sequences', max: dialect.sampling.stopMax })
  const body: JsonObject = {
    model: context.target.model,
    messages: writeConversation(withInstruction(turns, structure.instruction), { dialect, names, ids, hasVision }),
    ...outputCap(messages, context),
    ...(replyTool === null
      ? writeTools(tools, { dialect, names, forced })
      : writeTools(
          { definitions: [replyTool], choice: { mode: 'tool', name: REPLY_TOOL }, oneCallOnly: false },
          { dialect, names: new ToolNames([REPLY_TOOL], dialect.tools), forced },
        )),
    ...plan.fields,
    ...structure.fields,
    ...convertSampling(messages, dialect.sampling, {
      reasons: plan.reasons,
      temperatureMax: dialect.sampling.temperatureMax,
    }),
    ...(stops.length > 0 && { stop: stops }),
    ...endUser(messages, context),
    ...(stream && { stream: true, ...(dialect.usage.streamOptions && { stream_options: { include_usage: true } }) }),
  }
  return {
    body,
    names,
    knownIds: new Set(callsOf(turns).map(call => call.id)),
    replyTool: replyTool && REPLY_TOOL,
    unwrapsFence: structure.unwrapsFence,
  }
}

/** What would change the meaning of the request if it were left out. */
function refuseUnsupported(messages: JsonObject): void {
  refuseThread(messages)
  if (arrayOrEmpty(messages.mcp_servers).length > 0) {
    refuse('mcp_servers', 'remote tool servers are not available with this model; connect to them from your client')
  }
}

function outputCap(messages: JsonObject, { entry, target }: TranslationContext): JsonObject {
  const wanted = numberOrNull(messages.max_tokens)
  if (wanted === null) refuse('max_tokens', 'Field required')
  const { capField, capMin } = target.dialect.output
  return { [capField]: clampOutputTokens(wanted, { outputTokensMax: entry.outputTokensMax, capMin }) }
}

function* toolNamesOf(tools: ToolRequest, turns: readonly Turn[]): Generator<string> {
  for (const tool of tools.definitions) yield tool.name
  if (tools.choice?.mode === 'tool') yield tools.choice.name
  for (const call of callsOf(turns)) yield call.name
}

function callsOf(turns: readonly Turn[]) {
  return turns.flatMap(turn => turn.parts.filter(isCall))
}

function withInstruction(turns: readonly PairedTurn[], instruction: string | null): readonly PairedTurn[] {
  if (instruction === null) return turns
  const first = turns.findIndex(turn => turn.role !== 'system')
  const parts = [{ kind: 'text' as const, text: instruction }]
  return turns.toSpliced(Math.max(first, 0), 0, { role: 'system', parts, place: '', answers: new Map() })
}

function endUser(messages: JsonObject, { target }: TranslationContext): JsonObject {
  const { endUser: facts } = target.dialect
  const id = textOrNull(objectOrNull(messages.metadata)?.user_id)
  return id === null || facts.field === null ? {} : { [facts.field]: endUserId(id, facts) }
}
