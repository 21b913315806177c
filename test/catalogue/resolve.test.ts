/** Resolves the names in calls to entries of the catalogue. */

import { expect, test } from 'vitest'
import { createCatalogue } from '../../src/catalogue/catalogue.ts'
import type { Tables } from '../../src/generated/types.ts'
import { LASTING_TABLES } from '../support/tables.ts'
import { compiler, goodTexts, withPassage } from './support.ts'

const catalogue = createCatalogue(LASTING_TABLES)

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
  ['GPT-5.5', 'gpt-5.5', null],
  ['Claude-Opus-5[1M]', 'claude-opus-5', null],
  ['REQ/GPT-5.5', 'req/gpt-5.5', null],
  ['Sonnet', 'claude-sonnet-5', 'Sonnet'],
  ['openai/gpt-5.5', 'gpt-5.5', null],
  ['OpenAI/GPT-5.5[1m]', 'gpt-5.5', null],
  ['openai/req/gpt-5.5', 'req/gpt-5.5', null],
  ['anthropic/svc/claude-opus-5', 'svc/claude-opus-5', null],
  ['anthropic/claude-opus-4.5', 'claude-opus-4-5', 'anthropic/claude-opus-4.5'],
  ['anthropic/claude-sonnet-4-5-20250929', 'claude-sonnet-4-5', 'anthropic/claude-sonnet-4-5-20250929'],
  ['google/gemini-3.1-pro-preview', 'gemini-3.1-pro-preview', null],
  ['gemini/gemini-2.5-flash', 'gemini-3.5-flash', 'gemini/gemini-2.5-flash'],
  ['x-ai/grok-4.3', 'grok-4.3', null],
  ['xai/grok-4.3', 'grok-4.3', null],
  ['deepseek/deepseek-chat', 'deepseek-v4-flash', 'deepseek/deepseek-chat'],
  ['deepseek/deepseek-v3.2', 'svc/deepseek-v3.2', 'deepseek/deepseek-v3.2'],
  ['qwen/qwen3.7-max', 'qwen3.7-max', null],
  ['Qwen/Qwen3-VL-235B-A22B-Instruct', 'svc/qwen3-vl-235b', 'Qwen/Qwen3-VL-235B-A22B-Instruct'],
  ['z-ai/glm-5.2', 'glm-5.2', null],
  ['moonshotai/kimi-k2.6', 'kimi-k2.6', null],
  ['minimax/minimax-m3', 'minimax-m3', null],
  ['MiniMax-M3', 'minimax-m3', null],
  ['mistralai/mistral-large-2512', 'svc/mistral-large-3', 'mistralai/mistral-large-2512'],
  ['openai/gpt-oss-120b', 'svc/gpt-oss-120b', 'openai/gpt-oss-120b'],
])('%s means %s', (name, id, mappedFrom) => {
  const resolution = catalogue.resolve(name)
  expect(resolution?.entry.id).toBe(id)
  expect(resolution?.mappedFrom).toBe(mappedFrom)
})

test.each([
  'haiku',
  'Haiku',
  'claude-opus-5 ',
  '__proto__',
  'constructor',
  'toString',
  '',
  '[1m]',
  '/',
  '/gpt-5.5',
  'openai/',
  'openai//gpt-5.5',
  // A vendor that does not make the model, two vendors, an unknown vendor, and the Kelvin sign, which lowercases to k.
  'openai/claude-opus-5',
  'openai/openai/gpt-5.5',
  'nobody/gpt-5.5',
  '\u212Aimi-k2.6',
])('%j does not name an entry, so the fallback serves it', name => {
  expect(catalogue.resolve(name)).toBeNull()
  expect(catalogue.fallback(name)).toMatchObject({ entry: { id: 'claude-fable-5' }, mappedFrom: name })
})

test('every entry is found by its id in capitals and after its vendor, and replies use the client’s spelling', () => {
  for (const { entry } of catalogue.items) {
    const further = Object.entries(catalogue.settings.vendors).filter(([, vendor]) => vendor === entry.vendor)
    for (const vendor of [entry.vendor, entry.vendor.toUpperCase(), ...further.map(([name]) => name)]) {
      for (const spelled of [entry.id.toUpperCase(), `${vendor}/${entry.id}`]) {
        expect(catalogue.resolve(spelled)).toMatchObject({ entry: { id: entry.id }, clientModel: spelled })
      }
    }
  }
})

test('an entry is the same object under every name, so that another spelling evades no restriction', () => {
  const entry = catalogue.resolve('claude-fable-5')?.entry
  for (const name of ['CLAUDE-FABLE-5', 'anthropic/claude-fable-5', 'Anthropic/Fable[1M]', 'claude-fable-5.2'])
    expect(catalogue.resolve(name)?.entry).toBe(entry)
})

test('aliases match regardless of case, and one with a slash takes precedence over vendors', () => {
  const texts = withPassage(
    'catalogue.yaml',
    'aliases:\n',
    'vendors: { nordic: northern }\naliases:\n  Old/Alpha-Model: alpha-1\n  northern/first: beta-2\n',
  )
  const found = (name: string) => createCatalogue(tablesOf(texts)).resolve(name)?.entry.id
  for (const name of ['Old/Alpha-Model', 'old/alpha-model', 'OLD/ALPHA-MODEL', 'Nordic/old/alpha-model'])
    expect(found(name)).toBe('alpha-1')
  expect([found('northern/first'), found('nordic/first')]).toEqual(['beta-2', 'alpha-1'])
})

test('resolving gives the same object each time: nothing is made per call', () => {
  for (const name of ['claude-opus-5', 'opus', 'gpt-5.5[1m]'])
    expect(catalogue.resolve(name)).toBe(catalogue.resolve(name))
})

test('a name that is too long to be one is not examined', () => {
  const long = new String('A'.repeat(1_000_000)) as string
  Object.assign(long, { toLowerCase: () => expect.unreachable() })
  expect(catalogue.resolve(long)).toBeNull()
})

test('prices are exact in µVND: per token, per call and per image', () => {
  expect(catalogue.resolve('claude-opus-5')?.item.unitPriceMicroVnd).toBe(6500n)
  expect(catalogue.resolve('req/deepseek-v4-pro')?.item.unitPriceMicroVnd).toBe(260_000_000n)
  expect(catalogue.resolve('req/gpt-image-2')?.item.unitPriceMicroVnd).toBe(650_000_000n)
})

test('servedOn lists what an endpoint serves', () => {
  const served = createCatalogue(tablesOf()).servedOn
  expect(served('images_generations').map(item => item.entry.id)).toEqual(['req/paint'])
  expect(served('messages')).toHaveLength(5)
  expect(served('audio_speech')).toEqual([])
})

test('a retired entry maps to its successor from midnight UTC on, and callers are warned before', () => {
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
  expect(dated.resolve('Southern/Beta-1')).toMatchObject({
    entry: { id: 'beta-2' },
    mappedFrom: 'Southern/Beta-1',
    clientModel: 'beta-2',
  })
  expect(dated.retiredCount()).toBe(1)
  expect(dated.servedOn('messages').map(item => item.entry.id)).not.toContain('beta-1')
})

test('clients are told of a retirement 60 days ahead, even if the deprecation begins later', () => {
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

test('contradictory tables are refused at start', () => {
  const tables = tablesOf()
  const settings = { ...tables.settings, fallback: 'nobody' }
  expect(() => createCatalogue({ ...tables, settings })).toThrow(
    'the fallback names nobody, which is not a catalogue entry',
  )
})

test('what counts in requests besides their text is merged word by word: defaults, family, model', () => {
  const texts = withPassage(
    'families/beta.yaml',
    'models:\n',
    'counting: { turn_tokens: 5, picture: { tokens_max: 900 } }\nmodels:\n',
  ).map(source => ({
    ...source,
    text: source.text
      .replace('token_factor: 1 }', 'token_factor: 1, counting: { turn_tokens: 4, page_tokens: 100 } }')
      .replace('- name: Beta 1\n', '- name: Beta 1\n    counting: { picture: { pixels_per_token: 1024 } }\n'),
  }))
  const { tables } = compiler.compile(texts)
  const countingOf = (id: string) => tables?.entries.find(entry => entry.id === id)?.counting
  const shipped = { requestTokens: 3, turnTokens: 4, toolInstructionsTokens: 12, pageTokens: 100 }
  const picture = { edgePixelsMax: 1568, pixelsPerToken: 750, tokensMax: 1600, unknownTokens: 1600 }
  expect(countingOf('alpha-1')).toEqual({ ...shipped, picture })
  expect(countingOf('beta-2')).toEqual({ ...shipped, turnTokens: 5, picture: { ...picture, tokensMax: 900 } })
  expect(countingOf('beta-1')).toEqual({
    ...shipped,
    turnTokens: 5,
    picture: { ...picture, tokensMax: 900, pixelsPerToken: 1024 },
  })
})
