/** How many generated lines a change to the catalogue adds and removes, as git counts them. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { writeFiles } from '../../codegen/generate.ts'
import type { CheckedSources } from '../../codegen/outline.ts'
import { renderFiles, renderTables } from '../../codegen/render.ts'
import { resolveTables } from '../../codegen/resolve.ts'
import { readSchemas, type Schema } from '../../codegen/schemas.ts'
import { readCatalogue } from '../../codegen/source.ts'

type Loose = Record<string, unknown>
type Family = Loose & { family: string; models: (Loose & { name: string; entries: (Loose & { id: string })[] })[] }

const root = join(import.meta.dirname, '../..')
const schemas = readSchemas()
const scratch = mkdtempSync(join(tmpdir(), 'catalogue-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

interface Sources {
  catalogue: Loose
  upstreams: { upstreams: Record<string, Loose> }
  families: Family[]
}

const parsed = parseSources()

/** A copy of the parsed catalogue that a test may change. */
const sources = (): Sources => structuredClone(parsed)

function parseSources(): Sources {
  const texts = readCatalogue(join(root, 'catalogue'), 'catalogue')
  const read = (path: string): unknown => parse(texts.find(text => text.path === path)?.text ?? '')
  const families = texts.filter(text => /families\/.*\.yaml$/.test(text.path)).map(({ path }) => read(path) as Family)
  const upstreams = read('catalogue/upstreams.yaml') as Sources['upstreams']
  return { catalogue: read('catalogue/catalogue.yaml') as Loose, upstreams, families }
}

interface FileChange {
  readonly file: string
  readonly added: number
  readonly removed: number
}

writeFiles(join(scratch, 'before'), renderTables(resolveTables(sources() as unknown as CheckedSources, schemas)))

/**
 * Returns how many lines a change to the sources adds to and removes from each table, without the digests, which always change.
 */
function changes(change: (sources: Sources) => void): FileChange[] {
  const changed = sources()
  change(changed)
  writeFiles(join(scratch, 'after'), renderTables(resolveTables(changed as unknown as CheckedSources, schemas)))
  return difference('before', 'after')
}

function difference(before: string, after: string): FileChange[] {
  const { stdout } = spawnSync('git', ['diff', '--no-index', '--numstat', '--no-renames', before, after], {
    cwd: scratch,
    encoding: 'utf8',
  })
  return stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const [added, removed, path = ''] = line.split('\t')
      const file = path.replace(/^.*generated\//, '').replace(/[}"]/g, '')
      const digest = ['settings.ts', 'tables.ts'].includes(file) ? 1 : 0
      return { file, added: Number(added) - digest, removed: Number(removed) - digest }
    })
    .filter(({ added, removed }) => added + removed > 0)
}

function linesOf(files: readonly FileChange[]): number {
  return files.reduce((sum, { added, removed }) => sum + added + removed, 0)
}

/** Returns a different value that the schema allows. */
function otherValue(schema: Schema, value: unknown): unknown {
  if (schema.enum !== undefined) return schema.enum.find(word => word !== value)
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  if (Array.isArray(value)) return [...value, ...value].slice(0, Math.max(1, value.length - 1))
  return schema.type === 'object' ? {} : typeof value === 'string' ? `${value}x` : 1
}

/** Returns the path of every dialect word, which is a setting in `dialect.schema.json`. Groups of words are not listed. */
function wordsOf(schema: Schema, path: readonly string[] = []): { path: readonly string[]; schema: Schema }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) =>
    property.properties === undefined
      ? [{ path: [...path, key], schema: property }]
      : wordsOf(property, [...path, key]),
  )
}

const words = wordsOf(schemas.dialect).filter(({ schema }) => schema.type !== 'object')

function valueAt(facts: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Loose | undefined)?.[key], facts)
}

function say(holder: Loose, path: readonly string[], value: unknown): void {
  let facts = holder
  for (const key of ['dialect', ...path.slice(0, -1)]) {
    facts[key] ??= {}
    facts = facts[key] as Loose
  }
  facts[path.at(-1) as string] = value
}

/** Every place in the catalogue that may set dialect words, each with a readable name. */
function places({ families, upstreams }: Sources): [string, Loose][] {
  return [
    ...Object.entries(upstreams.upstreams).map(([id, host]): [string, Loose] => [`upstream ${id}`, host]),
    ...families.flatMap(family => [
      [`family ${family.family}`, family] as [string, Loose],
      ...family.models.flatMap(model => [
        [`model ${model.name}`, model] as [string, Loose],
        ...model.entries.slice(0, 1).map((entry): [string, Loose] => [`entry ${entry.id}`, entry]),
      ]),
    ]),
  ]
}

test('changing a dialect word changes one line, wherever it is set', () => {
  let judged = 0
  for (const [index, [name, holder]] of places(sources()).entries()) {
    const spoken = words.filter(({ path }) => valueAt(holder.dialect, path) !== undefined)
    const word = spoken[index % spoken.length]
    if (word === undefined || index % 2 > 0) continue
    const moved = changes(now => {
      const place = places(now)[index]?.[1] as Loose
      say(place, word.path, otherValue(word.schema, valueAt(place.dialect, word.path)))
    })
    const counts = moved.map(({ added, removed }) => [added, removed])
    expect([name, word.path, counts]).toEqual([name, word.path, [[1, 1]]])
    judged++
  }
  expect(judged).toBeGreaterThan(15)
})

test('the first word of a dialect or of a group changes at most 20 lines', () => {
  const simple = words.find(({ path }) => path.length > 1) as (typeof words)[number]
  for (const [index, [name, holder]] of places(sources()).entries()) {
    if (index % 4 > 0) continue
    const word = words.find(({ path }) => valueAt(holder.dialect, path.slice(0, 1)) === undefined) ?? simple
    const moved = changes(now =>
      say(places(now)[index]?.[1] as Loose, word.path, otherValue(word.schema, word.schema.default)),
    )
    expect([name, word.path, linesOf(moved) > 0 && linesOf(moved) <= 20]).toEqual([name, word.path, true])
  }
})

test('a new word with a default changes one line of the tables, and at most 40 with types and documentation', async () => {
  const current = resolveTables(sources() as unknown as CheckedSources, schemas)
  writeFiles(join(scratch, 'old-words'), await renderFiles(current, schemas))
  const group = words.find(({ path }) => path.length > 1)?.path[0] as string
  const word: Schema = { enum: ['first', 'second'], default: 'first', description: 'A new word.' }
  for (const where of [[], [group]]) {
    const dialect = structuredClone(schemas.dialect)
    const holder = where.reduce((schema, key) => schema.properties?.[key] as Schema, dialect)
    holder.properties = { ...holder.properties, new_word: word }
    const now = { ...schemas, dialect }
    const files = await renderFiles(resolveTables(sources() as unknown as CheckedSources, now), now)
    writeFiles(join(scratch, 'new-word'), files)
    const moved = spawnSync('git', ['diff', '--no-index', '--numstat', 'old-words', 'new-word'], {
      cwd: scratch,
      encoding: 'utf8',
    })
    const counts = new Map(
      moved.stdout
        .trim()
        .split('\n')
        .map(line => {
          const [added, removed, path = ''] = line.split('\t')
          return [path.replace(/^.*=> ?[^/]*\//, '').replace(/^.*\}\//, ''), Number(added) + Number(removed)]
        }),
    )
    expect(counts.get('src/generated/defaults.ts')).toBe(1)
    // One digest for another.
    expect(counts.get('src/generated/tables.ts')).toBe(2)
    expect([...counts.keys()].filter(path => path.startsWith('src/generated/')).toSorted()).toEqual([
      'src/generated/defaults.ts',
      'src/generated/tables.ts',
      'src/generated/types.ts',
    ])
    expect([...counts.values()].reduce((sum, lines) => sum + lines)).toBeLessThanOrEqual(40)
    rmSync(join(scratch, 'new-word'), { recursive: true })
  }
})

test('a new price changes one line', () => {
  const moved = changes(({ families }) => {
    const entry = families.find(({ family }) => family === 'claude')?.models[0]?.entries[1] as Loose
    ;(entry.price as Loose).vnd = 12_345
  })
  expect(moved).toEqual([{ file: 'families/claude.ts', added: 1, removed: 1 }])
})

test('a fact of a model or a family changes one line for all its entries', () => {
  const ofModel = changes(({ families }) => {
    const model = families.find(({ family }) => family === 'claude')?.models[0] as Loose
    model.released = '2026-06-10'
  })
  expect(ofModel).toEqual([{ file: 'families/claude.ts', added: 1, removed: 1 }])
  const ofFamily = changes(({ families }) => {
    ;(families.find(({ family }) => family === 'claude') as Loose).token_factor = 1.5
  })
  expect(ofFamily).toEqual([{ file: 'families/claude.ts', added: 1, removed: 1 }])
})

test('a model’s retirement changes one line', () => {
  const moved = changes(({ families }) => {
    const model = families.find(({ family }) => family === 'claude')?.models[1] as Loose
    model.deprecated = { since: '2026-11-22', retires: '2027-11-22', successor: 'claude-fable-5' }
  })
  expect(moved).toEqual([{ file: 'families/claude.ts', added: 1, removed: 0 }])
})

test('a new provider with its family adds lines and removes none', () => {
  const moved = changes(now => {
    const { extras: _, ...host } = now.upstreams.upstreams.deepseek as Loose
    now.upstreams.upstreams.somebody = { ...host, base_url: 'https://api.somebody.example', discount: undefined }
    const copy = structuredClone(now.families.find(({ family }) => family === 'deepseek')) as Family
    copy.family = 'somebody'
    copy.models = copy.models.slice(0, 1)
    for (const model of copy.models) {
      model.entries = [
        { ...(model.entries[0] as Loose), id: 'some-model', upstream: { via: 'somebody', model: 'one' } },
      ]
    }
    now.families.push(copy)
  })
  expect(moved.map(({ file }) => file).toSorted()).toEqual([
    'entries.ts',
    'families/somebody.ts',
    'ids.ts',
    'tables.ts',
    'upstreams.ts',
  ])
  expect(moved.filter(({ removed }) => removed > 0)).toEqual([])
})
