/** The price list has the entries and prices that the specification requires. */

import { expect, test } from 'vitest'
import { ENTRIES } from '../../src/generated/entries.ts'
import type { ModelEntry } from '../../src/generated/types.ts'
import { compiler, goodTexts } from './support.ts'

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
/** For the operator who changes one of these on purpose, or takes the entry off the list. */
const CURE =
  'the specification names this price: if you sell it for another one, or no longer, change FIXED_PRICES here'
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

test.each(FIXED_PRICES)('%s costs %i VND per %s, as the specification says', (id, vnd, per) => {
  expect(byId.get(id)?.price, CURE).toEqual({ vnd, per })
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
  const served = {
    chat: ['messages', 'chat_completions', 'responses'],
    image: ['images_generations', 'images_edits'],
    speech: ['audio_speech'],
  }
  for (const { id, kind, endpoints } of entries) expect([id, endpoints]).toEqual([id, served[kind]])
})

test('an entry’s name tells its channel and its price unit', () => {
  const names = new Map(compiler.compile(goodTexts()).tables?.entries.map(({ id, name }) => [id, name]))
  expect(['alpha-1', 'svc/alpha-1', 'req/alpha-1', 'req/paint'].map(id => names.get(id))).toEqual([
    'Alpha 1',
    'Alpha 1 (AWS)',
    'Alpha 1 (per call)',
    'Paint',
  ])
})
