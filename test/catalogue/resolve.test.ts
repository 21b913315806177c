/** Names to entries at run time. */

import { expect, test } from 'vitest'
import { createCatalogue } from '../../src/catalogue/catalogue.ts'
import { catalogue } from '../../src/catalogue/current.ts'
import type { Tables } from '../../src/generated/types.ts'
import { compiler, goodTexts, withPassage } from './support.ts'

function tablesOf(texts = goodTexts()): Tables {
  const { tables, findings } = compiler.compile(texts)
  if (tables === null) throw new Error(JSON.stringify(findings))
  return tables
}

test.each([
  ['claude-opus-5', 'claude-opus-5', null],
  ['svc/claude-opus-5', 'svc/claude-opus-5', null],
  ['req/gpt-5.5', 'req/gpt-5.5', null],
  ['fable', 'claude-fable-5', 'fable'],
  ['sonnet', 'claude-sonnet-5', 'sonnet'],
  ['opus', 'claude-opus-5', 'opus'],
  ['claude-sonnet-5-5', 'claude-sonnet-5', 'claude-sonnet-5-5'],
  ['claude-opus-5-5', 'claude-opus-5', 'claude-opus-5-5'],
  ['claude-fable-5-1', 'claude-fable-5', 'claude-fable-5-1'],
  ['claude-fable-5-2', 'claude-fable-5', 'claude-fable-5-2'],
  ['gpt-5.1-codex-max', 'gpt-6-sol', 'gpt-5.1-codex-max'],
  ['gpt-5.2-codex', 'gpt-6-sol', 'gpt-5.2-codex'],
  ['gpt-5.1-codex-mini', 'gpt-6.1-terra', 'gpt-5.1-codex-mini'],
  ['deepseek-flash', 'deepseek-v4-flash', 'deepseek-flash'],
  ['claude-opus-5[1m]', 'claude-opus-5', null],
  ['sonnet[1m]', 'claude-sonnet-5', 'sonnet[1m]'],
])('%s means %s', (name, id, mappedFrom) => {
  const resolution = catalogue.resolve(name)
  expect(resolution?.entry.id).toBe(id)
  expect(resolution?.mappedFrom).toBe(mappedFrom)
})

test.each(['haiku', 'Claude-Opus-5', 'claude-opus-5 ', '__proto__', 'constructor', 'toString', '', '[1m]'])(
  '%j is no name of an entry, and the fallback takes it',
  name => {
    expect(catalogue.resolve(name)).toBeNull()
    expect(catalogue.fallback(name)).toMatchObject({ entry: { id: 'claude-fable-5' }, mappedFrom: name })
  },
)

test('resolving gives the same object each time: nothing is made per call', () => {
  for (const name of ['claude-opus-5', 'opus', 'gpt-5.5[1m]'])
    expect(catalogue.resolve(name)).toBe(catalogue.resolve(name))
})

test('prices are exact in µVND: per token, per call and per image', () => {
  expect(catalogue.resolve('claude-opus-5')?.item.unitPriceMicroVnd).toBe(6500n)
  expect(catalogue.resolve('req/deepseek-v4-pro')?.item.unitPriceMicroVnd).toBe(260_000_000n)
  expect(catalogue.resolve('req/gpt-image-2')?.item.unitPriceMicroVnd).toBe(650_000_000n)
})

test('servedOn lists what an endpoint serves', () => {
  expect(catalogue.servedOn('audio_speech').map(item => item.entry.id)).toEqual(['req/gpt-4o-mini-tts'])
  expect(catalogue.servedOn('messages')).toHaveLength(88)
})

test('a retired entry maps to its successor from midnight UTC on, and warns before', () => {
  const texts = withPassage(
    'families/beta.yaml',
    '      - id: beta-1\n',
    '      - id: beta-1\n        deprecated: { since: 2026-11-01, retires: 2027-02-01, successor: beta-2 }\n',
  )
  let time = Date.parse('2027-01-31T23:59:59.999Z')
  const dated = createCatalogue(tablesOf(texts), { now: () => time })
  expect(dated.resolve('beta-1')).toMatchObject({ entry: { id: 'beta-1' }, mappedFrom: null })
  expect(dated.resolve('beta-1')?.item.deprecationHeaders).toEqual({
    deprecation: '@1793491200',
    sunset: 'Mon, 01 Feb 2027 00:00:00 GMT',
    'x-svc-model-successor': 'beta-2',
  })
  expect(dated.retiredCount()).toBe(0)
  time += 1
  expect(dated.resolve('beta-1')).toMatchObject({ entry: { id: 'beta-2' }, mappedFrom: 'beta-1' })
  expect(dated.retiredCount()).toBe(1)
  expect(dated.servedOn('messages').map(item => item.entry.id)).not.toContain('beta-1')
})

test('clients hear of an end 60 days before it, though the deprecation be of a later day', () => {
  const texts = withPassage(
    'families/beta.yaml',
    '      - id: beta-1\n',
    '      - id: beta-1\n        deprecated: { since: 2027-01-31, retires: 2027-02-01, successor: beta-2 }\n',
  )
  const item = createCatalogue(tablesOf(texts)).items.find(({ entry }) => entry.id === 'beta-1')
  expect(new Date(item?.deprecatedFromMs ?? 0).toISOString()).toBe('2026-12-03T00:00:00.000Z')
  const early = withPassage(
    'families/beta.yaml',
    '      - id: beta-1\n',
    '      - id: beta-1\n        deprecated: { since: 2026-11-01 }\n',
  )
  const other = createCatalogue(tablesOf(early)).items.find(({ entry }) => entry.id === 'beta-1')
  expect(new Date(other?.deprecatedFromMs ?? 0).toISOString()).toBe('2026-11-01T00:00:00.000Z')
})

test('tables that contradict themselves do not start', () => {
  const tables = tablesOf()
  const settings = { ...tables.settings, fallback: 'nobody' }
  expect(() => createCatalogue({ ...tables, settings })).toThrow('the fallback names nobody, which is not an entry')
})
