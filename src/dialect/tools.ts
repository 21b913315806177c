/** Adapts tool settings common to all formats: input schemas, and strict adherence to them. */

import { type JsonObject, type JsonValue, objectOrNull } from '../lib/json.ts'
import { keptToolSchema, toolSchema } from './schemas.ts'
import type { DialectFacts } from './types.ts'

/** Returns the schema in the form that the upstream accepts. Null if a tool of a same-format call has no schema and needs none. */
export function schemaFor(given: JsonValue | undefined, { dialect, formatPath }: DialectFacts): JsonObject | null {
  const { schema: form } = dialect.tools
  if (formatPath === 'converted') return toolSchema(given, form)
  return keptToolSchema(objectOrNull(given), form)
}

/**
 * Whether a tool may keep its `strict` flag. In converted calls, its schema must qualify; same-format clients get the
 * upstream's own error about a schema that does not. Without the flag, the schema is not examined.
 */
export function goesStrict(
  { strict }: JsonObject,
  schema: JsonObject | null,
  { dialect, formatPath }: DialectFacts,
  qualifies: (schema: JsonObject) => boolean,
): boolean {
  if (dialect.tools.strict === 'drop') return false
  return formatPath === 'same' || strict === undefined || (schema !== null && qualifies(schema))
}
