/** Finds tool names and call ids that the upstream would reject. */

import { isIdAccepted, isNameAccepted, type NameRules, ToolNames } from '../conversation/names.ts'
import type { JsonObject } from '../lib/json.ts'
import type { DialectFacts } from './types.ts'

/** The rules for names. In same-format calls, unusual characters are left for the upstream to judge. */
function rulesOf({ dialect, road }: DialectFacts): NameRules {
  const { nameMax, nameStart } = dialect.tools
  return { nameMax, nameStart, characters: road === 'same' ? 'any' : 'word' }
}

/** Visits each tool name, and each call id in the history. */
export type VisitCalls = (body: JsonObject, onName: (name: string) => void, onId: (id: string) => void) => void

export interface CallsFound {
  readonly names: ToolNames | null
  /** Some ids must be changed. */
  readonly mapsIds: boolean
}

/** Scans the request once. Most requests need no changes, and nothing is allocated for them. */
export function findCalls(body: JsonObject, facts: DialectFacts, visit: VisitCalls): CallsFound {
  const rules = rulesOf(facts)
  const { callId } = facts.dialect.tools
  let mapsNames = false
  let mapsIds = false
  // Consecutive calls often use the same tool.
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
