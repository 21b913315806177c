/** Names of tools and ids of calls that the upstream does not take. */

import { isIdAccepted, isNameAccepted, type NameRules, ToolNames } from '../conversation/names.ts'
import type { JsonObject } from '../lib/json.ts'
import type { DialectFacts } from './types.ts'

/** In the same format, what the upstream takes beside the letters that every format has is for it to judge. */
function rulesOf({ dialect, road }: DialectFacts): NameRules {
  const { nameMax, nameStart } = dialect.tools
  return { nameMax, nameStart, characters: road === 'same' ? 'any' : 'word' }
}

/** Shows each name of a tool, and each id of a call in the history. */
export type VisitCalls = (body: JsonObject, onName: (name: string) => void, onId: (id: string) => void) => void

export interface CallsFound {
  readonly names: ToolNames | null
  /** Some ids cannot go up as they are. */
  readonly mapsIds: boolean
}

/** Most requests need neither: they are looked through once, and nothing is made of them. */
export function findCalls(body: JsonObject, facts: DialectFacts, visit: VisitCalls): CallsFound {
  const rules = rulesOf(facts)
  const { callId } = facts.dialect.tools
  let mapsNames = false
  let mapsIds = false
  // Calls of one tool follow each other.
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
