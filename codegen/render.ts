/** The generated files as text. The same sources give the same bytes on every machine. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Handlebars from 'handlebars'
import type { Tables } from '../src/generated/types.ts'
import { digestOf } from './canonical.ts'
import { renderConfiguration } from './configuration.ts'
import { renderDocs } from './docs.ts'
import { compareText } from './findings.ts'
import { literal } from './literal.ts'
import { GENERATED_FOLDER } from './project.ts'
import type { Schemas } from './schemas.ts'
import { renderTypes } from './types.ts'

export interface GeneratedFile {
  /** Below the project's folder. */
  readonly path: string
  readonly text: string
}

const BANNER = '// Generated from catalogue/ and schemas/ by `make generate`; change those instead.'
const templates = join(import.meta.dirname, 'templates')

export async function renderFiles(tables: Tables, schemas: Schemas): Promise<GeneratedFile[]> {
  const types = `${BANNER}\n\n${await renderTypes(schemas)}`
  return [
    ...renderTables(tables),
    { path: `${GENERATED_FOLDER}/types.ts`, text: types },
    { path: 'docs/catalogue.md', text: renderDocs(schemas) },
    { path: 'docs/configuration.md', text: renderConfiguration() },
  ].toSorted((a, b) => compareText(a.path, b.path))
}

/** The tables alone; types and documentation depend on the schemas only. */
export function renderTables(tables: Tables): GeneratedFile[] {
  const dialects = new Names('dialect')
  const extras = new Names('extras')
  const rules = new Names('rules')
  for (const target of tables.entries.flatMap(entry => entry.upstreams)) {
    dialects.add(target.dialect)
    extras.add(target.extras)
    if (target.rules.length > 0) rules.add(target.rules)
  }
  const nameOf = (value: object) => dialects.get(value) ?? extras.get(value) ?? rules.get(value)
  const contexts: Record<string, object> = {
    entries: {
      dialects: dialects.constants(),
      extras: extras.constants(),
      rules: rules.constants(),
      entries: tables.entries.map(entry => literal(entry, '  ', nameOf)),
    },
    ids: {
      entryIds: tables.entries.map(entry => literal(entry.id)),
      upstreamIds: tables.upstreams.map(upstream => literal(upstream.id)),
    },
    upstreams: { upstreams: tables.upstreams.map(upstream => literal(upstream, '  ')) },
    settings: { settings: literal(tables.settings) },
    tables: {},
  }
  return Object.entries(contexts).map(([name, context]) => {
    const source = readFileSync(join(templates, `${name}.hbs`), 'utf8')
    const template = Handlebars.compile(source, { noEscape: true, strict: true })
    return { path: `${GENERATED_FOLDER}/${name}.ts`, text: template({ ...context, banner: BANNER }) }
  })
}

/** Names for objects that many entries share, made from their content so that a change renames nothing else. */
class Names {
  readonly #prefix: string
  readonly #byObject = new Map<object, string>()
  readonly #byName = new Map<string, object>()

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  add(value: object): void {
    if (this.#byObject.has(value)) return
    const name = `${this.#prefix}_${digestOf(value).slice(0, 12)}`
    this.#byObject.set(value, name)
    this.#byName.set(name, value)
  }

  get(value: object): string | undefined {
    return this.#byObject.get(value)
  }

  constants(): { name: string; code: string }[] {
    const sorted = [...this.#byName].toSorted(([a], [b]) => compareText(a, b))
    return sorted.map(([name, value]) => ({ name, code: literal(value) }))
  }
}
