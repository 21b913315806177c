/** Adapts a messages request to the dialect. */

import { refuseThread } from '../../formats/messages/threads.ts'
import { isObject, type JsonObject, type JsonValue, memberOf, objectOrNull } from '../../lib/json.ts'
import { planBetas } from '../betas.ts'
import { type CallRewriter, rewriterFor } from '../call-rewriter.ts'
import { mapList, withMember, withoutMembers } from '../copy.ts'
import { callInstruction } from '../forced-choice.ts'
import { replyFactsOf, type StructurePlan } from '../structure.ts'
import { findCalls } from '../tool-names.ts'
import { type Adapt, type DialectFacts, dropsCacheBreakpoints } from '../types.ts'
import { withoutCacheBreakpoints } from './cache-breakpoints.ts'
import { contentFor, visitCalls, withToolNames } from './calls.ts'
import { asksOfContent, withContent, withTitles } from './content.ts'
import { capFor, withConfig, withEndUser, withReasoning, withSampling, withStops } from './fields.ts'
import { planMessages } from './plan.ts'
import { withoutForeignThinking } from './thinking.ts'
import { withinStrictLimits, withReplyTool, withTools } from './tools.ts'
import { placed, withInstruction } from './turns.ts'

export const adaptMessages: Adapt = (given, facts) => {
  const { dialect } = facts
  if (!dialect.turns.threads) refuseThread(given)
  const found = findCalls(given, facts, visitCalls)
  const { names } = found
  const cap = capFor(given, facts)
  const { reasoning, choice, unforcedCall, structure } = planMessages(given, facts, cap ?? 0)
  let body = cap === null ? given : withMember(given, 'max_tokens', cap)
  if (dropsCacheBreakpoints(facts)) body = withoutCacheBreakpoints(body)
  if (Array.isArray(body.messages)) {
    const rewriter = rewriterFor(found, dialect.tools.callId)
    body = withMember(body, 'messages', messagesFor(body.messages, facts, rewriter))
  }
  body = withTools(body, choice, facts)
  if (names !== null) body = withToolNames(body, names)
  body = withReasoning(body, facts, reasoning)
  body = withinStrictLimits(withStructure(body, structure, facts), facts)
  if (unforcedCall !== null) body = withInstruction(body, callInstruction(unforcedCall, names))
  body = placed(body, facts)
  body = withSampling(body, facts, reasoning.reasons)
  body = withStops(body, facts)
  body = withEndUser(body, dialect)
  return { ...planBetas(body, facts.betas, dialect.betas), reply: replyFactsOf(names, structure) }
}

function messagesFor(given: readonly JsonValue[], facts: DialectFacts, rewriter: CallRewriter | null): JsonValue[] {
  const asks = asksOfContent(facts)
  const everyRole = asks || rewriter !== null || facts.formatPath === 'converted'
  return mapList(given, (message, index) => {
    if (!everyRole && memberOf(message, 'role') !== 'assistant') return message
    if (!isObject(message) || !Array.isArray(message.content)) return message
    let content: JsonValue | undefined = message.content
    if (message.role === 'assistant') content = withoutForeignThinking(content)
    if (asks) content = withContent(content, facts.place(index), facts)
    if (rewriter !== null) content = contentFor(content, rewriter)
    if (facts.formatPath === 'converted') content = withTitles(content)
    return content === undefined ? message : withMember(message, 'content', content)
  })
}

function withStructure(body: JsonObject, plan: StructurePlan | null, facts: DialectFacts): JsonObject {
  if (plan === null) return body
  const format = objectOrNull(plan.fields.output_config)?.format
  const config = objectOrNull(body.output_config) ?? {}
  const asked = format === undefined ? withoutMembers(config, ['format']) : withMember(config, 'format', format)
  const configured = withoutMembers(withConfig(body, asked), ['output_format'])
  const instructed = plan.instruction === null ? configured : withInstruction(configured, plan.instruction)
  return plan.tool === null ? instructed : withReplyTool(instructed, plan.tool, facts)
}
