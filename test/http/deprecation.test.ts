/**
 * For 60 days before an entry retires, every kind of reply announces the retirement (RFC 9745, RFC 8594) and names the
 * successor.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ModelEntry, Tables } from '../../src/generated/types.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { json, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { LASTING_TABLES } from '../support/tables.ts'

const DAY_MS = 86_400_000
const day = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)
const ends = (since: string, retires: string, successor: string | null): ModelEntry['deprecated'] => ({
  sinceOn: since,
  retiresOn: retires,
  successor,
})

/**
 * Entries that are retired in 59 days, each with its successor. Their deprecation starts on that same day, so only the rule of
 * 60 days' notice can cause a warning now.
 */
const SOON: Readonly<Record<string, string | null>> = {
  'claude-opus-4-8': 'claude-opus-5',
  'gpt-5.5': 'gpt-5.4',
  'req/gpt-image-2': null,
  'req/gpt-4o-mini-tts': null,
}
const ENDED = ends(day(-30), day(-1), 'gpt-5.4')

const tables: Tables = {
  ...LASTING_TABLES,
  entries: LASTING_TABLES.entries.map((entry): ModelEntry => {
    const successor = SOON[entry.id]
    if (successor !== undefined) return { ...entry, deprecated: ends(day(59), day(59), successor) }
    if (entry.id === 'gpt-5.2') return { ...entry, deprecated: ENDED }
    if (entry.id === 'gpt-5.4-mini') return { ...entry, deprecated: ends(day(62), day(62), 'gpt-5.4') }
    return entry
  }),
}

let running: TestGateway
let account: TestAccount
beforeAll(async () => {
  running = await startTestGateway({ tables })
  account = await running.account(1_000_000_000_000n)
})
afterAll(() => running.close())

async function headersOf(path: string, body: object): Promise<Headers> {
  const reply = await fetch(running.url + path, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: JSON.stringify(body),
  })
  const text = await reply.text()
  expect([reply.status, text]).toEqual([200, expect.any(String)])
  return reply.headers
}

const messages = [{ role: 'user', content: 'hi' }]
const claude = { model: 'claude-opus-4-8', max_tokens: 20, messages }
const gpt = { model: 'gpt-5.5', messages }

test.each<[string, object, string | null]>([
  ['/v1/messages', claude, 'claude-opus-5'],
  ['/v1/messages', { ...claude, stream: true }, 'claude-opus-5'],
  ['/v1/messages', { ...gpt, max_tokens: 20, stream: true }, 'gpt-5.4'],
  ['/v1/messages/count_tokens', claude, 'claude-opus-5'],
  ['/v1/chat/completions', gpt, 'gpt-5.4'],
  ['/v1/chat/completions', { ...gpt, stream: true }, 'gpt-5.4'],
  ['/v1/chat/completions', { ...claude, stream: true }, 'claude-opus-5'],
  ['/v1/responses', { model: 'gpt-5.5', input: 'hi' }, 'gpt-5.4'],
  ['/v1/responses', { model: 'gpt-5.5', input: 'hi', stream: true }, 'gpt-5.4'],
  ['/v1/images/generations', { model: 'req/gpt-image-2', prompt: 'a cat' }, null],
  ['/v1/audio/speech', { model: 'req/gpt-4o-mini-tts', input: 'hi', voice: 'alloy' }, null],
])('%s %j', async (path, body, successor) => {
  const headers = await headersOf(path, body)
  const end = Date.parse(`${day(59)}T00:00:00Z`)
  expect(headers.get('deprecation')).toBe(`@${end / 1000}`)
  expect(headers.get('sunset')).toBe(new Date(end).toUTCString())
  expect(headers.get('x-svc-model-successor')).toBe(successor)
})

test.each(['gpt-5.4', 'gpt-5.4-mini'])('%s, which stays for more than 60 days, announces nothing', async model => {
  const headers = await headersOf('/v1/chat/completions', { model, messages })
  expect([headers.get('deprecation'), headers.get('sunset')]).toEqual([null, null])
})

test('after the retirement the successor answers, at its own price', async () => {
  const headers = await headersOf('/v1/chat/completions', { model: 'gpt-5.2', messages })
  expect(headers.get('x-svc-model')).toBe('gpt-5.4')
  expect(headers.get('x-svc-model-mapped-from')).toBe('gpt-5.2')
  expect(headers.get('sunset')).toBe(null)
})

test.each([
  ['gpt-5.1-codex-max', 'gpt-6-sol'],
  ['gpt-5.1-codex-mini', 'gpt-6.1-terra'],
  ['gpt-5.2-codex', 'gpt-6-sol'],
])('%s, shut down by its vendor, is served by %s', async (model, successor) => {
  for (const stream of [false, true]) {
    for (const [path, body] of [
      ['/v1/chat/completions', { model, messages, stream }],
      ['/v1/messages', { model, messages, stream, max_tokens: 20 }],
      ['/v1/responses', { model, input: 'hi', stream }],
    ] as const) {
      const headers = await headersOf(path, body)
      expect(headers.get('x-svc-model')).toBe(successor)
      expect(headers.get('x-svc-model-mapped-from')).toBe(model)
      expect(headers.get('x-svc-price-vnd-per-mtok')).toBe('2400')
    }
  }
})

describe('after a retirement without a successor', () => {
  const speech = 'req/gpt-4o-mini-tts'
  const gone: Tables = {
    ...tables,
    entries: tables.entries.map(entry => {
      if (entry.id === speech) return { ...entry, deprecated: ends('2026-01-15', '2026-03-01', null) }
      return entry.id === 'gpt-5.4' ? { ...entry, deprecated: ends('2026-01-15', '2026-03-01', null) } : entry
    }),
  }

  async function call(url: string, apiKey: string, path: string, body: object) {
    const reply = await fetch(url + path, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: JSON.stringify(body),
    })
    return { status: reply.status, headers: reply.headers, text: await reply.text() }
  }

  test('the service goes on: the provider decides', async () => {
    const other = await startTestGateway({ tables: gone })
    try {
      const { apiKey } = await other.account(1_000_000_000_000n)
      const { status, headers } = await call(other.url, apiKey, '/v1/audio/speech', {
        model: speech,
        input: 'hi',
        voice: 'alloy',
      })
      expect([status, headers.get('x-svc-model')]).toEqual([200, speech])
      const list = await fetch(`${other.url}/v1/models/${speech}`, { headers: { 'x-api-key': apiKey } })
      expect(await list.json()).toMatchObject({ lifecycle: 'retired', retires_at: '2026-03-01T00:00:00Z' })
    } finally {
      await other.close()
    }
  })

  test.each([
    [404, 'model_not_found', [400, 'model_not_found', 'false']],
    [410, 'gone', [400, 'model_not_found', 'false']],
    [400, 'model_not_found', [400, 'model_not_found', 'false']],
    [401, 'invalid_api_key', [502, 'upstream_misconfigured', 'false']],
    [500, 'server_error', [502, 'upstream_failed', null]],
  ])('a provider that answers %i %s: clients learn what is the matter', async (status, code, expected) => {
    const upstream = await startScriptedUpstream(() => json(status, { error: { message: 'no', code } }))
    const other = await startTestGateway({ tables: gone, upstreams: { openai: upstream.url } })
    try {
      const { apiKey, accountId } = await other.account(1_000_000_000_000n)
      const chat = 'model: gpt-5.4 was shut down on 2026-03-01. GET /v1/models lists the models.'
      for (const [path, body, text] of [
        [
          '/v1/audio/speech',
          { model: speech, input: 'hi', voice: 'alloy' },
          `model: ${speech} was shut down on 2026-03-01. /v1/audio/speech serves no other model.`,
        ],
        ['/v1/chat/completions', { model: 'gpt-5.4', messages }, chat],
        ['/v1/messages', { model: 'gpt-5.4', messages, max_tokens: 20, stream: true }, chat],
      ] as const) {
        const reply = await call(other.url, apiKey, path, body)
        const { error } = JSON.parse(reply.text) as { error: { code: string; message: string } }
        expect([path, reply.status, error.code, reply.headers.get('x-should-retry')]).toEqual([path, ...expected])
        if (expected[0] === 400) expect(error.message).toBe(text)
        else expect(error.message).not.toContain('shut down')
      }
      expect(await other.balance(accountId)).toBe(1_000_000_000_000n)
    } finally {
      await other.close()
      await upstream.close()
    }
  })

  test('an endpoint that serves nothing any more says so', async () => {
    const entries = gone.entries.filter(({ id }) => id !== speech)
    const aliases = Object.fromEntries(Object.entries(gone.settings.aliases).filter(([, id]) => id !== speech))
    const other = await startTestGateway({ tables: { ...gone, entries, settings: { ...gone.settings, aliases } } })
    try {
      const { apiKey } = await other.account(1_000_000_000_000n)
      const { status, text } = await call(other.url, apiKey, '/v1/audio/speech', {
        model: speech,
        input: 'hi',
        voice: 'alloy',
      })
      expect([status, JSON.parse(text).error.message]).toEqual([
        400,
        `model: ${speech} is not in the catalogue. /v1/audio/speech serves no model.`,
      ])
    } finally {
      await other.close()
    }
  })
})
