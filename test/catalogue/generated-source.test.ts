/** Importing the generated source yields exactly the tables that the compiler resolved, and its order and layout are fixed. */

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { formatFindings } from '../../codegen/findings.ts'
import { writeFiles } from '../../codegen/generate.ts'
import { literal } from '../../codegen/literal.ts'
import { camelName, modelName } from '../../codegen/names.ts'
import { renderFiles, renderTables } from '../../codegen/render.ts'
import type { Resolved } from '../../codegen/resolve.ts'
import { readCatalogue, type SourceText } from '../../codegen/source.ts'
import { createCatalogue } from '../../src/catalogue/catalogue.ts'
import { TABLES } from '../../src/generated/tables.ts'
import type { Tables } from '../../src/generated/types.ts'
import { compiler, goodTexts, withFiles } from './support.ts'

const root = join(import.meta.dirname, '../..')
const scratch = mkdtempSync(join(tmpdir(), 'catalogue-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Resolves leniently, because changed catalogues no longer have as many entries as their `counts` setting expects. */
function resolved(texts: readonly SourceText[]): Resolved {
  const { resolved: found, findings } = compiler.compile(texts, { lenient: true })
  if (found === null) throw new Error(formatFindings(findings, 'text'))
  return found
}

/** A catalogue that sets facts wherever the schema allows them, and contains strings that are hard to quote. */
function everyLayer(): SourceText[] {
  const text = (name: string) => goodTexts().find(({ path }) => path === `catalogue/${name}`)?.text ?? ''
  const long = `It's "long": ${'說明 and more, '.repeat(12)}`
  return withFiles({
    'upstreams.yaml': text('upstreams.yaml').replace(
      '    base_url: https://north.example\n',
      `    base_url: https://north.example
    dialect: { reasoning: { stream_only: true } }
    rules: [{ op: drop, path: /of_the_host }]
    cooldown: { failures: 2 }
`,
    ),
    'families/many-layers.yaml': `family: many-layers
vendor: northern
api_standard: messages
token_factor: 1.25
dialect: { reasoning: { budget_accepted: false, budgets: { low: 1500 } } }
rules: [{ op: drop, path: /of_the_family }]
models:
  - name: Many Layers 1.5
    description: ${JSON.stringify(long)}
    context_tokens: 200000
    output_tokens_max: 64000
    capabilities: [reasoning, tools, streaming]
    dialect: { reasoning: { parameter: budget, budgets: { high: 20000 } } }
    rules: [{ op: set, path: /numbers, value: [${Array.from({ length: 60 }, (_, index) => index * 11).join(', ')}] }]
    entries:
      - { id: many-1.5, price: { vnd: 6000, per: mtok }, upstream: { via: north, model: "it's" } }
      - id: many-1.5-weighed
        price: { vnd: 6000, per: mtok }
        dialect: { reasoning: { levels: [low, high] } }
        output_tokens_max: 32000
        upstream:
          - { via: north, model: one, weight: 3, dialect: { reasoning: { stream_only: false } } }
          - { via: north, model: two, weight: 1, rules: [{ op: set, path: /deep, value: { "a b": [{ x: 1, y: 2 }, { x: 3, y: null }] } }] }
      - { id: req/many-1.5, price: { vnd: 900, per: request }, upstream: { via: north, model: "it's" } }
      - { id: req/many-1.5-again, price: { vnd: 900, per: request }, upstream: { via: north, model: other } }
      - { id: req/many-1.5-choices, price: { vnd: 900, per: request }, dialect: { output: { choices_max: 4 } }, upstream: { via: north, model: "it's" } }
  - name: 模型
    capabilities: [tools]
    context_tokens: 1000
    output_tokens_max: 1000
    entries:
      - { id: nameless, price: { vnd: 6000, per: mtok }, upstream: { via: north, model: nameless } }
  - name: Many Layers 1-5
    capabilities: [tools]
    context_tokens: 1000
    output_tokens_max: 1000
    entries:
      - { id: alike, price: { vnd: 6000, per: mtok }, upstream: { via: north, model: alike } }
`,
  })
}

/**
 * Loads the tables in a separate process. `shared` has, for each target, the index of the first target with the same dialect
 * object.
 */
function load({ tables, outline }: Resolved, name: string): { tables: Tables; shared: number[] } {
  const project = join(scratch, name)
  writeFiles(project, renderTables({ tables, outline }))
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  const checked = 'src/lib/whole-files.ts'
  cpSync(join(root, checked), join(project, checked))
  const script = `
    const { TABLES } = await import(${JSON.stringify(join(project, 'src/generated/tables.ts'))})
    const dialects = TABLES.entries.flatMap(entry => entry.upstreams.map(target => target.dialect))
    console.log(JSON.stringify({ tables: TABLES, shared: dialects.map(dialect => dialects.indexOf(dialect)) }))`
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    }),
  )
}

test('what the gateway loads is what the sources resolve to', () => {
  const { tables } = resolved(readCatalogue(join(root, 'catalogue'), 'catalogue'))
  expect(TABLES).toEqual(tables)
})

test('facts from every place that allows them reach the loaded tables', () => {
  const made = resolved(everyLayer())
  const { tables } = load(made, 'layers')
  expect(tables).toEqual(made.tables)
  const of = (id: string) => tables.entries.find(entry => entry.id === id)?.upstreams ?? []
  expect(of('many-1.5-weighed').map(target => target.dialect.reasoning)).toMatchObject([
    {
      parameter: 'budget',
      levels: ['low', 'high'],
      streamOnly: false,
      budgetAccepted: false,
      budgets: { low: 1500, high: 20_000 },
    },
    { parameter: 'budget', levels: ['low', 'high'], streamOnly: true },
  ])
  const rulesOf = (id: string, target = 0) => of(id)[target]?.rules.map(rule => 'path' in rule && rule.path)
  expect(rulesOf('many-1.5')).toEqual(['/of_the_family', '/numbers', '/of_the_host'])
  expect(rulesOf('many-1.5-weighed', 1)).toEqual(['/of_the_family', '/numbers', '/of_the_host', '/deep'])
})

test('targets with the same facts refer to the same constant', () => {
  const made = resolved(everyLayer())
  const { tables, shared } = load(made, 'shared')
  const places = tables.entries.flatMap(entry => entry.upstreams.map(target => `${entry.id} ${target.model}`))
  const placeOf = (place: string) => shared[places.indexOf(place)]
  expect(placeOf('req/many-1.5-again other')).toBe(placeOf("req/many-1.5 it's"))
  expect(placeOf("req/many-1.5 it's")).not.toBe(placeOf("many-1.5 it's"))
})

test('constants are named after family and model, and never twice', () => {
  const files = renderTables(resolved(everyLayer()))
  const family = files.find(({ path }) => path.endsWith('many-layers.ts'))?.text ?? ''
  const names = [...family.matchAll(/^const (\w+)/gm)].map(match => match[1])
  expect(new Set(names).size).toBe(names.length)
  expect(names).toEqual(
    expect.arrayContaining([
      'manyLayersDialect',
      'manyLayers1_5Dialect',
      'manyLayers1_5OnNorthPerCall',
      'manyLayers1_5_2Dialect',
    ]),
  )
})

test.each<[string, string]>([
  ['Claude Opus 4.5', 'claudeOpus4_5'],
  ['GPT-5.4 mini', 'gpt5_4Mini'],
  ['Qwen/Qwen3-VL-235B-A22B-Instruct', 'qwenQwen3Vl235bA22bInstruct'],
  ['模型', ''],
])('%j becomes the name %j', (text, name) => {
  expect(camelName(text)).toBe(name)
})

test('a model that is not named after its family gets the family’s name as a prefix', () => {
  expect(modelName('gpt', '4o mini')).toBe('gpt4oMini')
  expect(modelName('gpt-oss', 'gpt-oss-20b')).toBe('gptOss20b')
})

test('the tables list entries in the order of the files, and the catalogue sorts them by id', () => {
  const { tables } = resolved(goodTexts())
  const ids = tables.entries.map(({ id }) => id)
  expect(ids.slice(0, 3)).toEqual(['alpha-1', 'svc/alpha-1', 'req/alpha-1'])
  const catalogue = createCatalogue({ ...tables, entries: tables.entries.toReversed() })
  expect(catalogue.items.map(({ entry }) => entry.id)).toEqual(ids.toSorted())
})

test('the project’s formatter has nothing to change', async () => {
  const project = join(scratch, 'formatted')
  writeFiles(project, await renderFiles(resolved(everyLayer()), compiler.schemas))
  const longest = Array.from({ length: 12 }, (_, size) => ({
    ['k'.repeat(size + 1)]: 'v'.repeat(96 + size),
    list: Array.from({ length: size }, (_each, index) => `word ${index}`),
    objects: Array.from({ length: size % 4 }, (_each, index) => ({ type: `t${index}`, at: '/x'.repeat(size * 3) })),
    numbers: Array.from({ length: size * 6 }, (_each, index) => index * 1.5),
    'not a name': { "it's": `"${"'".repeat(size)}`, deep: { deeper: { deepest: 'x'.repeat(size * 9) } } },
    nested: [
      [1, 2],
      ['a', 'b'],
    ].slice(0, size % 3),
    mixed: [1, 'a', null, true, { a: 1, b: 2 }].slice(0, size % 6),
  }))
  for (const [index, value] of longest.entries()) {
    writeFileSync(
      join(project, `src/generated/value-${index}.ts`),
      `export const value = ${literal(value, { indent: '', before: 21, after: 0 })}\n`,
    )
  }
  const biome = join(root, 'node_modules/.bin/biome')
  const config = `--config-path=${root}`
  const { status, stdout, stderr } = spawnSync(
    biome,
    ['format', config, '--vcs-enabled=false', '--max-diagnostics=20', project],
    {
      encoding: 'utf8',
      cwd: project,
    },
  )
  expect(stdout + stderr).toMatch(/Checked \d\d files/)
  expect([stdout.slice(0, 4_000), stderr.slice(0, 4_000), status]).toEqual([expect.any(String), '', 0])
})

test('the engine has only the types of the tables; those of the YAML files are part of the codegen', () => {
  const names = (path: string) =>
    new Set(
      [...readFileSync(join(root, path), 'utf8').matchAll(/^export (?:interface|type) (\w+)/gm)].map(match => match[1]),
    )
  const tables = names('src/generated/types.ts')
  const files = names('codegen/generated/types.ts')
  expect([...tables].filter(name => files.has(name))).toEqual([])
  for (const name of [
    'CatalogueFile',
    'UpstreamsFile',
    'FamilyFile',
    'HostFacts',
    'ModelFacts',
    'EntryFacts',
    'DialectFacts',
  ]) {
    expect([name, tables.has(name), files.has(name)]).toEqual([name, false, true])
  }
  for (const name of ['Tables', 'ModelEntry', 'Upstream', 'Dialect', 'Rule']) {
    expect([name, tables.has(name)]).toEqual([name, true])
  }
})
