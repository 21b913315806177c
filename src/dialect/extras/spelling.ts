/**
 * Refuses field names in the wrong case or with brackets. Some providers ignore case (Go's JSON package reads `Tools` as `tools`),
 * and some readers of forms take `quality[]` for `quality`, so a client could otherwise hide a field from the gateway's checks.
 */

import { refuse } from '../../conversation/refuse.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'

/** Fields, in any of the formats, that affect the price. */
const FIELDS = [
  'model',
  'messages',
  'input',
  'stream',
  'n',
  'tools',
  'tool_choice',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
] as const
const TOOL_FIELDS = spellings(['type', 'function', 'name', 'max_uses'])

/** Correct names, keyed by case-folded name. */
export type Spellings = ReadonlyMap<string, string>

export function spellings(names: readonly string[]): Spellings {
  return new Map([...FIELDS, ...names].map(name => [fold(name), name]))
}

/** Throws GatewayError `invalid_request` for a key that differs from a known name only by case or brackets. */
export function refuseOtherCases(body: JsonObject, known: Spellings): void {
  for (const key of Object.keys(body)) check(key, known)
}

/** Throws GatewayError `invalid_request` if a tool has a key, such as `type`, in the wrong case. */
export function refuseOtherCasesIn(tool: JsonValue): void {
  if (!isObject(tool)) return
  refuseOtherCases(tool, TOOL_FIELDS)
  if (isObject(tool.function)) refuseOtherCases(tool.function, TOOL_FIELDS)
}

function check(key: string, known: Spellings): void {
  if (/^[a-z0-9_]*$/.test(key)) return
  const name = known.get(fold(key.replace(/\[.*$/s, '')))
  if (name !== undefined) refuse(key, `this field must be spelled ${name}`)
}

/** Folds case. Converting twice also folds the non-ASCII characters with an ASCII equivalent: the long s and the Kelvin sign. */
function fold(name: string): string {
  return name.toLowerCase().toUpperCase()
}
