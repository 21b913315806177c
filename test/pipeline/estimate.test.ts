/** How much money is held for a call, and which output cap is sent for it. Too small a hold is money that is never collected. */

import { describe, expect, test } from 'vitest'
import type { ModelEntry, UpstreamTarget } from '../../src/generated/types.ts'
import { byteText } from '../../src/lib/byte-text.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { microVnd } from '../../src/lib/money.ts'
import {
  affordedOutputTokens,
  capAmount,
  estimateInput,
  holdAmount,
  lowestCap,
  raisedCap,
  referencedAmount,
} from '../../src/pipeline/estimate.ts'
import { LASTING_TABLES } from '../support/tables.ts'

const TOKENS_PER_IMAGE = 1_000
const [SHIPPED] = LASTING_TABLES.entries as readonly [ModelEntry]
const ENTRY: ModelEntry = {
  ...SHIPPED,
  price: { vnd: 10, per: 'mtok' },
  contextTokens: 10_000,
  outputTokensMax: 5_000,
  holdOutputTokens: 1_000,
  upstreams: [],
}
const PER_CALL: ModelEntry = { ...ENTRY, price: { vnd: 900, per: 'request' } }
const BASE64 = 'A'.repeat(3_000)

function estimate(json: object) {
  const text = JSON.stringify(json)
  const body = { text: byteText(Buffer.from(text)), outline: json as JsonObject }
  return { bytes: text.length, ...estimateInput(body, TOKENS_PER_IMAGE) }
}

const said = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const asked = (...content: object[]) => ({ input: [{ role: 'user', content }] })
const source = (media_type: string) => ({ type: 'base64', media_type, data: BASE64 })

describe('the input of a call', () => {
  test('is one token for three bytes of text, rounded up', () => {
    const { bytes, tokens } = estimate({ messages: [{ role: 'user', content: 'Xin chào các bạn' }] })
    expect(tokens).toBe(Math.ceil((bytes + 'àáạ'.length) / 3))
  })

  // biome-ignore format: one case per line
  test.each<[string, object, number, number]>([
    ['an image', said({ type: 'image', source: source('image/png') }), 3_000, TOKENS_PER_IMAGE],
    ['two images', said({ type: 'image', source: source('image/png') }, { type: 'image', source: source('image/png') }), 6_000, 2 * TOKENS_PER_IMAGE],
    ['an image of a tool result', said({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: source('image/png') }] }), 3_000, TOKENS_PER_IMAGE],
    ['an image in a data URL', said({ type: 'image_url', image_url: { url: `data:,${BASE64}` } }), 3_006, TOKENS_PER_IMAGE],
    ['an image at an address', said({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }), 0, TOKENS_PER_IMAGE],
    ['an image of a responses call', asked({ type: 'input_image', image_url: `data:,${BASE64}` }), 3_006, TOKENS_PER_IMAGE],
    ['sound', said({ type: 'input_audio', input_audio: { format: 'wav', data: BASE64 } }), 3_000, 0],
    ['a document', said({ type: 'document', source: source('application/pdf') }), 3_000, 100],
    ['a file', said({ type: 'file', file: { file_data: `data:,${BASE64}` } }), 3_006, 101],
    ['a file of a responses call', asked({ type: 'input_file', file_data: `data:,${BASE64}` }), 3_006, 101],
    ['a text that is called data', said({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: BASE64 } }), 0, 0],
  ])('has %s, which counts apart from its text', (_what, json, mediaBytes, more) => {
    const { bytes, tokens, hasReferences } = estimate(json)
    expect(tokens).toBe(Math.ceil((bytes - mediaBytes) / 3) + more)
    expect(hasReferences).toBe(false)
  })

  // biome-ignore format: one case per line
  test.each<[string, object]>([
    ['a document at an address', said({ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } })],
    ['a stored document', said({ type: 'document', source: { type: 'file', file_id: 'f' } })],
    ['a stored file', said({ type: 'file', file: { file_id: 'f' } })],
    ['a file at an address', said({ type: 'file', file: { file_data: 'https://example.com/a.pdf' } })],
    ['a stored file of a responses call', asked({ type: 'input_file', file_id: 'f' })],
    ['a file at an address of a responses call', asked({ type: 'input_file', file_url: 'https://example.com/a.pdf' })],
    ['a video', said({ type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } })],
    ['an upload', said({ type: 'container_upload', file_id: 'f' })],
    ['a stored item', { input: [{ type: 'item_reference', id: 'i' }] }],
    ['an earlier response', { input: 'hi', previous_response_id: 'r' }],
    ['a conversation', { input: 'hi', conversation: 'c' }],
    ['a stored prompt', { prompt: { id: 'p' } }],
    ['a thread', { messages: [], thread: 't' }],
  ])('refers to %s, of which nobody knows the length', (_what, json) => {
    expect(estimate(json).hasReferences).toBe(true)
  })

  test('refers to nothing if such a field is null', () => {
    expect(estimate({ input: 'hi', previous_response_id: null, conversation: null }).hasReferences).toBe(false)
  })
})

describe('the hold of a call', () => {
  test('covers the input, and for each choice the output that its cap allows, up to the entry’s usual length', () => {
    expect(holdAmount(ENTRY, 300, 50)).toBe(10n * 350n)
    expect(holdAmount(ENTRY, 300, 50, 3)).toBe(10n * 450n)
    expect(holdAmount(ENTRY, 300, 2_000)).toBe(10n * 1_300n)
    expect(holdAmount(ENTRY, 300, null)).toBe(10n * 1_300n)
    expect(holdAmount(ENTRY, 0, 0)).toBe(10n)
    expect(holdAmount(PER_CALL, 300, 50, 3)).toBe(900_000_000n)
  })

  test('covers the rest of the context window if the call refers to content elsewhere', () => {
    expect(referencedAmount(ENTRY, { tokens: 4_000, hasReferences: true })).toBe(10n * 6_000n)
    expect(referencedAmount(ENTRY, { tokens: 4_000, hasReferences: false })).toBe(0n)
    expect(referencedAmount(ENTRY, { tokens: 12_000, hasReferences: true })).toBe(0n)
    expect(referencedAmount({ ...ENTRY, contextTokens: null }, { tokens: 1, hasReferences: true })).toBe(0n)
    expect(referencedAmount(PER_CALL, { tokens: 4_000, hasReferences: true })).toBe(0n)
  })

  test('covers all output of each choice if it cannot grow', () => {
    const cap = { inputTokens: 300, outputTokensMax: null, choices: 2 }
    expect(capAmount(ENTRY, cap)).toBe(10n * 10_300n)
    expect(capAmount(ENTRY, { ...cap, outputTokensMax: 2_000 })).toBe(10n * 4_300n)
    expect(capAmount(ENTRY, { ...cap, outputTokensMax: 9_000 })).toBe(10n * 10_300n)
    expect(capAmount({ ...ENTRY, outputTokensMax: null }, cap)).toBe(10n * 2_300n)
    expect(capAmount(ENTRY, { inputTokens: 0, outputTokensMax: 0, choices: 1 })).toBe(10n)
  })
})

describe('the output cap', () => {
  const afforded = (freeTokens: number, change: object = {}, entry = ENTRY) =>
    affordedOutputTokens(entry, {
      inputTokens: 300,
      outputTokensMax: null,
      choices: 1,
      freeMicroVnd: microVnd(BigInt(freeTokens) * 10n),
      outputTokensMin: 16,
      ...change,
    })

  test('is what the free money pays for after the input, shared by the choices', () => {
    expect(afforded(2_300)).toBe(2_000)
    expect(afforded(2_300, { choices: 3 })).toBe(666)
    expect(afforded(316)).toBe(16)
  })

  test('is not lowered if the money pays for the longest reply', () => {
    expect(afforded(5_299)).toBe(4_999)
    expect(afforded(5_300)).toBe(null)
    expect(afforded(499, { outputTokensMax: 200 })).toBe(199)
    expect(afforded(500, { outputTokensMax: 200 })).toBe(null)
    const unlimited = { ...ENTRY, outputTokensMax: null }
    expect([afforded(1_299, {}, unlimited), afforded(1_300, {}, unlimited)]).toEqual([999, null])
  })

  test('is the usual one if the money pays for too little', () => {
    expect(afforded(315)).toBe(1_000)
    expect(afforded(0)).toBe(1_000)
    expect(afforded(0, { outputTokensMin: 1_040 })).toBe(1_040)
    expect(afforded(0, { outputTokensMax: 1_000 })).toBe(null)
  })

  test('is never below what an upstream of the entry accepts, or what a thinking budget needs', () => {
    const target = ENTRY_TARGETS.map(capMin => withCapMin(capMin))
    const entry = { ...ENTRY, upstreams: target }
    expect([lowestCap({}, ENTRY), lowestCap({}, entry)]).toEqual([16, 99])
    const thinking = { thinking: { type: 'enabled', budget_tokens: 5_000 } }
    expect([lowestCap(thinking, ENTRY), lowestCap(thinking, entry)]).toEqual([1_040, 1_040])
    expect(lowestCap({ thinking: { type: 'adaptive' } }, ENTRY)).toBe(16)
    expect([raisedCap(5, entry), raisedCap(100, entry), raisedCap(null, entry)]).toEqual([99, 100, null])
  })
})

const ENTRY_TARGETS = [null, 99, 20]

function withCapMin(capMin: number | null): UpstreamTarget {
  const [target] = SHIPPED.upstreams as readonly [UpstreamTarget]
  return { ...target, dialect: { ...target.dialect, output: { ...target.dialect.output, capMin } } }
}
