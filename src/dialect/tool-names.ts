/** Finds tool names and call ids that the upstream would reject. */

import { isIdAccepted, isNameAccepted, type NameRules, ToolNames } from '../conversation/names.ts'
import type { JsonObject } from '../lib/json.ts'
import type { DialectFacts } from './types.ts'

/** Returns the rules for names. In same-format calls, the upstream itself validates unusual characters. */
function rulesOf({ dialect, formatPath }: DialectFacts): NameRules {
  const { nameMax, nameStart } = dialect.tools
  return { nameMax, nameStart, characters: formatPath === 'same' ? 'any' : 'word' }
}

/** Calls `onName` for each tool name in the body, and `onId` for each tool call id in the history. */
export type VisitCalls = (body: JsonObject, onName: (name: string) => void, onId: (id: string) => void) => void

export interface CallsFound {
  readonly names: ToolNames | null
  /** Whether some ids must be changed. */
  readonly mapsIds: boolean
}

/** Finds names and ids that must be changed. Most requests have none: they are scanned once, without allocating anything. */
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
