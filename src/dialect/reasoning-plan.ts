/** Plans the reasoning fields of an upstream's body from the client's reasoning settings and the model's dialect. */

import { nearestLevel } from '../conversation/reasoning-request.ts'
import type { ReasoningRequest } from '../conversation/request.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Dialect, DialectReasoning, EffortLevel } from './words.ts'

/** Smallest thinking budget that upstreams accept, in tokens. */
export const BUDGET_TOKENS_MIN = 1_024

export interface ReasoningPlan {
  /** Reasoning fields of the upstream's body. `output_config` contains only the effort. */
  readonly fields: JsonObject
  readonly reasons: boolean
}

const NOTHING: JsonObject = {}
const SHOWN: JsonObject = { type: 'adaptive', display: 'summarized' }
const OFF: ReasoningRequest = { wanted: false, effort: null, budgetTokens: null, shown: null }

export interface ChatCircumstances {
  readonly stream: boolean
  readonly hasTools: boolean
}

export function planChatReasoning(
  request: ReasoningRequest,
  reasoning: DialectReasoning,
  { stream, hasTools }: ChatCircumstances,
): ReasoningPlan {
  const effort = effortOf(request, reasoning)
  switch (reasoning.parameter) {
    case 'reasoning_effort': {
      if (hasTools && reasoning.besideTools === 'explicit_none') return off({ reasoning_effort: 'none' })
      if (hasTools && reasoning.besideTools === 'refused') return { fields: NOTHING, reasons: reasoning.byDefault }
      if (request.wanted === false) return leastEffort(reasoning)
      const level = effort && nearestLevel(effort, reasoning.levels)
      if (level === null) return { fields: NOTHING, reasons: reasoning.byDefault }
      return { fields: { reasoning_effort: level }, reasons: level !== 'none' }
    }
    case 'thinking_type': {
      if (request.wanted === false) {
        return reasoning.disable === 'refused' ? leastEffort(reasoning) : off({ thinking: { type: 'disabled' } })
      }
      if (request.wanted === null) return { fields: NOTHING, reasons: reasoning.byDefault }
      const level = effort && nearestLevel(effort, reasoning.levels)
      // A model that always reasons accepts an effort but no switch.
      const thinking = reasoning.disable === 'refused' ? {} : { thinking: { type: 'enabled' } }
      return { fields: { ...thinking, ...(level !== null && { reasoning_effort: level }) }, reasons: true }
    }
    case 'enable_thinking': {
      if (reasoning.streamOnly && !stream) return off({ enable_thinking: false })
      if (request.wanted === false) {
        return reasoning.disable === 'refused' ? { fields: NOTHING, reasons: true } : off({ enable_thinking: false })
      }
      if (request.wanted === null) return { fields: NOTHING, reasons: reasoning.byDefault }
      const budget = request.budgetTokens ?? (request.effort && budgetOf(request.effort, reasoning))
      const field = reasoning.budgetField === 'thinking_budget' && budget !== null ? { thinking_budget: budget } : {}
      return { fields: { enable_thinking: true, ...field }, reasons: true }
    }
    default:
      return { fields: NOTHING, reasons: reasoning.byDefault }
  }
}

export interface MessagesCircumstances {
  /** The request's `max_tokens`. A thinking budget must be below it. */
  readonly maxTokens: number
  /**
   * Whether the last assistant turn has tool calls without signed thinking. Models with budgets refuse to think after such a
   * turn.
   */
  readonly unsignedToolTurn: boolean
}

export function planMessagesReasoning(
  request: ReasoningRequest,
  reasoning: DialectReasoning,
  circumstances: MessagesCircumstances,
): ReasoningPlan {
  switch (reasoning.parameter) {
    case 'budget': {
      if (request.wanted === false && reasoning.byDefault) return off({ thinking: { type: 'disabled' } })
      if (request.wanted !== true) return { fields: NOTHING, reasons: reasoning.byDefault }
      return withBudget(request, reasoning, circumstances)
    }
    case 'adaptive': {
      if (request.wanted === false) {
        return reasoning.disable === 'refused' ? leastEffort(reasoning) : off({ thinking: { type: 'disabled' } })
      }
      const shows = reasoning.display === 'on_request' && request.shown !== false
      if (request.wanted === null) {
        // Asking to see the reasoning does not turn it on, but without `thinking`, a model that reasons anyway hides it.
        const isAsked = shows && request.shown === true && reasoning.byDefault
        return { fields: isAsked ? { thinking: SHOWN } : NOTHING, reasons: reasoning.byDefault }
      }
      if (request.effort === null && request.budgetTokens !== null && reasoning.budgetAccepted) {
        return withBudget(request, reasoning, circumstances)
      }
      const effort = effortOf(request, reasoning)
      const level = effort && nearestLevel(effort, reasoning.levels)
      const thinking = shows ? SHOWN : { type: 'adaptive' }
      return { fields: { thinking, ...(level !== null && { output_config: { effort: level } }) }, reasons: true }
    }
    default:
      return { fields: NOTHING, reasons: reasoning.byDefault }
  }
}

function withBudget(
  request: ReasoningRequest,
  reasoning: DialectReasoning,
  { maxTokens, unsignedToolTurn }: MessagesCircumstances,
): ReasoningPlan {
  const wanted = request.budgetTokens ?? budgetOf(request.effort ?? 'medium', reasoning)
  const budget = Math.min(Math.max(wanted, BUDGET_TOKENS_MIN), maxTokens - 1)
  if (unsignedToolTurn || budget < BUDGET_TOKENS_MIN) return { fields: NOTHING, reasons: false }
  return { fields: { thinking: { type: 'enabled', budget_tokens: budget } }, reasons: true }
}

export function canSwitchOff(reasoning: DialectReasoning): boolean {
  switch (reasoning.parameter) {
    case null:
      return false
    case 'reasoning_effort':
      return reasoning.levels?.includes('none') === true
    default:
      return reasoning.disable !== 'refused'
  }
}

/**
 * Plans a forced tool call. If the model refuses forced calls while it reasons, reasoning is switched off if possible; otherwise
 * the call is not forced.
 */
export function planForcedTool(
  request: ReasoningRequest,
  dialect: Pick<Dialect, 'tools' | 'reasoning'>,
  plan: (request: ReasoningRequest) => ReasoningPlan,
): { plan: ReasoningPlan; forced: boolean } {
  const planned = plan(request)
  if (dialect.tools.forced === 'refused') return { plan: planned, forced: false }
  // There is nothing left to plan: the caller has replaced a choice of `required` with the name of the only tool or, if there
  // are several tools, with `auto`.
  if (dialect.tools.forced === 'named_only') return { plan: planned, forced: true }
  if (dialect.tools.forced === 'accepted' || !planned.reasons) return { plan: planned, forced: true }
  if (!canSwitchOff(dialect.reasoning)) return { plan: planned, forced: false }
  return { plan: plan(OFF), forced: true }
}

function off(fields: JsonObject): ReasoningPlan {
  return { fields, reasons: false }
}

/** Returns the lowest effort, for models whose reasoning cannot be switched off. */
function leastEffort(reasoning: DialectReasoning): ReasoningPlan {
  const level = nearestLevel('none', reasoning.levels)
  if (level === null) return { fields: NOTHING, reasons: reasoning.byDefault }
  const messages = reasoning.parameter === 'adaptive'
  return {
    fields: messages ? { output_config: { effort: level } } : { reasoning_effort: level },
    reasons: level !== 'none',
  }
}

export function effortOf(request: ReasoningRequest, reasoning: DialectReasoning): EffortLevel | null {
  if (request.effort !== null) return request.effort
  if (request.budgetTokens === null) return null
  if (request.budgetTokens < reasoning.budgetFloors.medium) return 'low'
  return request.budgetTokens < reasoning.budgetFloors.high ? 'medium' : 'high'
}

function budgetOf(effort: EffortLevel, { budgets }: DialectReasoning): number {
  switch (effort) {
    case 'none':
    case 'minimal':
    case 'low':
      return budgets.low
    case 'medium':
      return budgets.medium
    default:
      return budgets.high
  }
}
