/** What the formats' tools share: schemas of their input, and the promise to keep to them. */

import { type JsonObject, type JsonValue, objectOrNull } from '../lib/json.ts'
import { withoutMembers } from './copy.ts'
import { toolSchema } from './schemas.ts'
import type { DialectFacts } from './types.ts'

/** The schema as the upstream takes it; null for a tool of the client's own format that has none. */
export function schemaFor(given: JsonValue | undefined, { dialect, road }: DialectFacts): JsonObject | null {
  const { schema: form } = dialect.tools
  if (road === 'converted') return toolSchema(given, form)
  const schema = objectOrNull(given)
  return schema !== null && form === 'no_meta_schema' ? withoutMembers(schema, ['$schema']) : schema
}

/**
 * Whether a tool's `strict` goes up. Without the word nothing is looked at; a client that writes the upstream's own format is
 * told what is wrong with its schema.
 */
export function goesStrict(
  { strict }: JsonObject,
  schema: JsonObject | null,
  { dialect, road }: DialectFacts,
  qualifies: (schema: JsonObject) => boolean,
): boolean {
  if (dialect.tools.strict === 'drop') return false
  return road === 'same' || strict === undefined || (schema !== null && qualifies(schema))
}
