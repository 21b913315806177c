/** What a diff of two catalogues shows. */

import { expect, test } from 'vitest'
import { createCompiler } from '../../codegen/compile.ts'
import { diffTables, unacknowledged } from '../../codegen/diff/diff.ts'
import { schemaDefaults } from '../../codegen/diff/facts.ts'
import { renderMarkdown } from '../../codegen/diff/markdown.ts'
import { usageEffect } from '../../codegen/diff/usage.ts'
import type { Tables } from '../../src/generated/types.ts'
import { chunksOf, diffOf, edited, good, TODAY, tablesOf, USAGE, withAcknowledged } from './diff-support.ts'
import { compiler, goodTexts, withPassage } from './support.ts'

test('a diff without changes is one line', () => {
  expect(renderMarkdown(diffOf(good), 'main', 50)).toBe('## Catalogue against main\n\nNo difference.\n')
})

test('prices show old, new and percent; above the threshold they need an acknowledgement of exactly this price', () => {
  const now = tablesOf(edited('families/beta.yaml', ['vnd: 2000', 'vnd: 3000'], ['vnd: 1500', 'vnd: 3000']))
  const diff = diffOf(now)
  expect(diff.prices.map(({ name, percent, isLarge }) => [name, percent, isLarge])).toEqual([
    ['beta-1', 100, true],
    ['beta-2', 50, false],
  ])
  expect(unacknowledged(diff).map(change => change.name)).toEqual(['beta-1'])
  expect(unacknowledged(diffOf(now, [{ name: 'beta-1', price: { vnd: 3000, per: 'mtok' } }]))).toEqual([])
  expect(unacknowledged(diffOf(now, [{ name: 'beta-1', price: { vnd: 3001, per: 'mtok' } }]))).toHaveLength(1)
  expect(renderMarkdown(diff, 'main', 50)).toBe(
    `## Catalogue against main

2 prices changed. **1 price change beyond ±50 % is not acknowledged in catalogue.yaml: beta-1.**

### Prices

| name | old | new | change |  |
|---|---|---|---|---|
| \`beta-1\` | 1,500 / mtok | 3,000 / mtok | +100.0 % | **not acknowledged** |
| \`beta-2\` | 2,000 / mtok | 3,000 / mtok | +50.0 % |  |
`,
  )
})

test('a price that falls too far counts as a large change, too', () => {
  const diff = diffOf(tablesOf(withPassage('families/alpha.yaml', 'vnd: 900', 'vnd: 300')))
  expect(unacknowledged(diff).map(({ name, percent }) => [name, Math.round(percent ?? 0)])).toEqual([
    ['req/alpha-1', -67],
  ])
})

test('a description is shown if it was written by hand, not if it changed with the facts that it is made from', () => {
  const now = tablesOf(
    edited(
      'families/beta.yaml',
      ['context_tokens: 64000', 'context_tokens: 65000'],
      ['name: Beta 2', 'name: Beta Two'],
    ),
  )
  expect(diffOf(now).facts.map(({ what, new: text }) => [what, text])).toEqual([
    ['context_tokens', '65000'],
    ['name', 'Beta Two'],
  ])
  const told = tablesOf(edited('families/beta.yaml', ['name: Beta 2', 'name: Beta 2\n    description: Quick.']))
  expect(diffOf(told).facts).toEqual([
    { what: 'description', old: 'made from the facts', new: 'Quick.', names: ['beta-2'] },
  ])
})

test('an alias in another case is the same name', () => {
  const pricesOf = (line: string) =>
    diffOf(tablesOf(edited('catalogue.yaml', ['first: alpha-1', line]))).prices.map(({ name, kind, servedBy }) => [
      name,
      kind,
      servedBy,
    ])
  expect(pricesOf('First: alpha-1')).toEqual([])
  expect(pricesOf('First: beta-1')).toEqual([['first', 'alias', 'beta-1']])
})

test('an alias or a fallback that now means another entry changes what its callers pay', () => {
  const now = tablesOf(
    edited('catalogue.yaml', ['first: alpha-1', 'first: beta-1'], ['fallback: alpha-1', 'fallback: beta-2']),
  )
  const diff = diffOf(now)
  expect(diff.prices.map(({ name, kind, isLarge }) => [name, kind, isLarge])).toEqual([
    ['fallback', 'fallback', true],
    ['first', 'alias', true],
  ])
  expect(diff.settings.map(({ what, old, new: now }) => [what, old, now])).toEqual([
    ['fallback', 'alpha-1', 'beta-2'],
    ['alias first', 'alpha-1', 'beta-1'],
  ])
})

test('a vendor name that is gone leaves its models to the fallback, at its price', () => {
  const texts = edited('catalogue.yaml', ['aliases:', 'vendors: { south-ai: southern }\naliases:'])
  const gone = diffOf(good, [], tablesOf(texts))
  expect(gone.prices.map(({ name, kind, servedBy, isLarge }) => [name, kind, servedBy, isLarge])).toEqual([
    ['south-ai/beta-1', 'removal', 'alpha-1', true],
    ['south-ai/beta-2', 'removal', 'alpha-1', true],
  ])
  const price = { vnd: 6000, per: 'mtok' } as const
  const acknowledged = ['south-ai/beta-1', 'south-ai/beta-2'].map(name => ({ name, price }))
  expect(unacknowledged(diffOf(good, acknowledged, tablesOf(texts)))).toEqual([])
  const renamed = diffOf(tablesOf(edited('families/beta.yaml', ['vendor: southern', 'vendor: austral'])))
  expect(renamed.prices.map(({ name }) => name)).toEqual(['southern/beta-1', 'southern/beta-2'])
  const removed = diffOf(tablesOf(edited('families/beta.yaml', ['{ id: beta-2,', '{ id: beta-3,'])))
  expect(removed.prices.map(({ name }) => name)).toEqual(['beta-2'])
})

test('a changed line of a family is shown once, with every entry that it affects', () => {
  const now = tablesOf(
    edited(
      'families/beta.yaml',
      ['max_completion_tokens }', 'max_tokens }\n  sampling: { stop_max: 2 }'],
      ['context_tokens: 64000', 'context_tokens: 65000'],
    ),
  )
  expect(diffOf(now).facts).toEqual([
    { what: 'context_tokens', old: '64000', new: '65000', names: ['beta-1'] },
    { what: 'dialect.output.cap_field', old: 'max_completion_tokens', new: 'max_tokens', names: ['beta-2'] },
    { what: 'dialect.output.cap_field (target 1)', old: 'max_completion_tokens', new: 'max_tokens', names: ['beta-1'] },
    { what: 'dialect.output.cap_field (target 2)', old: 'max_completion_tokens', new: 'max_tokens', names: ['beta-1'] },
    { what: 'dialect.sampling.stop_max', old: '4', new: '2', names: ['beta-2'] },
    { what: 'dialect.sampling.stop_max (target 1)', old: '4', new: '2', names: ['beta-1'] },
    { what: 'dialect.sampling.stop_max (target 2)', old: '4', new: '2', names: ['beta-1'] },
  ])
})

test('a dialect word that is new or gone is shown only where its value is not the default', () => {
  const { dialect } = compiler.schemas
  const words = { ...dialect.properties, hum: { type: 'boolean', default: false } }
  const later = createCompiler({ ...compiler.schemas, dialect: { ...dialect, properties: words } })
  const texts = withPassage('families/alpha.yaml', 'parameter: budget } }', 'parameter: budget }, hum: true }')
  const { tables } = later.compile(texts)
  if (tables === null) throw new Error('unreachable')
  const [before, after] = [schemaDefaults(compiler.schemas), schemaDefaults(later.schemas)]
  const options = { thresholdPercent: 50, today: TODAY, acknowledged: [] }
  const added = diffTables(good, tables, { ...options, schemaDefaults: { old: before, now: after } })
  const names = ['alpha-1', 'req/alpha-1', 'svc/alpha-1']
  expect(added.facts).toEqual([{ what: 'dialect.hum', old: 'false', new: 'true', names }])
  const gone = diffTables(tables, good, { ...options, schemaDefaults: { old: after, now: before } })
  expect(gone.facts).toEqual([{ what: 'dialect.hum', old: 'true', new: 'false', names }])
})

test('entries that come and go are listed, with rules, targets and upstreams that change', () => {
  const beta = edited(
    'families/beta.yaml',
    ['{ id: beta-2,', '{ id: beta-3,'],
    ['- { via: south, model: beta-1 }', '- { via: south, model: beta-1, rules: [{ op: drop, path: /user }] }'],
  )
  const upstreams = edited('upstreams.yaml', ['https://south.example/v1', 'https://south.example/v2'])
  const texts = beta.map(
    source => upstreams.find(other => other.path === source.path && source.path.endsWith('upstreams.yaml')) ?? source,
  )
  const diff = diffOf(tablesOf(texts))
  expect([diff.added.map(entry => entry.id), diff.removed.map(entry => entry.id)]).toEqual([['beta-3'], ['beta-2']])
  expect(renderMarkdown(diff, 'main', 50)).toContain(`### Added entries

| entry | name | price | upstream |
|---|---|---|---|
| \`beta-3\` | Beta 2 | 2,000 / mtok | south: beta-2 (chat_completions) |

### Removed entries

| entry | name | price | served from now on by |
|---|---|---|---|
| \`beta-2\` | Beta 2 | 2,000 / mtok | \`alpha-1\` |
`)
  expect(diff.facts).toEqual([
    { what: 'rules (target 1)', old: '–', new: '{"op":"drop","path":"/user"}', names: ['beta-1'] },
  ])
  expect(diff.settings).toEqual([
    { what: 'base_url', old: 'https://south.example/v1', new: 'https://south.example/v2', names: ['upstream south'] },
  ])
})

test('a new provider is shown with its own settings, not with the defaults of every provider', () => {
  const block = `  west:
    base_url: https://west.example/v1
    paths: { chat_completions: /chat }
    auth: { scheme: bearer }
    attempts_max: 3
`
  const texts = goodTexts().map(source =>
    source.path.endsWith('upstreams.yaml') ? { ...source, text: `${source.text.trimEnd()}\n${block}` } : source,
  )
  const what = (diff: ReturnType<typeof diffOf>) => diff.settings.map(each => [each.what, each.old, each.new])
  const tables = tablesOf(texts)
  expect(what(diffOf(tables))).toEqual([
    ['attempts_max', '2', '3'],
    ['base_url', '–', 'https://west.example/v1'],
    ['paths.chat_completions', '–', '/chat'],
    ['auth.scheme', '–', 'bearer'],
  ])
  expect(what(diffOf(good, [], tables))).toEqual([
    ['attempts_max', '3', '2'],
    ['base_url', 'https://west.example/v1', '–'],
    ['paths.chat_completions', '/chat', '–'],
    ['auth.scheme', 'bearer', '–'],
  ])
})

const ending = (retires: string, successor: string) =>
  edited('families/beta.yaml', [
    '{ id: beta-2,',
    `{ id: beta-2, deprecated: { since: 2026-01-01, retires: ${retires}, successor: ${successor} },`,
  ])

test.each([
  ['past', '2026-07-23'],
  ['to come', '2027-07-23'],
])(
  'a retirement that is %s changes what callers pay as an alias does, and needs the same acknowledgement',
  async (_, day) => {
    const now = tablesOf(withAcknowledged(ending(day, 'alpha-1'), '{ vnd: 6000, per: mtok }'))
    const diff = diffOf(now)
    expect(unacknowledged(diff)).toEqual([
      {
        name: 'beta-2',
        kind: 'retirement',
        servedBy: 'alpha-1',
        old: { vnd: 2000, per: 'mtok' },
        new: { vnd: 6000, per: 'mtok' },
        percent: 200,
        isLarge: true,
        isAcknowledged: false,
      },
    ])
    expect(renderMarkdown(diff, 'main', 50)).toContain(
      '| retirement `beta-2` → `alpha-1` | 2,000 / mtok | 6,000 / mtok | +200.0 % | **not acknowledged** |',
    )
    expect(unacknowledged(diffOf(now, [{ name: 'beta-2', price: { vnd: 6000, per: 'mtok' } }]))).toEqual([])
    const { rows } = await usageEffect(chunksOf(USAGE, 100), good, now, TODAY)
    expect(rows[0]).toEqual({ name: 'beta-2', calls: 1, oldVnd: 3000n, newVnd: 9000n })
  },
)

test('a successor with another price unit is a large change, and its effect on usage is counted in that unit', async () => {
  const now = tablesOf(withAcknowledged(ending('2027-07-23', 'req/alpha-1'), '{ vnd: 900, per: request }'))
  expect(unacknowledged(diffOf(now)).map(({ name, kind, percent }) => [name, kind, percent])).toEqual([
    ['beta-2', 'retirement', null],
  ])
  const { rows } = await usageEffect(chunksOf(USAGE, 100), good, now, TODAY)
  expect(rows[0]).toEqual({ name: 'beta-2', calls: 1, oldVnd: 3000n, newVnd: 900n })
})

test('an unchanged retirement is not shown; one with another successor is', () => {
  const old = tablesOf(ending('2027-07-23', 'beta-1'))
  const options = { today: TODAY, thresholdPercent: 50, acknowledged: [] }
  const defaults = schemaDefaults(compiler.schemas)
  const against = (now: Tables) =>
    diffTables(old, now, { ...options, schemaDefaults: { old: defaults, now: defaults } }).prices
  expect(against(old)).toEqual([])
  const elsewhere = tablesOf(withAcknowledged(ending('2027-07-23', 'alpha-1'), '{ vnd: 6000, per: mtok }'))
  expect(against(elsewhere).map(({ kind, old, new: now }) => [kind, old.vnd, now.vnd])).toEqual([
    ['retirement', 1500, 6000],
  ])
})

test('a removed name costs what the fallback costs, or the entry of the alias that it became', () => {
  const gone = tablesOf(edited('families/beta.yaml', ['{ id: beta-2,', '{ id: beta-3,']))
  expect(diffOf(gone).prices.map(({ name, kind, servedBy, percent }) => [name, kind, servedBy, percent])).toEqual([
    ['beta-2', 'removal', 'alpha-1', 200],
  ])
  const texts = edited('families/beta.yaml', ['{ id: beta-2,', '{ id: beta-3,']).map(source =>
    source.path.endsWith('catalogue.yaml')
      ? { ...source, text: source.text.replace('first:', 'beta-2: beta-1\n  first:') }
      : source,
  )
  expect(
    diffOf(tablesOf(texts)).prices.map(({ name, kind, servedBy, percent }) => [name, kind, servedBy, percent]),
  ).toEqual([['beta-2', 'alias', 'beta-1', -25]])
})
