/** Finds tool names and call ids that the upstream would reject. */

import { isIdAccepted, isNameAccepted, type NameRules, ToolNames } from '../conversation/names.ts'
import type { JsonObject } from '../lib/json.ts'
import type { DialectFacts } from './types.ts'

/** Returns the rules for names. In same-format calls, the upstream judges unusual characters itself. */
function rulesOf({ dialect, road }: DialectFacts): NameRules {
  const { nameMax, nameStart } = dialect.tools
  return { nameMax, nameStart, characters: road === 'same' ? 'any' : 'word' }
}

/** Calls back for each tool name, and for each call id in the history. */
export type VisitCalls = (body: JsonObject, onName: (name: string) => void, onId: (id: string) => void) => void

export interface CallsFound {
  readonly names: ToolNames | null
  /** Whether some ids must be changed. */
  readonly mapsIds: boolean
}

/** Finds the names and ids to change in a single scan. Most requests have none, and nothing is allocated for them. */
export function findCalls(body: JsonObject, facts: DialectFacts, visit: VisitCalls): CallsFound {
  const rules = rulesOf(facts)
  const { callId } = facts.dialect.tools
  let mapsNames = false
  let mapsIds = false
  // Consecutive calls often use the same tool, whose name need not be checked again.
  let latest = ''
  visit(
    body,
    name => {
      if (name === latest) return
      latest = name
      mapsNames ||= !isNameAccepted(name, rules)
    },
    id => {
      mapsIds ||= !isIdAccepted(id, callId)
    },
  )
  if (!mapsNames) return { names: null, mapsIds }
  const names: string[] = []
  visit(
    body,
    name => names.push(name),
    () => {},
  )
  return { names: new ToolNames(names, rules), mapsIds }
}
