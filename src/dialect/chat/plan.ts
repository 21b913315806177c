/** Plans the tool choice, the reasoning and a JSON reply for a chat request. */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { type CallPlan, planCall } from '../call-plan.ts'
import { onlyName } from '../forced-choice.ts'
import { planChatReasoning } from '../reasoning-plan.ts'
import { planChatStructure } from '../structure.ts'
import type { DialectFacts } from '../types.ts'

/** If `choice` is undefined in the result, no tool choice is sent. */
export function planChat(body: JsonObject, facts: DialectFacts): CallPlan<JsonValue | undefined> {
  const { dialect } = facts
  const hasTools = arrayOrEmpty(body.tools).length > 0
  const circumstances = { stream: body.stream === true, hasTools }
  const choice = dialect.tools.forced === 'named_only' && hasTools ? namedChoice(body) : body.tool_choice
  return planCall(facts, {
    choice,
    forces: hasTools && isForced(choice),
    forcedCall: hasTools && isForced(body.tool_choice) ? { name: nameIn(body.tool_choice) } : null,
    unforced: () => 'auto',
    callable: hasTools && choice !== 'none',
    reason: request => planChatReasoning(request, dialect.reasoning, circumstances),
    ask: planChatStructure,
  })
}

function isForced(choice: JsonValue | undefined): boolean {
  return choice === 'required' || (isObject(choice) && (choice.type === 'function' || choice.type === 'custom'))
}

function nameIn(choice: JsonValue | undefined): string | null {
  const { function: fn, custom } = objectOrNull(choice) ?? {}
  return textOrNull(objectOrNull(fn ?? custom)?.name)
}

/**
 * Returns the tool choice for upstreams that can only force a tool by name. `required` becomes the name of the only tool or, if
 * there are several tools, `auto`.
 */
function namedChoice({ tools, tool_choice: choice }: JsonObject): JsonValue | undefined {
  if (choice !== 'required') return choice
  const name = onlyName(arrayOrEmpty(tools).map(tool => objectOrNull(objectOrNull(tool)?.function)?.name))
  return name === null ? 'auto' : { type: 'function', function: { name } }
}
