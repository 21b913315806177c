/** The price list has the entries and prices that the specification requires. */

import { expect, test } from 'vitest'
import { ENTRIES } from '../../src/generated/entries.ts'
import type { ModelEntry } from '../../src/generated/types.ts'

const entries: readonly ModelEntry[] = ENTRIES
const byId = new Map(entries.map(entry => [entry.id, entry]))

const CLAUDE_STANDARD = [
  'claude-opus-5',
  'claude-sonnet-5',
  'claude-opus-4-8',
  'claude-opus-4-7',
  'claude-opus-4-6',
  'claude-opus-4-5',
  'claude-sonnet-4-6',
  'claude-sonnet-4-5',
  'claude-haiku-4-5',
]
const GPT = [
  'gpt-6.1-terra',
  'gpt-6-sol',
  'gpt-6-luna',
  'gpt-5.5',
  'gpt-5.5-instant',
  'gpt-5.4',
  'gpt-5.4-mini',
  'gpt-5.4-nano',
  'gpt-5.3-codex',
  'gpt-5.2',
  'gpt-5.1',
  'gpt-5',
  'gpt-5-mini',
]
const FIXED_PRICES: readonly [string, number, string][] = [
  ['claude-fable-5', 8300, 'mtok'],
  ...CLAUDE_STANDARD.map((id): [string, number, string] => [id, 6500, 'mtok']),
  ...GPT.map((id): [string, number, string] => [id, 2400, 'mtok']),
  ['deepseek-v4-flash', 1500, 'mtok'],
  ['req/deepseek-v4-flash', 230, 'request'],
  ['req/deepseek-v4-pro', 260, 'request'],
  ['req/gpt-image-2', 650, 'image'],
  ['req/gpt-4o-mini-tts', 1350, 'request'],
]

test('the catalogue has 90 entries, 20 of them on the AWS channel and 32 priced per call', () => {
  expect(entries).toHaveLength(90)
  expect(entries.filter(entry => entry.channel === 'aws')).toHaveLength(20)
  expect(entries.filter(entry => entry.price.per !== 'mtok')).toHaveLength(32)
  expect(new Set(entries.map(entry => entry.id)).size).toBe(90)
})

test.each(FIXED_PRICES)('%s costs %i VND per %s, as the specification says', (id, vnd, per) => {
  expect(byId.get(id)?.price).toEqual({ vnd, per })
})

test('13 entries cost the GPT price, and none is cheaper per token than 1.500 VND', () => {
  expect(
    entries.filter(entry => entry.price.per === 'mtok' && entry.price.vnd === 2400 && entry.family === 'gpt'),
  ).toHaveLength(13)
  const lowest = Math.min(...entries.filter(entry => entry.price.per === 'mtok').map(entry => entry.price.vnd))
  expect(lowest).toBe(1500)
})

test('the prefix of an id determines channel and price unit', () => {
  for (const entry of entries) {
    expect([entry.id, entry.channel]).toEqual([entry.id, entry.id.startsWith('svc/') ? 'aws' : 'standard'])
    expect([entry.id, entry.price.per !== 'mtok']).toEqual([entry.id, entry.id.startsWith('req/')])
  }
})

test.each(['claude-fable-5', 'claude-sonnet-5', 'claude-opus-5'])('%s takes 1.000.000 tokens and gives 128.000', id => {
  expect(byId.get(id)).toMatchObject({ contextTokens: 1_000_000, outputTokensMax: 128_000 })
})

test('every chat entry is served in all three formats; image and speech entries only on their own endpoints', () => {
  for (const { id, kind, endpoints } of entries) {
    if (kind === 'chat') expect([id, endpoints]).toEqual([id, ['messages', 'chat_completions', 'responses']])
  }
  expect(byId.get('req/gpt-image-2')?.endpoints).toEqual(['images_generations', 'images_edits'])
  expect(byId.get('req/gpt-4o-mini-tts')?.endpoints).toEqual(['audio_speech'])
})

test('entries of one model keep their own limits: the AWS twin may give more than the vendor', () => {
  expect(byId.get('grok-4.3')?.outputTokensMax).toBe(30_000)
  expect(byId.get('req/grok-4.3')?.outputTokensMax).toBe(30_000)
  expect(byId.get('svc/grok-4.3')?.outputTokensMax).toBe(131_072)
})

test('an entry’s name tells its channel and its price unit', () => {
  expect(byId.get('claude-opus-5')?.name).toBe('Claude Opus 5')
  expect(byId.get('svc/claude-opus-5')?.name).toBe('Claude Opus 5 (AWS)')
  expect(byId.get('req/claude-opus-5')?.name).toBe('Claude Opus 5 (per call)')
  expect(byId.get('req/gpt-image-2')?.name).toBe('GPT Image 2')
})

/** Retirement dates announced on vendors' pages and in their SDKs (read 2026-11), with the successors in our catalogue. */
test.each<[string, string, string | null]>([
  ['claude-sonnet-4-5', '2026-11-30', 'claude-sonnet-5'],
  ['svc/claude-sonnet-4-5', '2027-04-08', 'svc/claude-sonnet-5'],
  ['gemini-2.5-pro', '2026-12-01', 'gemini-3.5-flash'],
  ['gemini-3.1-flash-lite', '2027-05-07', 'gemini-3.5-flash'],
  ['req/gemini-3.1-flash-lite', '2027-05-07', 'req/gemini-3.5-flash'],
  ['gpt-5', '2026-12-11', 'gpt-6-sol'],
  ['gpt-5-mini', '2026-12-11', 'gpt-6.1-terra'],
  ['req/gpt-5-mini', '2026-12-11', 'req/gpt-5.4-mini'],
  ['req/gpt-4o-mini-tts', '2027-01-06', null],
  ['svc/qwen3-coder-480b', '2027-03-30', 'svc/qwen3-vl-235b'],
  ['gpt-5.1', '2027-04-01', 'gpt-6-sol'],
  ['req/gpt-5.1', '2027-04-01', 'req/gpt-5.4-mini'],
  ['gpt-5.3-codex', '2027-04-01', 'gpt-6-sol'],
  ['req/gpt-5.3-codex', '2027-04-01', 'req/gpt-5.2'],
  ['gpt-5.4-nano', '2027-04-01', 'gpt-6-luna'],
])('%s ends on %s, and %s takes over', (id, retiresOn, successor) => {
  expect(byId.get(id)?.deprecated).toMatchObject({ retiresOn, successor })
})
