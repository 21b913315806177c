/** A request as a chat upstream takes it. */

import type { WritableRequest } from '../conversation/format.ts'
import { UpstreamIds } from '../conversation/names.ts'
import type { ReasoningRequest } from '../conversation/request.ts'
import { endUserId } from '../dialect/end-user.ts'
import { nameOnlyTool } from '../dialect/forced-choice.ts'
import { clampOutputTokens } from '../dialect/output-cap.ts'
import { planChatReasoning, planForcedTool } from '../dialect/reasoning-plan.ts'
import { convertSampling } from '../dialect/sampling.ts'
import { qualifiesForStrictChat, toolSchema } from '../dialect/schemas.ts'
import { stopSequences } from '../dialect/stops.ts'
import { planChatStructure, REPLY_TOOL } from '../dialect/structure.ts'
import type { ReplyFacts } from '../dialect/types.ts'
import { writeTools } from '../formats/chat/write-tools.ts'
import { writeTurns } from '../formats/chat/write-turns.ts'
import type { JsonObject } from '../lib/json.ts'
import { adaptTools, namesOf, type ToolPlan, withInstruction } from './tool-plan.ts'
import type { TranslationContext } from './translator.ts'

export function writeChatRequest(
  request: WritableRequest,
  { entry, target }: TranslationContext,
): { body: JsonObject; reply: ReplyFacts } {
  const { dialect } = target
  const { turns, streamed: stream } = request
  const tools = nameOnlyTool(request.tools, dialect.tools)
  const names = namesOf(tools, turns, dialect)
  const hasTools = tools.definitions.length > 0
  const reason = (wanted: ReasoningRequest) => planChatReasoning(wanted, dialect.reasoning, { stream, hasTools })

  const wantsForce = hasTools && (tools.choice?.mode === 'any' || tools.choice?.mode === 'tool')
  const callable = hasTools && tools.choice?.mode !== 'none'
  const structureForce = request.structure !== null && dialect.structuredOutput.method === 'tool' && !callable
  const { plan, forced } =
    wantsForce || structureForce
      ? planForcedTool(request.reasoning, dialect, reason)
      : { plan: reason(request.reasoning), forced: false }
  const structure = planChatStructure({
    wish: request.structure,
    mode: dialect.structuredOutput.method,
    canForceTool: structureForce && forced,
  })
  const planned: ToolPlan = { tools, names, replyTool: structure.tool, dialect }
  const written = adaptTools(planned, tool => {
    const schema = toolSchema(tool.schema, dialect.tools.schema)
    return { ...tool, schema, strict: tool.strict && dialect.tools.strict === 'pass' && qualifiesForStrictChat(schema) }
  })
  const ids = new UpstreamIds(dialect.tools.callId)
  const hasVision = entry.capabilities.includes('vision')
  const stops = stopSequences(request.stopSequences, { field: request.words.stopField, max: dialect.sampling.stopMax })
  const { capField, capMin } = dialect.output
  const { outputTokensMax: wanted } = request
  const { field, lengthMax, characters } = dialect.endUser
  const body: JsonObject = {
    model: target.model,
    messages: writeTurns(withInstruction(turns, structure.instruction), { dialect, names, ids, hasVision }),
    ...(wanted !== null && {
      [capField]: clampOutputTokens(wanted, { outputTokensMax: entry.outputTokensMax, capMin }),
    }),
    ...writeTools(written.tools, { dialect, names: written.names, forced }),
    ...plan.fields,
    ...structure.fields,
    ...convertSampling(request.sampling, dialect.sampling, {
      reasons: plan.reasons,
      temperatureMax: dialect.sampling.temperatureMax,
    }),
    ...(stops.length > 0 && { stop: stops }),
    ...(request.endUser !== null &&
      field !== null && { [field]: endUserId(request.endUser, { lengthMax, characters }) }),
    ...(stream && { stream: true, ...(dialect.usage.streamOptions && { stream_options: { include_usage: true } }) }),
  }
  const reply: ReplyFacts = {
    names,
    replyTool: structure.tool && REPLY_TOOL,
    unwrapsFence: structure.unwrapsFence,
    tag: dialect.reasoning.tag,
    hidesUsageChunk: false,
  }
  return { body, reply }
}
