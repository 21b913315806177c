/** Adapts a Chat Completions request to the upstream model's dialect. */

import { isObject, type JsonObject, type JsonValue, memberOf } from '../../lib/json.ts'
import { type CallRewriter, rewriterFor } from '../call-rewriter.ts'
import { mapList, withMember, withoutMembers } from '../copy.ts'
import { callInstruction } from '../forced-choice.ts'
import { withResults } from '../results.ts'
import { replyFactsOf, type StructurePlan } from '../structure.ts'
import { findCalls } from '../tool-names.ts'
import { type Adapt, type DialectFacts, dropsCacheBreakpoints } from '../types.ts'
import { withoutCacheBreakpoints } from './cache-breakpoints.ts'
import { messageFor, visitCalls, withArguments, withToolNames } from './calls.ts'
import { contentRules, withContent } from './content.ts'
import { wantsUsage, withCap, withEndUser, withSampling, withStops, withUsage } from './fields.ts'
import { withEcho, withoutEnvelopes, withSignature } from './history.ts'
import { planChat } from './plan.ts'
import { withReasoning } from './reasoning.ts'
import { RESULTS } from './results.ts'
import { withReplyTool, withTools } from './tools.ts'
import { placed, withInstruction, withPrefill } from './turns.ts'

export const adaptChat: Adapt = (given, facts) => {
  const { dialect } = facts
  const found = findCalls(given, facts, visitCalls)
  const { names } = found
  const { reasoning, choice, unforcedCall, structure } = planChat(given, facts)
  const rewriter = rewriterFor(found, dialect.tools.callId)
  let body = given
  if (Array.isArray(body.messages)) {
    const instructions = [
      ...(structure?.instruction ? [structure.instruction] : []),
      ...(unforcedCall === null ? [] : [callInstruction(unforcedCall, names)]),
    ]
    const messages = messagesFor(body.messages, { facts, rewriter, instructions })
    body = withMember(body, 'messages', messages)
  }
  body = withCap(body, facts)
  body = withTools(body, choice, facts)
  if (names !== null) body = withToolNames(body, names)
  body = withStructure(body, structure)
  body = withReasoning(body, dialect, reasoning)
  body = withSampling(body, dialect, reasoning.reasons)
  body = withStops(body, facts)
  body = withEndUser(body, dialect)
  body = withUsage(body, dialect)
  const hidesUsageChunk = given.stream === true && !wantsUsage(given)
  return { body, betas: [], reply: replyFactsOf(names, structure, { tag: dialect.reasoning.tag, hidesUsageChunk }) }
}

interface MessagePlan {
  readonly facts: DialectFacts
  /** Rewrites the names and ids of tool calls; null if all can stay. */
  readonly rewriter: CallRewriter | null
  readonly instructions: readonly string[]
}

function messagesFor(given: readonly JsonValue[], { facts, rewriter, instructions }: MessagePlan): JsonValue[] {
  const { turns, tools, reasoning } = facts.dialect
  const rules = contentRules(facts)
  const drops = dropsCacheBreakpoints(facts)
  const everyRole = drops || rules !== null
  const system = turns.systemRole === 'system' ? 'system' : 'developer'
  const each = mapList(given, (message, index) => {
    if (!everyRole && memberOf(message, 'role') === 'user') return message
    if (!isObject(message)) return message
    let changed = drops ? withoutCacheBreakpoints(message) : message
    if (rules !== null) changed = withContent(changed, facts.place(index), rules)
    switch (message.role) {
      case 'assistant':
        if (tools.arguments === 'object') changed = withArguments(changed)
        changed = withSignature(withEcho(withoutEnvelopes(changed), reasoning), tools.signature)
        return rewriter === null ? changed : messageFor(changed, rewriter)
      case 'tool':
      case 'function':
        return rewriter === null ? changed : messageFor(changed, rewriter)
      case 'developer':
        return withMember(changed, 'role', system)
      case 'system':
        // Hosts that know the role `developer` also accept `system`, so same-format clients keep the role they chose.
        return facts.formatPath === 'converted' ? withMember(changed, 'role', system) : changed
      default:
        return changed
    }
  })
  const instructed = instructions.reduce((messages, text) => withInstruction(messages, text, turns), each)
  return withPrefill(placed(withResults(instructed, tools.resultImages, RESULTS), turns), turns, facts.formatPath)
}

function withStructure(body: JsonObject, structure: StructurePlan | null): JsonObject {
  if (structure === null) return body
  const { response_format: format } = structure.fields
  const asked =
    format === undefined ? withoutMembers(body, ['response_format']) : withMember(body, 'response_format', format)
  return structure.tool === null ? asked : withReplyTool(asked, structure.tool)
}
