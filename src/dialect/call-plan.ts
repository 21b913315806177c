/** Plans reasoning, a forced tool and a JSON reply together, because they limit each other. */

import type { ReasoningRequest } from '../conversation/request.ts'
import { planForcedTool, type ReasoningPlan } from './reasoning-plan.ts'
import { isStructureOurs, type StructureFacts, type StructurePlan } from './structure.ts'
import type { DialectFacts } from './types.ts'

export interface CallPlan<Choice> {
  readonly reasoning: ReasoningPlan
  /** The `tool_choice` to send. */
  readonly choice: Choice
  /** Null: the client's own fields are sent unchanged. */
  readonly structure: StructurePlan | null
}

/** The facts about a call that differ by format. */
export interface CallRequest<Choice> {
  readonly choice: Choice
  /** Whether the choice forces a tool call. */
  readonly forces: boolean
  /** Returns the same choice without forcing a call. */
  readonly unforced: () => Choice
  /** Whether the client has tools that the model may call. */
  readonly callable: boolean
  readonly reason: (request: ReasoningRequest) => ReasoningPlan
  readonly ask: (facts: StructureFacts) => StructurePlan
}

export function planCall<Choice>(facts: DialectFacts, request: CallRequest<Choice>): CallPlan<Choice> {
  const { dialect, road, structure, reasoning } = facts
  const { choice, forces, unforced, callable, reason, ask } = request
  const { method } = dialect.structuredOutput
  const asksHere = isStructureOurs(facts)
  // A same-format reply passes through unchanged, so only a converted reply can be taken from a forced tool's input.
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
