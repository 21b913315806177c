/** Writes the fields of a chat request that control reasoning. */

import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { withMember, withoutMembers } from '../copy.ts'
import type { ReasoningPlan } from '../reasoning-plan.ts'
import type { Dialect } from '../words.ts'

const FIELDS = ['reasoning_effort', 'thinking', 'enable_thinking', 'thinking_budget', 'reasoning']

/**
 * Sets the planned fields and removes fields that the upstream does not read. A client's field that already has the planned
 * value is kept as it is, including its other members.
 */
export function withReasoning(body: JsonObject, dialect: Dialect, { fields }: ReasoningPlan): JsonObject {
  let changed = body
  for (const field of FIELDS) {
    const planned = fields[field]
    if (planned === undefined) {
      if (!isUpstreamsOwn(field, dialect)) changed = withoutMembers(changed, [field])
    } else if (!saysTheSame(body[field], planned)) changed = withMember(changed, field, planned)
  }
  return changed
}

/** Whether the upstream reads this field. If so, the client's value stays when the plan does not set the field. */
function isUpstreamsOwn(field: string, { reasoning }: Dialect): boolean {
  switch (field) {
    case 'thinking':
      return reasoning.parameter === 'thinking_type'
    case 'enable_thinking':
      return reasoning.parameter === 'enable_thinking'
    case 'thinking_budget':
      return reasoning.budgetField === 'thinking_budget'
    default:
      return false
  }
}

function saysTheSame(given: JsonValue | undefined, planned: JsonValue): boolean {
  if (isObject(given) && isObject(planned)) return given.type === planned.type
  return given === planned
}
