/** A tool that must be called, where the upstream takes that for a named one only. */

import type { JsonValue } from '../lib/json.ts'

/** The name, where there is one tool and it has one. */
export function onlyName(names: readonly (JsonValue | undefined)[]): string | null {
  const [name] = names
  return names.length === 1 && typeof name === 'string' ? name : null
}
