/** Helps to force a tool call where the upstream only accepts a named tool. */

import type { JsonValue } from '../lib/json.ts'

/** The name of the only tool, if there is just one and it has a name. */
export function onlyName(names: readonly (JsonValue | undefined)[]): string | null {
  const [name] = names
  return names.length === 1 && typeof name === 'string' ? name : null
}
