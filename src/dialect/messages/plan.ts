/** What reasoning, a forced tool and a JSON reply come to in one messages call: each depends on the others. */

import type { ReasoningRequest } from '../../conversation/request.ts'
import { arrayOrEmpty, type JsonObject, type JsonValue, numberOrNull, objectOrNull } from '../../lib/json.ts'
import { onlyName } from '../forced-choice.ts'
import { BUDGET_TOKENS_MIN, planForcedTool, planMessagesReasoning, type ReasoningPlan } from '../reasoning-plan.ts'
import { planMessagesStructure, type StructurePlan } from '../structure.ts'
import type { DialectFacts } from '../types.ts'
import type { Dialect } from '../words.ts'
import { endsInUnsignedToolTurn } from './thinking.ts'

export interface MessagesPlan {
  readonly reasoning: ReasoningPlan
  /** `tool_choice`; null: none, or one that is no object. */
  readonly choice: JsonObject | null
  /** null: the client's own words for it go up. */
  readonly structure: StructurePlan | null
}

/** `maxTokens`: the cap that is sent. */
export function planMessages(body: JsonObject, facts: DialectFacts, maxTokens: number): MessagesPlan {
  const { dialect, road } = facts
  const hasTools = arrayOrEmpty(body.tools).length > 0
  const choice = choiceOf(body, dialect)
  const forces = (hasTools || road === 'same') && (choice?.type === 'any' || choice?.type === 'tool')
  const method = dialect.structuredOutput.method
  const callable = hasTools && choice?.type !== 'none'
  const repliesByTool = road === 'converted' && facts.structure?.kind === 'schema' && method === 'tool' && !callable
  const reason = (wanted: ReasoningRequest): ReasoningPlan => {
    const own = wanted === facts.reasoning ? ownReasoning(body, facts, maxTokens) : null
    if (own !== null) return own
    const unsignedToolTurn = endsInUnsignedToolTurn(body)
    return planMessagesReasoning(wanted, dialect.reasoning, { maxTokens, unsignedToolTurn })
  }
  const { plan, forced } =
    forces || repliesByTool
      ? planForcedTool(facts.reasoning, dialect, reason)
      : { plan: reason(facts.reasoning), forced: false }
  return {
    reasoning: plan,
    choice: forces && !forced && choice !== null ? autoChoice(choice) : choice,
    structure: planStructure(facts, repliesByTool && forced),
  }
}

/** What the client wrote in this very format, where the model takes it so; null where it must be planned. */
function ownReasoning(body: JsonObject, { dialect, road }: DialectFacts, maxTokens: number): ReasoningPlan | null {
  if (road === 'converted') return null
  const thinking = objectOrNull(body.thinking)
  if (thinking === null) return { fields: {}, reasons: dialect.reasoning.byDefault }
  if (!takesThinking(thinking, dialect)) return null
  return { fields: { thinking: withinCap(thinking, body, maxTokens) }, reasons: thinking.type !== 'disabled' }
}

function takesThinking({ type }: JsonObject, { reasoning }: Dialect): boolean {
  const { parameter } = reasoning
  switch (type) {
    case 'disabled':
      return parameter === 'budget' || (parameter === 'adaptive' && reasoning.disable !== 'refused')
    case 'enabled':
      return parameter === 'budget' || (parameter === 'adaptive' && reasoning.budgetAccepted)
    case 'adaptive':
      return parameter === 'adaptive'
    default:
      // Kinds that came later are the upstream's to judge.
      return parameter !== null
  }
}

/** A budget that the client's cap allowed stays below the cap that is sent. */
function withinCap(thinking: JsonObject, body: JsonObject, maxTokens: number): JsonObject {
  const budget = numberOrNull(thinking.budget_tokens)
  const wanted = numberOrNull(body.max_tokens)
  if (budget === null || wanted === null || budget >= wanted || budget < maxTokens) return thinking
  return { ...thinking, budget_tokens: Math.max(BUDGET_TOKENS_MIN, Math.floor(maxTokens / 2)) }
}

/** The choice; where only a named tool can be forced, the only one there is gets named. */
function choiceOf({ tools, tool_choice: given }: JsonObject, dialect: Dialect): JsonObject | null {
  const choice = objectOrNull(given)
  if (choice?.type !== 'any' || dialect.tools.forced !== 'named_only') return choice
  const name = onlyName(arrayOrEmpty(tools).map(tool => objectOrNull(tool)?.name))
  return name === null ? autoChoice(choice) : { ...autoChoice(choice), type: 'tool', name }
}

function autoChoice({ disable_parallel_tool_use: flag }: JsonObject): JsonObject {
  return { type: 'auto', ...(flag !== undefined && { disable_parallel_tool_use: flag }) }
}

/** In the same format the reply passes through, so it cannot be the input of a forced tool. */
function planStructure({ road, structure, dialect }: DialectFacts, canForceTool: boolean): StructurePlan | null {
  const { method } = dialect.structuredOutput
  const isKnown = method === 'native' || method === 'json_schema'
  if (structure === null || (road === 'same' && isKnown)) return null
  return planMessagesStructure({ request: structure, mode: method, canForceTool })
}

/** The switch as it is sent: the planned one, with the client's own request for what is shown of the reasoning. */
export function thinkingFor(given: JsonValue | undefined, { fields }: ReasoningPlan): JsonObject | null {
  const planned = objectOrNull(fields.thinking)
  const own = objectOrNull(given)
  if (planned === null || planned === own || planned.type !== 'adaptive' || own?.display === undefined) return planned
  return { ...planned, display: own.display }
}
