/** What reasoning, a forced tool and a JSON reply come to in one call: each depends on the others. */

import type { ReasoningRequest } from '../conversation/request.ts'
import { planForcedTool, type ReasoningPlan } from './reasoning-plan.ts'
import { isStructureOurs, type StructureFacts, type StructurePlan } from './structure.ts'
import type { DialectFacts } from './types.ts'

export interface CallPlan<Choice> {
  readonly reasoning: ReasoningPlan
  /** `tool_choice`. */
  readonly choice: Choice
  /** null: the client's own words for it go up. */
  readonly structure: StructurePlan | null
}

/** What a format says of the call. */
export interface CallRequest<Choice> {
  readonly choice: Choice
  /** The choice makes the model call a tool. */
  readonly forces: boolean
  /** The same choice without the force. */
  readonly unforced: () => Choice
  /** The client has tools that the model may call. */
  readonly callable: boolean
  readonly reason: (request: ReasoningRequest) => ReasoningPlan
  readonly ask: (facts: StructureFacts) => StructurePlan
}

export function planCall<Choice>(facts: DialectFacts, request: CallRequest<Choice>): CallPlan<Choice> {
  const { dialect, road, structure, reasoning } = facts
  const { choice, forces, unforced, callable, reason, ask } = request
  const { method } = dialect.structuredOutput
  const asksHere = isStructureOurs(facts)
  // In the same format the reply passes through, so it cannot be the input of a forced tool.
  const repliesByTool =
    asksHere && road === 'converted' && structure?.kind === 'schema' && method === 'tool' && !callable
  const { plan, forced } =
    forces || repliesByTool ? planForcedTool(reasoning, dialect, reason) : { plan: reason(reasoning), forced: false }
  return {
    reasoning: plan,
    choice: forces && !forced ? unforced() : choice,
    structure: asksHere ? ask({ request: structure, mode: method, canForceTool: repliesByTool && forced }) : null,
  }
}
