/** A chat request as a messages request. */

import { ToolNames, UpstreamIds } from '../../conversation/names.ts'
import { isCall, isResult, type PairedTurn, pairResults } from '../../conversation/pairing.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { ContentPart, ToolDefinition, ToolRequest, Turn } from '../../conversation/request.ts'
import { type JsonObject, numberOrNull, textOrNull } from '../../lib/json.ts'
import { endUserId } from '../end-user.ts'
import { nameOnlyTool } from '../forced-choice.ts'
import { chosenOutputTokens, clampOutputTokens } from '../output-cap.ts'
import { refuseWrongTypes } from '../parameter-types.ts'
import { planForcedTool, planMessagesReasoning, type ReasoningPlan } from '../reasoning-plan.ts'
import { type ReasoningRequest, readChatReasoning } from '../reasoning-wish.ts'
import { convertSampling } from '../sampling.ts'
import { qualifiesForStrictMessages, toolSchema } from '../schemas.ts'
import { stopSequences } from '../stops.ts'
import { planMessagesStructure, REPLY_TOOL } from '../structure.ts'
import type { TranslationContext } from '../translator.ts'
import { chatWords, readConversation } from './read-conversation.ts'
import { readStructure, readTools } from './read-tools.ts'
import { writeConversation } from './write-conversation.ts'

/** What the reply needs to know of its request. */
export interface RequestFacts {
  readonly names: ToolNames
  /** A forced tool stands for the JSON reply: its input is the text. */
  readonly replyTool: string | null
  readonly unwrapsFence: boolean
}

export interface ConvertedRequest extends RequestFacts {
  readonly body: JsonObject
}

export function convertRequest(chat: JsonObject, context: TranslationContext): ConvertedRequest {
  refuseWrongTypes(chat, 'chat_completions')
  refuseUnsupported(chat)
  const { dialect } = context.target
  const turns = pairResults(readConversation(chat), chatWords)
  const tools = nameOnlyTool(readTools(chat), dialect.tools)
  const names = new ToolNames([...toolNamesOf(tools, turns)], dialect.tools)
  const maxTokens = outputCap(chat, context)
  const wish = readChatReasoning(chat)
  const reason = (wanted: ReasoningRequest) =>
    planMessagesReasoning(wanted, dialect.reasoning, { maxTokens, unsignedToolTurn: endsInToolTurn(turns) })

  const wantsForce = tools.definitions.length > 0 && (tools.choice?.mode === 'any' || tools.choice?.mode === 'tool')
  const structureWish = readStructure(chat)
  const structureForce =
    dialect.structuredOutput.method === 'tool' && structureWish?.kind === 'schema' && !wantsTools(tools)
  const { plan, forced } =
    wantsForce || structureForce ? planForcedTool(wish, dialect, reason) : { plan: reason(wish), forced: false }
  const structure = planMessagesStructure({
    wish: structureWish,
    mode: dialect.structuredOutput.method,
    canForceTool: structureForce && forced,
  })
  const replyTool = structure.tool && { name: REPLY_TOOL, description: null, schema: structure.tool, strict: false }

  const writing = {
    dialect,
    names,
    ids: new UpstreamIds('word'),
    hasVision: context.entry.capabilities.includes('vision'),
  }
  const { system, messages } = writeConversation(withInstruction(turns, structure.instruction), writing)
  const stops = stopSequences(chat.stop, { field: 'stop', max: dialect.sampling.stopMax })
  const body: JsonObject = {
    model: context.target.model,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system }),
    messages,
    ...writeTools(replyTool === null ? tools : { ...tools, definitions: [replyTool] }, {
      dialect,
      names: replyTool === null ? names : new ToolNames([REPLY_TOOL], dialect.tools),
      forced,
      replyTool: replyTool !== null,
    }),
    ...mergeOutputConfig(plan, structure.fields),
    // A model of this format takes no sampling parameters while it reasons.
    ...(!plan.reasons && convertSampling(chat, dialect.sampling, { reasons: false, temperatureMax: 1 })),
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...endUser(chat, context),
    ...(chat.service_tier === 'auto' && { service_tier: 'auto' }),
    ...(chat.stream === true && { stream: true }),
  }
  return { body, names, replyTool: replyTool && REPLY_TOOL, unwrapsFence: structure.unwrapsFence }
}

/** What the messages format cannot do at all. */
function refuseUnsupported(chat: JsonObject): void {
  const count = numberOrNull(chat.n)
  if (count !== null && count !== 1) refuse('n', 'this model gives one choice per call; send n: 1 or leave it out')
  const modalities = Array.isArray(chat.modalities) ? chat.modalities : []
  if (modalities.some(modality => modality !== 'text') || (chat.audio !== null && chat.audio !== undefined)) {
    refuse('modalities', 'this model answers in text only')
  }
  if (chat.web_search_options !== null && chat.web_search_options !== undefined) {
    refuse('web_search_options', 'web search is not available with this model on this endpoint')
  }
}

function outputCap(chat: JsonObject, { entry, target, inputTokensEstimate }: TranslationContext): number {
  const wanted = numberOrNull(chat.max_completion_tokens) ?? numberOrNull(chat.max_tokens)
  if (wanted !== null)
    return clampOutputTokens(wanted, { outputTokensMax: entry.outputTokensMax, capMin: target.dialect.output.capMin })
  return chosenOutputTokens({
    outputTokensMax: entry.outputTokensMax,
    contextTokens: entry.contextTokens,
    inputTokensEstimate,
  })
}

/** Tools that the model may call in this request. */
function wantsTools(tools: ToolRequest): boolean {
  return tools.definitions.length > 0 && tools.choice?.mode !== 'none'
}

function* toolNamesOf(tools: ToolRequest, turns: readonly Turn[]): Generator<string> {
  for (const tool of tools.definitions) yield tool.name
  if (tools.choice?.mode === 'tool') yield tools.choice.name
  for (const turn of turns) for (const part of turn.parts) if (isCall(part)) yield part.name
}

/** The last assistant turn is part of a tool loop that goes on now. A chat history never carries signed thinking. */
function endsInToolTurn(turns: readonly Turn[]): boolean {
  return turns.findLast(turn => turn.role === 'assistant')?.parts.some(isCall) === true && lastUserHasResults(turns)
}

function lastUserHasResults(turns: readonly Turn[]): boolean {
  const lastAssistant = turns.findLastIndex(turn => turn.role === 'assistant')
  return turns.slice(lastAssistant + 1).some(turn => turn.parts.some(isResult))
}

function withInstruction(turns: readonly PairedTurn[], instruction: string | null): readonly PairedTurn[] {
  if (instruction === null) return turns
  const parts: ContentPart[] = [{ kind: 'text', text: instruction }]
  const first = turns.findIndex(turn => turn.role !== 'system')
  const at = first < 0 ? 0 : first
  return [...turns.slice(0, at), { role: 'system', parts, place: '', answers: new Map() }, ...turns.slice(at)]
}

interface ToolWriting {
  readonly dialect: TranslationContext['target']['dialect']
  readonly names: ToolNames
  readonly forced: boolean
  readonly replyTool: boolean
}

function writeTools(tools: ToolRequest, { dialect, names, forced, replyTool }: ToolWriting): JsonObject {
  if (tools.definitions.length === 0) return {}
  const choice = writeChoice(replyTool ? { mode: 'tool', name: REPLY_TOOL } : tools.choice, names, forced)
  const single = tools.oneCallOnly && dialect.tools.parallelFlag && choice?.type !== 'none'
  const flag = single ? { disable_parallel_tool_use: true } : {}
  const chosen = choice === null && single ? { type: 'auto' } : choice
  return {
    tools: tools.definitions.map(tool => writeTool(tool, dialect, names)),
    ...(chosen !== null && { tool_choice: { ...chosen, ...flag } }),
  }
}

function writeTool(tool: ToolDefinition, dialect: ToolWriting['dialect'], names: ToolNames): JsonObject {
  const schema = toolSchema(tool.schema, dialect.tools.schema)
  const strict = tool.strict && dialect.tools.strict === 'pass' && qualifiesForStrictMessages(schema)
  return {
    name: names.upstream(tool.name),
    ...(tool.description !== null && { description: tool.description }),
    input_schema: schema,
    ...(strict && { strict: true }),
    ...(tool.cacheControl !== undefined &&
      dialect.content.cacheControl === 'pass' && { cache_control: tool.cacheControl }),
  }
}

function writeChoice(choice: ToolRequest['choice'], names: ToolNames, forced: boolean): JsonObject | null {
  if (choice === null) return null
  switch (choice.mode) {
    case 'any':
      return { type: forced ? 'any' : 'auto' }
    case 'tool':
      return forced ? { type: 'tool', name: names.upstream(choice.name) } : { type: 'auto' }
    default:
      return { type: choice.mode }
  }
}

/** Effort and reply format share one object. */
function mergeOutputConfig(plan: ReasoningPlan, structure: JsonObject): JsonObject {
  const effort = plan.fields.output_config
  const format = structure.output_config
  const both = typeof effort === 'object' && typeof format === 'object'
  return { ...plan.fields, ...structure, ...(both && { output_config: { ...effort, ...format } }) }
}

function endUser(chat: JsonObject, { target }: TranslationContext): JsonObject {
  const id = textOrNull(chat.user) ?? textOrNull(chat.safety_identifier)
  if (id === null || target.dialect.endUser.field === null) return {}
  return { metadata: { user_id: endUserId(id, target.dialect.endUser) } }
}
