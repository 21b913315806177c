/** A request as a messages upstream takes it. */

import type { WritableRequest } from '../conversation/format.ts'
import { UpstreamIds } from '../conversation/names.ts'
import { isCall, isResult } from '../conversation/pairing.ts'
import type { ReasoningRequest, Turn } from '../conversation/request.ts'
import { endUserId } from '../dialect/end-user.ts'
import { nameOnlyTool } from '../dialect/forced-choice.ts'
import { chosenOutputTokens, clampOutputTokens } from '../dialect/output-cap.ts'
import { planForcedTool, planMessagesReasoning, type ReasoningPlan } from '../dialect/reasoning-plan.ts'
import { convertSampling } from '../dialect/sampling.ts'
import { qualifiesForStrictMessages, toolSchema } from '../dialect/schemas.ts'
import { stopSequences } from '../dialect/stops.ts'
import { planMessagesStructure, REPLY_TOOL } from '../dialect/structure.ts'
import type { ReplyFacts } from '../dialect/types.ts'
import { writeTools } from '../formats/messages/write-tools.ts'
import { writeTurns } from '../formats/messages/write-turns.ts'
import type { JsonObject } from '../lib/json.ts'
import { adaptTools, namesOf, type ToolPlan, withInstruction } from './tool-plan.ts'
import type { TranslationContext } from './translator.ts'

export function writeMessagesRequest(
  request: WritableRequest,
  context: TranslationContext,
): { body: JsonObject; reply: ReplyFacts } {
  const { entry, target } = context
  const { dialect } = target
  const { turns } = request
  const tools = nameOnlyTool(request.tools, dialect.tools)
  const names = namesOf(tools, turns, dialect)
  const hasTools = tools.definitions.length > 0
  const maxTokens = outputCap(request, context)
  const unsignedToolTurn = endsInUnsignedToolTurn(turns)
  const reason = (wanted: ReasoningRequest) =>
    planMessagesReasoning(wanted, dialect.reasoning, { maxTokens, unsignedToolTurn })

  const wantsForce = hasTools && (tools.choice?.mode === 'any' || tools.choice?.mode === 'tool')
  const callable = hasTools && tools.choice?.mode !== 'none'
  const structureForce = dialect.structuredOutput.method === 'tool' && request.structure?.kind === 'schema' && !callable
  const { plan, forced } =
    wantsForce || structureForce
      ? planForcedTool(request.reasoning, dialect, reason)
      : { plan: reason(request.reasoning), forced: false }
  const structure = planMessagesStructure({
    wish: request.structure,
    mode: dialect.structuredOutput.method,
    canForceTool: structureForce && forced,
  })
  const planned: ToolPlan = { tools, names, replyTool: structure.tool, dialect }
  const written = adaptTools(planned, tool => {
    const schema = toolSchema(tool.schema, dialect.tools.schema)
    const strict = tool.strict && dialect.tools.strict === 'pass' && qualifiesForStrictMessages(schema)
    return { ...tool, schema, strict }
  })
  const { system, messages } = writeTurns(withInstruction(turns, structure.instruction), {
    dialect,
    names,
    ids: new UpstreamIds('word'),
    hasVision: entry.capabilities.includes('vision'),
  })
  const stops = stopSequences(request.stopSequences, { field: request.words.stopField, max: dialect.sampling.stopMax })
  const { endUser } = request
  const body: JsonObject = {
    model: target.model,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system }),
    messages,
    ...writeTools(written.tools, { dialect, names: written.names, forced }),
    ...mergeOutputConfig(plan, structure.fields),
    // A model of this format takes no sampling parameters while it reasons.
    ...(!plan.reasons && convertSampling(request.sampling, dialect.sampling, { reasons: false, temperatureMax: 1 })),
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...(endUser !== null &&
      dialect.endUser.field !== null && { metadata: { user_id: endUserId(endUser, dialect.endUser) } }),
    ...(request.tierIsAuto && { service_tier: 'auto' }),
    ...(request.streamed && { stream: true }),
  }
  const reply: ReplyFacts = {
    names,
    replyTool: structure.tool && REPLY_TOOL,
    unwrapsFence: structure.unwrapsFence,
    tag: null,
    hidesUsageChunk: false,
  }
  return { body, reply }
}

function outputCap(
  { outputTokensMax: wanted }: WritableRequest,
  { entry, target, inputTokensEstimate }: TranslationContext,
): number {
  if (wanted !== null)
    return clampOutputTokens(wanted, { outputTokensMax: entry.outputTokensMax, capMin: target.dialect.output.capMin })
  return chosenOutputTokens({
    outputTokensMax: entry.outputTokensMax,
    contextTokens: entry.contextTokens,
    inputTokensEstimate,
  })
}

/** The last assistant turn is part of a tool loop that goes on now, and carries no thinking that its provider signed. */
function endsInUnsignedToolTurn(turns: readonly Turn[]): boolean {
  const lastAssistant = turns.findLastIndex(turn => turn.role === 'assistant')
  const parts = turns[lastAssistant]?.parts ?? []
  if (!parts.some(isCall) || parts.some(part => part.kind === 'reasoning' && part.seal !== null)) return false
  return turns.slice(lastAssistant + 1).some(turn => turn.parts.some(isResult))
}

/** Effort and reply format share one object. */
function mergeOutputConfig(plan: ReasoningPlan, structure: JsonObject): JsonObject {
  const effort = plan.fields.output_config
  const format = structure.output_config
  const both = typeof effort === 'object' && typeof format === 'object'
  return { ...plan.fields, ...structure, ...(both && { output_config: { ...effort, ...format } }) }
}
