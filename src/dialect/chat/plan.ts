/** What reasoning, a forced tool and a JSON reply come to in one chat call: each depends on the others. */

import type { ReasoningRequest } from '../../conversation/request.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull } from '../../lib/json.ts'
import { onlyName } from '../forced-choice.ts'
import { planChatReasoning, planForcedTool, type ReasoningPlan } from '../reasoning-plan.ts'
import { isStructureOurs, planChatStructure, type StructurePlan } from '../structure.ts'
import type { DialectFacts } from '../types.ts'

export interface ChatPlan {
  readonly reasoning: ReasoningPlan
  /** `tool_choice`; undefined: none. */
  readonly choice: JsonValue | undefined
  /** null: the client's own words for it go up. */
  readonly structure: StructurePlan | null
}

export function planChat(body: JsonObject, facts: DialectFacts): ChatPlan {
  const { dialect } = facts
  const hasTools = arrayOrEmpty(body.tools).length > 0
  const circumstances = { stream: body.stream === true, hasTools }
  const reason = (wanted: ReasoningRequest) => planChatReasoning(wanted, dialect.reasoning, circumstances)
  const choice = dialect.tools.forced === 'named_only' && hasTools ? namedChoice(body) : body.tool_choice
  const forces = hasTools && isForced(choice)
  const repliesByTool =
    isStructureOurs(facts) &&
    facts.road === 'converted' &&
    dialect.structuredOutput.method === 'tool' &&
    !(hasTools && choice !== 'none')
  const { plan, forced } =
    forces || repliesByTool
      ? planForcedTool(facts.reasoning, dialect, reason)
      : { plan: reason(facts.reasoning), forced: false }
  return {
    reasoning: plan,
    choice: forces && !forced ? 'auto' : choice,
    structure: isStructureOurs(facts)
      ? planChatStructure({
          request: facts.structure,
          mode: dialect.structuredOutput.method,
          canForceTool: repliesByTool && forced,
        })
      : null,
  }
}

function isForced(choice: JsonValue | undefined): boolean {
  return choice === 'required' || (isObject(choice) && (choice.type === 'function' || choice.type === 'custom'))
}

/** Where only a named tool can be forced, the only one there is gets named. */
function namedChoice({ tools, tool_choice: choice }: JsonObject): JsonValue | undefined {
  if (choice !== 'required') return choice
  const name = onlyName(arrayOrEmpty(tools).map(tool => objectOrNull(objectOrNull(tool)?.function)?.name))
  return name === null ? 'auto' : { type: 'function', function: { name } }
}
