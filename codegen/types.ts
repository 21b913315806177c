/** Generates read-only TypeScript types from the schemas, with json-schema-to-typescript. */

import { resolvedSchema } from './dialect.ts'
import { compareText } from './findings.ts'
import { importOf } from './literal.ts'
import { followReference, type Schema, type SchemaName, type Schemas } from './schemas.ts'
import { cachedText } from './text-cache.ts'
import { type Declaration, layOutTypes } from './types-layout.ts'

export interface TypeTexts {
  /** Source code of `src/generated/types.ts`: the types of the generated tables. */
  readonly tables: string
  /** Source code of `codegen/generated/types.ts`: the types of the YAML files. Imports the types that the tables also use. */
  readonly files: string
}

const ROOT = 'Tables'

const OPTIONS = {
  bannerComment: '',
  format: false,
  ignoreMinAndMaxItems: true,
  additionalProperties: false,
  unknownAny: true,
  unreachableDefinitions: true,
}

/** Returns TypeScript declarations of all types in the schemas, unformatted. */
export type WriteTypes = (schemas: Schemas) => Promise<string>

export async function writeTypes(schemas: Schemas): Promise<string> {
  const { compile } = await import('json-schema-to-typescript')
  return compile(bundle(schemas) as Parameters<typeof compile>[0], 'Catalogue', OPTIONS)
}

/** Like `writeTypes`, but cached: an earlier run with the same schemas is reused. */
export async function writeCachedTypes(schemas: Schemas): Promise<string> {
  const cached = cachedText('types.ts', [bundle(schemas), OPTIONS])
  const found = cached.read()
  if (found !== undefined) return found
  const text = await writeTypes(schemas)
  cached.write(text)
  return text
}

/** Renders both type files, without banners. */
export async function renderTypes(schemas: Schemas, write: WriteTypes): Promise<TypeTexts> {
  const declarations = layOutTypes(await write(schemas))
  const names = namesBehind(declarations)
  const tables = declarations.filter(({ name }) => names.has(name))
  const files = declarations.filter(({ name }) => !names.has(name))
  const shared = new Set(files.flatMap(({ mentions }) => mentions.filter(name => names.has(name))))
  const imports = importOf([...shared].toSorted(compareText), '../../src/generated/types.ts', 'type')
  return { tables: joined(tables), files: `${imports}\n\n${joined(files)}` }
}

function joined(declarations: readonly Declaration[]): string {
  return `${declarations.map(({ text }) => text).join('\n\n')}\n`
}

/** Names of all types that the root type refers to, directly or indirectly. */
function namesBehind(declarations: readonly Declaration[]): ReadonlySet<string> {
  const byName = new Map(declarations.map(declaration => [declaration.name, declaration]))
  const names = new Set<string>()
  const visit = (name: string): void => {
    const declaration = byName.get(name)
    if (declaration === undefined || names.has(name)) return
    names.add(name)
    declaration.mentions.forEach(visit)
  }
  visit(ROOT)
  return names
}

/** Bundles the schemas into one that is self-contained: parts with a title once under `definitions`, other parts inlined. */
export function bundle(schemas: Schemas): Schema {
  const definitions: Record<string, Schema> = {}

  const name = (schema: Schema) => (schema === schemas.dialect ? 'DialectFacts' : schema.title)

  const inline = (reference: string, home: SchemaName): Schema => {
    if (reference === 'dialect.schema.json#resolved') {
      definitions.Dialect ??= copy(resolvedSchema(schemas.dialect, 'Dialect'), 'dialect')
      return { $ref: '#/definitions/Dialect' }
    }
    const found = followReference(schemas, home, reference)
    const title = name(found.schema)
    if (title === undefined) return copy(found.schema, found.home)
    if (definitions[title] === undefined) {
      definitions[title] = {}
      definitions[title] = { ...copy(found.schema, found.home), title }
    }
    return { $ref: `#/definitions/${title}` }
  }

  const copy = (value: unknown, home: SchemaName): Schema => {
    if (Array.isArray(value)) return value.map(item => copy(item, home)) as unknown as Schema
    if (value === null || typeof value !== 'object') return value as Schema
    const schema = value as Schema
    if (typeof schema.$ref === 'string') return inline(schema.$ref, home)
    const kept = Object.entries(schema).filter(([key]) => !LEFT_OUT.has(key))
    const copied = Object.fromEntries(
      kept.map(([key, member]) => {
        if (key === 'properties') return [key, copyProperties(schema, home)]
        return [key, VERBATIM.has(key) ? member : copy(member, home)]
      }),
    ) as Schema
    // Other keywords next to `oneOf` would hide the union from the type generator.
    if (copied.oneOf === undefined) return copied
    const { title, description, oneOf } = copied
    return { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }), oneOf }
  }

  const copyProperties = (schema: Schema, home: SchemaName) =>
    Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, member]) => [key, copy(member, home)]))

  const root = copy(schemas.root, 'root')
  return { ...root, definitions }
}

const LEFT_OUT = new Set([
  '$schema',
  '$id',
  'definitions',
  'discriminator',
  'propertyNames',
  'anyOf',
  'examples',
  'pattern',
  'unit',
])
const VERBATIM = new Set(['enum', 'const', 'default', 'required', 'title', 'description', 'tsType', 'type'])
