/** Renders the generated files. The same sources give the same bytes on every machine. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Handlebars from 'handlebars'
import { digestOfFiles } from '../src/lib/whole-files.ts'
import { renderConfiguration } from './configuration.ts'
import { renderConversion } from './dialect-matrix.ts'
import { renderDocs } from './docs.ts'
import { compareText } from './findings.ts'
import { Code, importOf, literal, Members, quote, unionOf } from './literal.ts'
import { constantName } from './names.ts'
import { FILE_TYPES_FOLDER, GENERATED_FOLDER } from './project.ts'
import { familyContext } from './render-family.ts'
import { defaultsContext, upstreamsContext } from './render-upstreams.ts'
import type { Resolved } from './resolve.ts'
import type { Schemas } from './schemas.ts'
import { renderTypes, type WriteTypes, writeTypes } from './types.ts'

export interface GeneratedFile {
  /** Path relative to the project's root. */
  readonly path: string
  readonly text: string
}

const BANNER = '// Generated from catalogue/ and schemas/ by `make generate`; change those instead.'
const templates = join(import.meta.dirname, 'templates')

export async function renderFiles(
  resolved: Resolved,
  schemas: Schemas,
  write: WriteTypes = writeTypes,
): Promise<GeneratedFile[]> {
  const types = await renderTypes(schemas, write)
  return [
    ...renderTables(resolved),
    { path: `${GENERATED_FOLDER}/types.ts`, text: `${BANNER}\n\n${types.tables}` },
    { path: `${FILE_TYPES_FOLDER}/types.ts`, text: `${BANNER}\n\n${types.files}` },
    { path: 'docs/catalogue.md', text: renderDocs(schemas) },
    { path: 'docs/configuration.md', text: renderConfiguration() },
    { path: 'docs/conversion.md', text: renderConversion(join(import.meta.dirname, '..')) },
  ].toSorted((a, b) => compareText(a.path, b.path))
}

/** Renders the tables only, since types and documentation depend on nothing but the schemas. */
export function renderTables({ tables, outline }: Resolved): GeneratedFile[] {
  const families = outline.families.map(({ name }) => ({ constant: constantName(name), file: `./families/${name}.ts` }))
  const contexts: Record<string, object> = {
    defaults: defaultsContext(outline),
    entries: {
      imports: families.map(({ constant, file }) => importOf([constant], file)),
      entries: literal(
        families.map(({ constant }) => new Code(`...${constant}`)),
        { indent: '', before: 'export const ENTRIES: readonly TableEntry[] = '.length, after: 0 },
      ),
    },
    ids: {
      entryIds: unionOf(
        'EntryId',
        tables.entries.map(entry => quote(entry.id)),
      ),
      upstreamIds: unionOf(
        'UpstreamId',
        tables.upstreams.map(upstream => quote(upstream.id)),
      ),
    },
    upstreams: upstreamsContext(outline, tables.upstreams),
    settings: { settings: literal(new Members([], Object.entries(tables.settings), { isMultiline: true })) },
  }
  const family = template('family')
  const parts = [
    ...Object.entries(contexts).map(([name, context]) => generated(name, template(name)(context))),
    ...outline.families.map(each => generated(`families/${each.name}`, family(familyContext(outline, each)))),
  ]
  return [...parts, generated('tables', template('tables')(stampOf(parts)))]
}

/** The names and the digest of all other files, by which the gateway recognises tables that it loaded while they were replaced. */
function stampOf(parts: readonly GeneratedFile[]): object {
  const files = parts.map(({ path, text }) => ({ name: path.slice(GENERATED_FOLDER.length + 1), text }))
  const sorted = files.toSorted((a, b) => compareText(a.name, b.name))
  return { parts: sorted.map(({ name }) => name), digest: digestOfFiles(sorted) }
}

function generated(name: string, text: string): GeneratedFile {
  return { path: `${GENERATED_FOLDER}/${name}.ts`, text }
}

function template(name: string): (context: object) => string {
  const source = readFileSync(join(templates, `${name}.hbs`), 'utf8')
  const compiled = Handlebars.compile(source, { noEscape: true, strict: true })
  return context => compiled({ ...context, banner: BANNER })
}
