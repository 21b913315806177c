/** TypeScript types from the one root schema, by json-schema-to-typescript, read-only throughout. */

import { compile } from 'json-schema-to-typescript'
import { resolvedSchema } from './dialect.ts'
import { followReference, type Schema, type SchemaName, type Schemas } from './schemas.ts'

/** Text of src/generated/types.ts without its banner. */
export async function renderTypes(schemas: Schemas): Promise<string> {
  const text = await compile(bundle(schemas) as Parameters<typeof compile>[0], 'Catalogue', {
    bannerComment: '',
    format: false,
    ignoreMinAndMaxItems: true,
    additionalProperties: false,
    unknownAny: true,
    unreachableDefinitions: true,
  })
  return layOut(text.replace(REFERENCE_NOTE, ''))
}

/** One schema without outside references: each named part once under `definitions`, each unnamed part in place. */
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
    // The common keywords of a union would hide it from the type generator.
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

/** Indents what came unformatted, and makes every property and list read-only. */
function layOut(text: string): string {
  let depth = 0
  let isComment = false
  const lines: string[] = []
  for (const raw of text.replaceAll('\r\n', '\n').split('\n')) {
    const line = raw.trim()
    if (line === '' && !isComment) continue
    if (!isComment && /^[}\])]/.test(line)) depth--
    const isProperty = !isComment && depth > 0 && /^("[^"]+"|\w+|\[k: string\])\??: /.test(line)
    const written = isProperty ? `readonly ${line}` : line
    const indent = '  '.repeat(depth) + (isComment && line.startsWith('*') ? ' ' : '')
    lines.push(isComment || line.startsWith('/*') ? (indent + line).trimEnd() : indent + readonlyLists(written))
    if (line.startsWith('/*')) isComment = true
    if (line.endsWith('*/')) isComment = false
    else if (!isComment && /[{[(]$/.test(line)) depth++
  }
  return `${lines.join('\n').replace(LONE_COMMENT, '$1/** $2 */')}\n`.replace(/\n(\/\*\*|export)/g, spaceOut)
}

/** What the type generator adds to every comment. */
const REFERENCE_NOTE = /( \*\s*\n)? \* This interface was referenced by [^\n]*\n \* via the `definition` [^\n]*\n/g

/** A comment of one line, spread over three. */
const LONE_COMMENT = /^( *)\/\*\*\n *\* (.*)\n *\*\/$/gm

/** A blank line before each declaration, or before its comment. */
function spaceOut(match: string, word: string, offset: number, text: string): string {
  const isCommented = word === 'export' && text.slice(0, offset).endsWith('*/')
  return isCommented ? match : `\n${match}`
}

function readonlyLists(line: string): string {
  return line.replace(/(\([^()]*\)|\b[A-Za-z]\w*)\[\]/g, 'readonly $1[]')
}
