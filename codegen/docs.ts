/**
 * Renders docs/catalogue.md: every key with its unit, default and example from the schemas, and every finding (problem that
 * `catalogue check` reports) from `codes.ts`.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Handlebars from 'handlebars'
import { CODES } from './codes.ts'
import { followReference, type Schema, type SchemaName, type Schemas } from './schemas.ts'
import { flow } from './words.ts'

interface Row {
  readonly key: string
  readonly form: string
  readonly unit: string
  readonly fallback: string
  readonly example: string
  readonly text: string
}

interface Section {
  readonly title: string
  readonly text: string
  readonly rows: readonly Row[]
}

interface Located {
  readonly schema: Schema
  readonly home: SchemaName
}

/** The page's sections, each of which shows a schema file or one of its definitions. */
const SECTIONS: readonly [title: string, reference: string][] = [
  ['catalogue.yaml', 'catalogue.schema.json'],
  ['catalogue.yaml: `acknowledged`', 'catalogue.schema.json#/definitions/acknowledgement'],
  ['upstreams.yaml: one upstream', 'upstreams.schema.json#/definitions/host'],
  ['families/<family>.yaml', 'family.schema.json'],
  ['One model', 'family.schema.json#/definitions/model'],
  ['One entry', 'family.schema.json#/definitions/entry'],
  ['One target (`upstream`)', 'family.schema.json#/definitions/target'],
  ['`counting`', 'common.schema.json#/definitions/counting'],
  ['`deprecated`', 'common.schema.json#/definitions/deprecated'],
  ['`cost`', 'common.schema.json#/definitions/cost'],
  ['`cost`: one of its `tiers`', 'common.schema.json#/definitions/costTier'],
  ['`discount`', 'common.schema.json#/definitions/discount'],
  ['`fx`', 'common.schema.json#/definitions/fx'],
  ['`extras`', 'common.schema.json#/definitions/extras'],
  ['`extras`: what may be written for a field', 'common.schema.json#/definitions/fieldTreatment'],
  ['`extras`: what may be written for a tool', 'common.schema.json#/definitions/toolTreatment'],
  ['catalogue.yaml: `extras`', 'common.schema.json#/definitions/extrasVocabulary'],
  ['catalogue.yaml: a field of `extras`', 'common.schema.json#/definitions/extraField'],
  ['catalogue.yaml: a tool of `extras`', 'common.schema.json#/definitions/extraTool'],
  ['catalogue.yaml: `matches` of a tool', 'common.schema.json#/definitions/extraMatch'],
  ['catalogue.yaml: `uses` of a tool', 'common.schema.json#/definitions/extraUse'],
  ['`dialect`', 'dialect.schema.json'],
  ['`dialect`: what may be written for a beta flag', 'dialect.schema.json#/definitions/betaFlag'],
  ['`dialect`: a refused seal', 'dialect.schema.json#/definitions/refusedSeal'],
  ['One wire (`wires`)', 'family.schema.json#/definitions/wire'],
]

/** Schemas of objects that have their own section. */
const APART = new Set([
  'DialectFacts',
  'Dialect',
  'Rule',
  'CountingFacts',
  'DeprecatedFacts',
  'CostHistory',
  'DiscountHistory',
  'FxHistory',
  'UpstreamFacts',
  'ExtrasFacts',
  'ExtrasVocabulary',
  'ExtraMatch',
])

export function renderDocs(schemas: Schemas): string {
  const sections = SECTIONS.map(([title, reference]): Section => {
    const { schema, home } = followReference(schemas, 'root', reference)
    return { title, text: schema.description ?? '', rows: rowsOf(schemas, { schema, home }, '') }
  })
  const operations = (schemas.rule.oneOf ?? []).map(schema => ({
    name: String(schema.properties?.op?.const),
    keys: Object.keys(schema.properties ?? {})
      .filter(key => key !== 'op')
      .map(key => (schema.required?.includes(key) === true ? `\`${key}\`` : `\`${key}\`?`))
      .join(', '),
    text: cell(schema.description ?? ''),
  }))
  const codes = Object.entries(CODES).map(([code, row]) => ({
    code,
    severity: row.severity,
    meaning: cell(row.meaning),
  }))
  const shared = ['pointer', 'value', 'endpoints', 'when'].flatMap(name => {
    const schema = schemas.rule.definitions?.[name]
    return schema === undefined ? [] : [rowOf(schemas, { schema, home: 'rule' }, name, undefined)]
  })
  const when = schemas.rule.definitions?.when
  const tests = when === undefined ? [] : rowsOf(schemas, { schema: when, home: 'rule' }, 'when.')
  const source = readFileSync(join(import.meta.dirname, 'templates/docs.hbs'), 'utf8')
  const template = Handlebars.compile(source, { noEscape: true, strict: true })
  return template({ sections, operations, shared: [...shared, ...tests], codes })
}

function rowsOf(schemas: Schemas, { schema, home }: Located, prefix: string): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const located = dereference(schemas, { schema: property, home })
    const isRequired = schema.required?.includes(key)
    const own = rowOf(schemas, located, prefix + key, isRequired)
    const opensUp = located.schema.properties !== undefined && !APART.has(located.schema.title ?? '')
    return opensUp ? [own, ...rowsOf(schemas, located, `${prefix}${key}.`)] : [own]
  })
}

function rowOf(schemas: Schemas, located: Located, key: string, isRequired: boolean | undefined): Row {
  const { schema } = located
  const fallback = schema.default === undefined ? (isRequired === true ? 'required' : '') : code(schema.default)
  const example = schema.examples?.[0]
  return {
    key: `\`${key}\``,
    form: cell(formOf(schemas, located)),
    unit: schema.unit ?? '',
    fallback,
    example: example === undefined ? '' : code(example),
    text: cell(schema.description ?? ''),
  }
}

function dereference(schemas: Schemas, { schema, home }: Located): Located {
  return schema.$ref === undefined ? { schema, home } : followReference(schemas, home, schema.$ref)
}

function formOf(schemas: Schemas, { schema, home }: Located): string {
  if (schema.enum !== undefined) return schema.enum.map(word => `\`${String(word)}\``).join(' ')
  if (schema.items !== undefined && schema.properties === undefined) {
    return `list of ${formOf(schemas, dereference(schemas, { schema: schema.items, home }))}`
  }
  const words = wordsOfKeys(schemas, { schema, home })
  if (words.length > 0) return `mapping of ${words.map(word => `\`${word}\``).join(' ')}`
  const types = [schema.type ?? []].flat()
  const names = types.map(
    type =>
      ({ integer: 'whole number', boolean: '`true` `false`', object: 'mapping', string: 'text', array: 'list' })[
        type
      ] ?? type,
  )
  const bounds = [schema.minimum, schema.maximum]
  return names.join(' or ') + rangeOf(bounds[0], bounds[1])
}

/** The allowed keys of a mapping, if the schema lists them. */
function wordsOfKeys(schemas: Schemas, { schema, home }: Located): unknown[] {
  const names = schema.propertyNames as Schema | undefined
  return names === undefined ? [] : (dereference(schemas, { schema: names, home }).schema.enum ?? [])
}

function rangeOf(least: number | undefined, most: number | undefined): string {
  if (least === undefined) return most === undefined ? '' : `, at most ${most}`
  return most === undefined ? `, at least ${least}` : `, ${least}–${most}`
}

function code(value: unknown): string {
  return cell(`\`${flow(value)}\``)
}

/** Escapes text for a table; angle brackets outside code would be read as HTML. */
function cell(text: string): string {
  const parts = text.replaceAll('|', '\\|').replaceAll('\n', ' ').split('`')
  return parts.map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '&lt;') : part)).join('`')
}
