/**
 * The catalogue as the checks see it: every entry with its family, model and location, from parsed values that may be invalid.
 * Checks run alongside schema validation, so that one run shows all findings.
 */

import type { Code } from './codes.ts'
import type { Finding } from './findings.ts'
import type { Path, SourceFile } from './source.ts'

export type Loose = Readonly<Record<string, unknown>>

export interface Place {
  readonly file: SourceFile
  readonly path: Path
}

export interface TargetView extends Place {
  readonly value: Loose
  readonly via: string
}

export interface EntryView extends Place {
  readonly id: string
  readonly value: Loose
  readonly model: ModelView
  readonly price: { readonly vnd: number; readonly per: string } | undefined
  readonly targets: readonly TargetView[]
  readonly standard: string
  readonly deprecated: DeprecationView
}

/** When an entry retires and what replaces it. Missing or invalid values are undefined. */
export interface DeprecationView {
  /** Where `deprecated` is written: in the entry itself or, failing that, in its model; undefined if in neither. */
  readonly holder: 'entry' | 'model' | undefined
  readonly retires: string | undefined
  readonly successor: string | undefined
}

export interface ModelView extends Place {
  readonly value: Loose
  readonly family: FamilyView
  readonly entries: EntryView[]
}

export interface FamilyView extends Place {
  readonly name: string
  readonly value: Loose
  readonly standard: string
  readonly models: ModelView[]
}

export interface HostView extends Place {
  readonly id: string
  readonly value: Loose
  isUsed: boolean
}

export interface CatalogueView {
  readonly service: string
  readonly main: SourceFile | undefined
  readonly settings: Loose
  readonly families: readonly FamilyView[]
  readonly entries: readonly EntryView[]
  /** Entries by id. If several entries share an id, the first one. */
  readonly byId: ReadonlyMap<string, EntryView>
  readonly hosts: ReadonlyMap<string, HostView>
  /** Today's date (ISO) for checks of retirement dates; null skips these checks. */
  readonly today: string | null
}

export interface SourceFiles {
  readonly catalogue: SourceFile | undefined
  readonly upstreams: SourceFile | undefined
  readonly families: readonly SourceFile[]
}

export type Report = (place: Place, at: Path, code: Code, message: string, fix: string, part?: 'key' | 'value') => void

/** Returns a reporter that adds to `findings`. The reporter's `at` is a path relative to its `place`. */
export function reporter(findings: Finding[]): Report {
  return (place, at, code, message, fix, part = 'value') => {
    findings.push({ ...place.file.locate([...place.path, ...at], part), code, message, fix })
  }
}

const SERVICE = /^(?!req$)[a-z][a-z0-9]{1,11}$/

export function viewCatalogue(files: SourceFiles, today: string | null = null): CatalogueView {
  const settings = asRecord(files.catalogue?.value)
  const families = files.families.map(viewFamily)
  const entries = families.flatMap(family => family.models.flatMap(model => model.entries))
  const byId = new Map<string, EntryView>()
  for (const entry of entries) if (!byId.has(entry.id)) byId.set(entry.id, entry)
  const hosts = new Map<string, HostView>()
  const file = files.upstreams
  if (file !== undefined) {
    for (const [id, value] of Object.entries(asRecord(asRecord(file.value).upstreams))) {
      hosts.set(id, { id, value: asRecord(value), file, path: ['upstreams', id], isUsed: false })
    }
  }
  for (const target of entries.flatMap(entry => entry.targets)) {
    const host = hosts.get(target.via)
    if (host !== undefined) host.isUsed = true
  }
  // An invalid service name has its own finding. Using it would only make every id look wrong.
  const service = SERVICE.test(asText(settings.service)) ? asText(settings.service) : ''
  return { service, main: files.catalogue, settings, families, entries, byId, hosts, today }
}

function viewFamily(file: SourceFile): FamilyView {
  const value = asRecord(file.value)
  const models: ModelView[] = []
  const family = { file, path: [], name: asText(value.family), value, standard: asText(value.api_standard), models }
  for (const [index, item] of asList(value.models).entries())
    models.push(viewModel(family, asRecord(item), ['models', index]))
  return family
}

function viewModel(family: FamilyView, value: Loose, path: Path): ModelView {
  const entries: EntryView[] = []
  const model = { file: family.file, path, value, family, entries }
  for (const [index, item] of asList(value.entries).entries()) {
    entries.push(viewEntry(model, asRecord(item), [...path, 'entries', index]))
  }
  return model
}

function viewEntry(model: ModelView, value: Loose, path: Path): EntryView {
  const price = asRecord(value.price)
  const isPriced = typeof price.vnd === 'number' && typeof price.per === 'string'
  return {
    file: model.file,
    path,
    value,
    model,
    id: asText(value.id),
    price: isPriced ? { vnd: price.vnd as number, per: price.per as string } : undefined,
    targets: viewTargets(model.file, value.upstream, [...path, 'upstream']),
    standard: model.family.standard,
    deprecated: viewDeprecation(model.value.deprecated, value.deprecated),
  }
}

function viewDeprecation(ofModel: unknown, ofEntry: unknown): DeprecationView {
  const holder = ofEntry !== undefined ? 'entry' : ofModel !== undefined ? 'model' : undefined
  const facts = asRecord(ofEntry ?? ofModel)
  const text = (key: string) => (typeof facts[key] === 'string' ? facts[key] : undefined)
  return { holder, retires: text('retires'), successor: text('successor') }
}

function viewTargets(file: SourceFile, upstream: unknown, path: Path): TargetView[] {
  if (!Array.isArray(upstream)) {
    const value = asRecord(upstream)
    return [{ file, path, value, via: asText(value.via) }]
  }
  return upstream.map((item, index) => {
    const value = asRecord(item)
    return { file, path: [...path, index], value, via: asText(value.via) }
  })
}

export function asRecord(value: unknown): Loose {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Loose) : {}
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
