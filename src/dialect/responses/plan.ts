/** Decides which tool choice, reasoning settings and JSON output settings to send in a responses request. */

import { nearestLevel } from '../../conversation/reasoning-request.ts'
import type { ReasoningRequest } from '../../conversation/request.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { type CallPlan, planCall } from '../call-plan.ts'
import { onlyName } from '../forced-choice.ts'
import { effortOf, type ReasoningPlan } from '../reasoning-plan.ts'
import { planChatStructure } from '../structure.ts'
import type { DialectFacts } from '../types.ts'
import type { DialectReasoning } from '../words.ts'

/**
 * In the result, `reasoning.fields` are members of the body's `reasoning`, and an undefined `choice` means that no tool choice is
 * sent.
 */
export function planResponses(body: JsonObject, facts: DialectFacts): CallPlan<JsonValue | undefined> {
  const { dialect } = facts
  const hasTools = arrayOrEmpty(body.tools).length > 0
  const choice = dialect.tools.forced === 'named_only' && hasTools ? namedChoice(body) : body.tool_choice
  return planCall(facts, {
    choice,
    forces: hasTools && isForced(choice),
    forcedCall:
      hasTools && isForced(body.tool_choice) ? { name: textOrNull(objectOrNull(body.tool_choice)?.name) } : null,
    unforced: () => unforced(choice),
    callable: hasTools && choice !== 'none',
    reason: request => planReasoning(request, dialect.reasoning, hasTools),
    ask: planChatStructure,
  })
}

/** Plans the effort, which controls all reasoning in this format; `none` switches reasoning off. */
function planReasoning(request: ReasoningRequest, reasoning: DialectReasoning, hasTools: boolean): ReasoningPlan {
  const { parameter, levels, byDefault } = reasoning
  const unsaid: ReasoningPlan = { fields: {}, reasons: byDefault }
  if (parameter === null) return unsaid
  if (hasTools && reasoning.besideTools === 'explicit_none') return { fields: { effort: 'none' }, reasons: false }
  if (hasTools && reasoning.besideTools === 'refused') return unsaid
  const effort = request.wanted === false ? 'none' : effortOf(request, reasoning)
  if (effort === null) return { fields: {}, reasons: request.wanted ?? byDefault }
  // A model whose reasoning can be switched off in another format accepts `none` here, even if it is not among the levels.
  const hasSwitch = parameter !== 'reasoning_effort' && reasoning.disable !== 'refused'
  const level = effort === 'none' && hasSwitch ? effort : nearestLevel(effort, levels)
  return level === null ? unsaid : { fields: { effort: level }, reasons: level !== 'none' }
}

function isForced(choice: JsonValue | undefined): boolean {
  if (!isObject(choice)) return choice === 'required'
  return choice.type === 'function' || choice.type === 'custom' || isRequiredSet(choice)
}

function isRequiredSet({ type, mode }: JsonObject): boolean {
  return type === 'allowed_tools' && mode === 'required'
}

function unforced(choice: JsonValue | undefined): JsonValue {
  return isObject(choice) && isRequiredSet(choice) ? { ...choice, mode: 'auto' } : 'auto'
}

/**
 * Returns the tool choice for upstreams that can only force a tool by name. `required` becomes the name of the only tool or, if
 * there are several tools, `auto`.
 */
function namedChoice({ tools, tool_choice: choice }: JsonObject): JsonValue | undefined {
  if (isObject(choice) && isRequiredSet(choice)) return unforced(choice)
  if (choice !== 'required') return choice
  const given = arrayOrEmpty(tools).map(objectOrNull)
  const name = onlyName(given.map(tool => tool?.name))
  return name === null ? 'auto' : { type: given[0]?.type === 'custom' ? 'custom' : 'function', name }
}
