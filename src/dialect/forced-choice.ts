/** For upstreams that can only force a tool by name: names the tool to force. */

import type { JsonValue } from '../lib/json.ts'

/** Returns the only tool's name; null if there are several tools or it has no name. */
export function onlyName(names: readonly (JsonValue | undefined)[]): string | null {
  const [name] = names
  return names.length === 1 && typeof name === 'string' ? name : null
}
