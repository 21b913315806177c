/**
 * Names in another case. Some providers read `Tools` as `tools`, as the JSON package of Go does, and the gateway does not:
 * what it judges must not be there under a name that it does not see.
 */

import { refuse } from '../../conversation/refuse.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'

/** Fields that decide about money in every format. */
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

/** Names by what they are in every case. */
export type Spellings = ReadonlyMap<string, string>

export function spellings(names: readonly string[]): Spellings {
  return new Map([...FIELDS, ...names].map(name => [fold(name), name]))
}

/** Throws GatewayError `invalid_request` for a name that is one of these but for its case. */
export function refuseOtherCases(body: JsonObject, known: Spellings): void {
  for (const key of Object.keys(body)) check(key, known)
}

/** The same inside a tool. */
export function refuseOtherCasesIn(tool: JsonValue): void {
  if (!isObject(tool)) return
  refuseOtherCases(tool, TOOL_FIELDS)
  if (isObject(tool.function)) refuseOtherCases(tool.function, TOOL_FIELDS)
}

function check(key: string, known: Spellings): void {
  if (/^[a-z0-9_]*$/.test(key)) return
  const name = known.get(fold(key))
  if (name !== undefined) refuse(key, `write this field as ${name}`)
}

/** Also what is no letter of ASCII and folds to one: the long s, the Kelvin sign. */
function fold(name: string): string {
  return name.toLowerCase().toUpperCase()
}
