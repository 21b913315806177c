/** Tool names that the upstream does not take. */

import { isNameAccepted, type NameRules, ToolNames } from '../conversation/names.ts'
import type { DialectFacts } from './types.ts'

/**
 * The map for the names of a request; null where all stay. In the same format, what the upstream takes beside the letters
 * that every format has is for it to judge.
 */
export function namesOf(names: readonly string[], { dialect, road }: DialectFacts): ToolNames | null {
  const { nameMax, nameStart } = dialect.tools
  const rules: NameRules = { nameMax, nameStart, characters: road === 'same' ? 'any' : 'word' }
  return names.every(name => isNameAccepted(name, rules)) ? null : new ToolNames(names, rules)
}
