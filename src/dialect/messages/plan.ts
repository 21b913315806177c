/** Decides how a messages request expresses tool choice, reasoning and structured output for the upstream's model. */

import {
  arrayOrEmpty,
  type JsonObject,
  type JsonValue,
  numberOrNull,
  objectOrNull,
  textOrNull,
} from '../../lib/json.ts'
import { type CallPlan, planCall } from '../call-plan.ts'
import { onlyName } from '../forced-choice.ts'
import { BUDGET_TOKENS_MIN, planMessagesReasoning, type ReasoningPlan } from '../reasoning-plan.ts'
import { planMessagesStructure } from '../structure.ts'
import type { DialectFacts } from '../types.ts'
import type { Dialect } from '../words.ts'
import { endsInForeignToolTurn, endsInUnsignedToolTurn } from './thinking.ts'

/**
 * `maxTokens`: the output cap to send. In the result, `choice` is null if the client sent no tool choice, or one that is not an
 * object.
 */
export function planMessages(body: JsonObject, facts: DialectFacts, maxTokens: number): CallPlan<JsonObject | null> {
  const { dialect, formatPath } = facts
  const hasTools = arrayOrEmpty(body.tools).length > 0
  const choice = choiceOf(body, dialect)
  const given = objectOrNull(body.tool_choice)
  return planCall(facts, {
    choice,
    forces: (hasTools || formatPath === 'same') && isForced(choice),
    forcedCall: hasTools && isForced(given) ? { name: textOrNull(given?.name) } : null,
    unforced: () => choice && autoChoice(choice),
    callable: hasTools && choice?.type !== 'none',
    reason(request) {
      const own = request === facts.reasoning ? ownReasoning(body, facts, maxTokens) : null
      if (own !== null) return own
      const unsignedToolTurn = endsInUnsignedToolTurn(body)
      return planMessagesReasoning(request, dialect.reasoning, { maxTokens, unsignedToolTurn })
    },
    ask: planMessagesStructure,
  })
}

function isForced(choice: JsonObject | null): boolean {
  return choice?.type === 'any' || choice?.type === 'tool'
}

/** Returns the client's own reasoning settings if the model accepts them; null if they must be planned. */
function ownReasoning(
  body: JsonObject,
  { dialect, formatPath }: DialectFacts,
  maxTokens: number,
): ReasoningPlan | null {
  if (formatPath === 'converted') return null
  const thinking = objectOrNull(body.thinking)
  if (thinking === null) return { fields: {}, reasons: dialect.reasoning.byDefault }
  if (!takesThinking(thinking, dialect)) return null
  // Another vendor's thinking is removed, and the model cannot go on thinking in a turn that begins without it.
  if (thinking.type === 'enabled' && endsInForeignToolTurn(body)) return { fields: {}, reasons: false }
  return { fields: { thinking: withinCap(thinking, body, maxTokens) }, reasons: thinking.type !== 'disabled' }
}

/** Whether the model accepts this `thinking` from a client unchanged. */
export function takesThinking({ type }: JsonObject, { reasoning }: Dialect): boolean {
  const { parameter } = reasoning
  switch (type) {
    case 'disabled':
      return parameter === 'budget' || (parameter === 'adaptive' && reasoning.disable !== 'refused')
    case 'enabled':
      return parameter === 'budget' || (parameter === 'adaptive' && reasoning.budgetAccepted)
    case 'adaptive':
      return parameter === 'adaptive'
    default:
      // Unknown types may be newer than this code, so the upstream decides.
      return parameter !== null
  }
}

/** Lowers a thinking budget that fitted the client's output cap but does not fit the lowered one. */
function withinCap(thinking: JsonObject, body: JsonObject, maxTokens: number): JsonObject {
  const budget = numberOrNull(thinking.budget_tokens)
  const wanted = numberOrNull(body.max_tokens)
  if (budget === null || wanted === null || budget >= wanted || budget < maxTokens) return thinking
  return { ...thinking, budget_tokens: Math.max(BUDGET_TOKENS_MIN, Math.floor(maxTokens / 2)) }
}

/**
 * Returns the tool choice. If the upstream can only force a tool by name, `any` becomes the name of the only tool or, if there
 * are several tools, `auto`.
 */
function choiceOf({ tools, tool_choice: given }: JsonObject, dialect: Dialect): JsonObject | null {
  const choice = objectOrNull(given)
  if (choice?.type !== 'any' || dialect.tools.forced !== 'named_only') return choice
  const name = onlyName(arrayOrEmpty(tools).map(tool => objectOrNull(tool)?.name))
  return name === null ? autoChoice(choice) : { ...autoChoice(choice), type: 'tool', name }
}

function autoChoice({ disable_parallel_tool_use: flag }: JsonObject): JsonObject {
  return { type: 'auto', ...(flag !== undefined && { disable_parallel_tool_use: flag }) }
}

/** Returns the planned `thinking`, with the client's own setting for how reasoning is displayed. */
export function thinkingFor(given: JsonValue | undefined, { fields }: ReasoningPlan): JsonObject | null {
  const planned = objectOrNull(fields.thinking)
  const own = objectOrNull(given)
  if (planned === null || planned === own || planned.type !== 'adaptive' || own?.display === undefined) return planned
  return { ...planned, display: own.display }
}
