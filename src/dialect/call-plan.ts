/** Plans reasoning, a forced tool call and a JSON reply together, because each limits the others. */

import type { ReasoningRequest } from '../conversation/request.ts'
import type { UnforcedCall } from './forced-choice.ts'
import { planForcedTool, type ReasoningPlan } from './reasoning-plan.ts'
import { isStructureOurs, type StructureFacts, type StructurePlan } from './structure.ts'
import type { DialectFacts } from './types.ts'

export interface CallPlan<Choice> {
  readonly reasoning: ReasoningPlan
  /** The `tool_choice` to send. */
  readonly choice: Choice
  /** The call that the client forces, if `choice` does not; otherwise null. */
  readonly unforcedCall: UnforcedCall | null
  /** Plan for requesting a JSON reply; null to send the client's own fields unchanged. */
  readonly structure: StructurePlan | null
}

/** The parts of a call that each format reads and plans in its own way. */
export interface CallRequest<Choice> {
  readonly choice: Choice
  /** Whether the choice forces a tool call. */
  readonly forces: boolean
  /** The call that the client's own choice forces; null for none. */
  readonly forcedCall: UnforcedCall | null
  /** Returns a choice that leaves it to the model whether to call a tool. */
  readonly unforced: () => Choice
  /** Whether the client has tools that the model may call. */
  readonly callable: boolean
  readonly reason: (request: ReasoningRequest) => ReasoningPlan
  readonly ask: (facts: StructureFacts) => StructurePlan
}

export function planCall<Choice>(facts: DialectFacts, request: CallRequest<Choice>): CallPlan<Choice> {
  const { dialect, formatPath, structure, reasoning } = facts
  const { choice, forces, forcedCall, unforced, callable, reason, ask } = request
  const { method } = dialect.structuredOutput
  const asksHere = isStructureOurs(facts)
  // Forcing a tool to get JSON only works if the reply is converted, which turns the tool's input into the reply's text.
  // Same-format replies pass through unchanged.
  const repliesByTool =
    asksHere && formatPath === 'converted' && structure?.kind === 'schema' && method === 'tool' && !callable
  const { plan, forced } =
    forces || repliesByTool ? planForcedTool(reasoning, dialect, reason) : { plan: reason(reasoning), forced: false }
  return {
    reasoning: plan,
    choice: forces && !forced ? unforced() : choice,
    unforcedCall: forces && forced ? null : forcedCall,
    structure: asksHere ? ask({ request: structure, mode: method, canForceTool: repliesByTool && forced }) : null,
  }
}
