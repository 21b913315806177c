/** A JSON schema for the reply of a messages upstream that does not take one: told in the instructions. */

import { isObject, type JsonObject, objectOrNull } from '../lib/json.ts'
import type { BodyEdit } from './body-edit.ts'
import type { Dialect } from './dialect.ts'
import { planMessagesStructure } from './structure.ts'

const FORMAT = '/output_config/format'
const EFFORT = '/output_config/effort'

/** The edits with those that the schema asks for. The reply passes through, so it cannot be the input of a forced tool. */
export function withStructureEdits(
  body: JsonObject,
  { structuredOutput: { method } }: Dialect,
  edits: BodyEdit[],
): BodyEdit[] {
  if (method === 'native' || method === 'json_schema') return edits
  const config = objectOrNull(body.output_config)
  const given = objectOrNull(config?.format) ?? objectOrNull(body.output_format)
  const schema = objectOrNull(given?.schema)
  if (given === null || schema === null) return edits
  const wish = { kind: 'schema', name: '', schema, strict: false } as const
  const { instruction } = planMessagesStructure({ wish, mode: 'prompt', canForceTool: false })
  return [
    ...withoutFormat(config, edits),
    ...(body.output_format === undefined ? [] : [{ op: 'remove', path: '/output_format' } as const]),
    { op: 'set', path: '/system', value: withText(body.system, instruction ?? '') },
  ]
}

/** Leaves no empty object behind. */
function withoutFormat(config: JsonObject | null, edits: BodyEdit[]): BodyEdit[] {
  if (!isObject(config?.format)) return edits
  const isDropped = (key: string) =>
    key === 'format' || edits.some(edit => edit.op === 'remove' && edit.path === `/output_config/${key}`)
  if (!Object.keys(config).every(isDropped)) return [...edits, { op: 'remove', path: FORMAT }]
  return [...edits.filter(({ path }) => path !== EFFORT), { op: 'remove', path: '/output_config' }]
}

function withText(system: JsonObject[string], text: string): NonNullable<JsonObject[string]> {
  if (Array.isArray(system)) return [...system, { type: 'text', text }]
  return typeof system === 'string' && system !== '' ? `${system}\n\n${text}` : text
}
