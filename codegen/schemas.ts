/** Reads the JSON schemas once, for validation (validators.ts) and, bundled under one root, for the types (types.ts). */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Schema {
  title?: string
  description?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  oneOf?: Schema[]
  definitions?: Record<string, Schema>
  minimum?: number
  maximum?: number
  pattern?: string
  tsType?: string
  /** Unit of a number, for the documentation. */
  unit?: string
  $ref?: string
  $id?: string
  [keyword: string]: unknown
}

export const SCHEMA_NAMES = ['root', 'catalogue', 'upstreams', 'family', 'dialect', 'rule', 'common', 'tables'] as const
export type SchemaName = (typeof SCHEMA_NAMES)[number]

export type Schemas = Readonly<Record<SchemaName, Schema>>

const directory = join(import.meta.dirname, '..', 'schemas')

/** Reads every schema. Throws if one is missing or not JSON, which is a fault of the program, not of the catalogue. */
export function readSchemas(from: string = directory): Schemas {
  const entries = SCHEMA_NAMES.map(name => {
    const schema = JSON.parse(readFileSync(join(from, `${name}.schema.json`), 'utf8')) as Schema
    return [name, schema] as const
  })
  return Object.fromEntries(entries) as Record<SchemaName, Schema>
}

/** Looks up the schema that a `$ref` names: `x.schema.json`, with or without `#/definitions/name`, or a local reference. */
export function followReference(
  schemas: Schemas,
  home: SchemaName,
  reference: string,
): { schema: Schema; home: SchemaName } {
  const [file = '', fragment = ''] = reference.split('#')
  const name = (file === '' ? home : file.replace('.schema.json', '')) as SchemaName
  const document = schemas[name]
  const definition = fragment.startsWith('/definitions/') ? document.definitions?.[fragment.slice(13)] : document
  if (definition === undefined) throw new Error(`schema reference ${reference} points to nothing`)
  return { schema: definition, home: name }
}

/** Returns the schema itself, or the one that its `$ref` names; a local reference is looked up in every file. */
export function findReference(schemas: Schemas, schema: Schema | undefined): Schema | undefined {
  const reference = schema?.$ref
  if (reference === undefined) return schema
  if (!reference.startsWith('#')) return followReference(schemas, 'root', reference).schema
  const name = reference.replace('#/definitions/', '')
  return SCHEMA_NAMES.map(file => schemas[file].definitions?.[name]).find(found => found !== undefined)
}
