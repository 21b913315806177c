/**
 * Compiles the catalogue's YAML files: returns findings and, if none of them is an error, the tables that the gateway loads.
 * Pure: uses no file, clock or locale.
 */

import type { Tables } from '../src/generated/types.ts'
import { checkCatalogue } from './checks/check.ts'
import { withoutConsequences } from './echoes.ts'
import { type Finding, isError, sortFindings } from './findings.ts'
import type { CatalogueFile, FamilyFile, UpstreamsFile } from './generated/types.ts'
import { checkMargins } from './margin/below-cost.ts'
import { type Resolved, resolveTables } from './resolve.ts'
import { readSchemas, type Schemas } from './schemas.ts'
import { SourceFile, type SourceText } from './source.ts'
import { validateFile } from './validate.ts'
import { createCachedValidate, createValidate, type FileKind, type Validate } from './validators.ts'
import { type CatalogueView, type SourceFiles, viewCatalogue } from './view.ts'

export interface Compiled {
  readonly findings: readonly Finding[]
  /** The compiled tables; null if any finding is an error. */
  readonly tables: Tables | null
  /** The tables with their outline, which records where each fact was stated (see outline.ts); null if `tables` is null. */
  readonly resolved: Resolved | null
  readonly view: CatalogueView
}

export interface CompileOptions {
  /** Whether to produce tables even if checks across files fail, for reading older catalogues. */
  readonly lenient: boolean
  /** ISO date on which to check retirements; without it, they are not checked. */
  readonly today?: string
}

export interface Compiler {
  readonly schemas: Schemas
  compile(texts: readonly SourceText[], options?: CompileOptions): Compiled
}

let own: Compiler | undefined

/**
 * Returns the compiler for the project's own schemas, created once per process. Validation code that Ajv generated in an
 * earlier process is loaded from disk.
 */
export function ownCompiler(): Compiler {
  if (own === undefined) {
    const schemas = readSchemas()
    own = createCompiler(schemas, createCachedValidate(schemas))
  }
  return own
}

/** Creates a compiler. `compile` keeps no state between calls. */
export function createCompiler(schemas: Schemas, validate: Validate = createValidate(schemas)): Compiler {
  return {
    schemas,
    compile(texts, options = { lenient: false }) {
      const findings: Finding[] = []
      const files = sortOut(texts, findings)
      const all = [files.catalogue, files.upstreams, ...files.families].filter(file => file !== undefined)
      for (const file of all) findings.push(...file.findings)
      const validated = (file: SourceFile, kind: FileKind) =>
        findings.push(...validateFile(file, value => validate(kind, value), schemas))
      if (files.catalogue !== undefined) validated(files.catalogue, 'catalogue')
      if (files.upstreams !== undefined) validated(files.upstreams, 'upstreams')
      for (const family of files.families) validated(family, 'family')
      const view = viewCatalogue(files, options.today)
      const isReadable = files.isWhole && all.every(file => file.value !== undefined)
      const isValid = isReadable && !findings.some(isError)
      if (isReadable) findings.push(...checkCatalogue(view))
      const sorted = sortFindings(withoutConsequences(findings))
      const isSound = options.lenient ? isValid && hasItsUpstreams(view) : !sorted.some(isError)
      if (!isSound || files.catalogue === undefined || files.upstreams === undefined) {
        return { findings: sorted, tables: null, resolved: null, view }
      }
      const sources = {
        catalogue: files.catalogue.value as CatalogueFile,
        upstreams: files.upstreams.value as UpstreamsFile,
        families: files.families
          .map(family => family.value as FamilyFile)
          .toSorted((a, b) => (a.family < b.family ? -1 : 1)),
      }
      const resolved = resolveTables(sources, schemas)
      const { tables } = resolved
      return { findings: sortFindings([...sorted, ...checkMargins(view, tables)]), tables, resolved, view }
    },
  }
}

function hasItsUpstreams(view: CatalogueView): boolean {
  return view.entries.every(entry => entry.targets.every(target => view.hosts.has(target.via)))
}

/**
 * Sorts files by their path below the catalogue folder. `isWhole` is false if there are no families or a YAML file is in the
 * wrong place: checks across files would then report what it contains as missing.
 */
function sortOut(texts: readonly SourceText[], findings: Finding[]): SourceFiles & { readonly isWhole: boolean } {
  const families: SourceFile[] = []
  let catalogue: SourceFile | undefined
  let upstreams: SourceFile | undefined
  const astray = new Set<string>()
  const label = texts[0]?.path.split('/')[0] ?? 'catalogue'
  for (const text of texts) {
    const path = text.path.slice(label.length + 1)
    if (path === 'catalogue.yaml') catalogue = new SourceFile(text)
    else if (path === 'upstreams.yaml') upstreams = new SourceFile(text)
    else if (/^families\/[^/]+\.yaml$/.test(path)) families.push(new SourceFile(text))
    else if (text.parsed?.value === undefined && text.parsed !== undefined) findings.push(...text.parsed.findings)
    else if (!path.endsWith('.md')) {
      const goal = goalOf(path)
      if (goal !== null) astray.add(goal)
      const place = { file: text.path, line: 1, column: 1 }
      const fix = goal === null ? 'delete it' : `move it to ${goal}, or delete it`
      findings.push({ ...place, code: 'unexpected-file', message: 'nothing reads this file', fix })
    }
  }
  for (const [name, file] of [
    ['catalogue.yaml', catalogue],
    ['upstreams.yaml', upstreams],
    ['families', families[0]],
  ] as const) {
    if (file !== undefined || astray.size > 0) continue
    const place = { file: `${label}/${name}`, line: 1, column: 1 }
    const [message, fix] =
      name === 'families'
        ? ['there are no families', 'restore the files families/<family>.yaml']
        : ['the file is missing', 'restore it']
    findings.push({ ...place, code: 'missing-file', message, fix })
  }
  return { catalogue, upstreams, families, isWhole: astray.size === 0 && families.length > 0 }
}

/** Where a misplaced YAML file belongs; null for other files. */
function goalOf(path: string): string | null {
  const name = /([^/]+)\.ya?ml$/i.exec(path)?.[1]?.toLowerCase()
  if (name === undefined) return null
  return name === 'catalogue' || name === 'upstreams' ? `${name}.yaml` : `families/${name}.yaml`
}
