/** Adapts a Responses request to the upstream model's dialect. */

import { type JsonObject, objectOrNull } from '../../lib/json.ts'
import { type CallRewriter, rewriterFor } from '../call-rewriter.ts'
import { withMember, withoutMembers } from '../copy.ts'
import { callInstruction } from '../forced-choice.ts'
import { withResults } from '../results.ts'
import { replyFactsOf, type StructurePlan } from '../structure.ts'
import { findCalls } from '../tool-names.ts'
import type { Adapt, DialectFacts } from '../types.ts'
import { itemsFor, visitCalls, withToolNames } from './calls.ts'
import { withContents } from './content.ts'
import { withoutBareIds, withoutEnvelopes } from './envelopes.ts'
import { withCap, withEndUser, withSampling } from './fields.ts'
import { planResponses } from './plan.ts'
import { withEcho, withReasoning } from './reasoning.ts'
import { RESULTS } from './results.ts'
import { withReplyTool, withTools } from './tools.ts'
import { placed, withInstruction, withRoles } from './turns.ts'

export const adaptResponses: Adapt = (given, facts) => {
  const { dialect } = facts
  const found = findCalls(given, facts, visitCalls)
  const { names } = found
  const { reasoning, choice, unforcedCall, structure } = planResponses(given, facts)
  const rewriter = rewriterFor(found, dialect.tools.callId)
  let body = withInput(given, facts, rewriter)
  body = withTools(body, choice, facts)
  if (names !== null) body = withToolNames(body, names)
  body = withStructure(body, structure, dialect.turns)
  if (unforcedCall !== null) body = withInstruction(body, callInstruction(unforcedCall, names), dialect.turns)
  body = withReasoning(body, facts, reasoning)
  body = withSampling(body, dialect, reasoning.reasons)
  body = withCap(body, facts)
  body = withEndUser(body, dialect)
  return { body, betas: [], reply: replyFactsOf(names, structure) }
}

function withInput(body: JsonObject, facts: DialectFacts, rewriter: CallRewriter | null): JsonObject {
  if (!Array.isArray(body.input)) return body
  const { turns, tools, reasoning } = facts.dialect
  // Adapt contents first: error messages give the client's item indexes, which change once items are removed.
  let items = withContents(body.input, facts)
  items = withoutEnvelopes(items, facts)
  if (body.store === false) items = withoutBareIds(items, facts)
  items = withRoles(items, turns)
  items = withEcho(items, reasoning, facts.formatPath)
  items = withResults(items, tools.resultImages, RESULTS)
  if (rewriter !== null) items = itemsFor(items, rewriter)
  return withMember(body, 'input', placed(items, turns))
}

function withStructure(
  body: JsonObject,
  plan: StructurePlan | null,
  turns: DialectFacts['dialect']['turns'],
): JsonObject {
  if (plan === null) return body
  const text = objectOrNull(body.text) ?? {}
  const format = formatOf(objectOrNull(plan.fields.response_format))
  const asked = format === null ? withoutMembers(text, ['format']) : withMember(text, 'format', format)
  const isEmpty = Object.keys(asked).length === 0
  const formatted = isEmpty ? withoutMembers(body, ['text']) : withMember(body, 'text', asked)
  const instructed = plan.instruction === null ? formatted : withInstruction(formatted, plan.instruction, turns)
  return plan.tool === null ? instructed : withReplyTool(instructed, plan.tool)
}

/** Turns a Chat `response_format` into a Responses `text.format`, where the members of `json_schema` stand next to `type`. */
function formatOf(format: JsonObject | null): JsonObject | null {
  const schema = objectOrNull(format?.json_schema)
  return schema === null ? format : { type: 'json_schema', strict: false, ...schema }
}
