/**
 * Which wire (the upstream's API format) the gateway uses for a call, as seen in the path that the provider gets, in the
 * `x-svc-wire` header and in the log.
 */

import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { TABLES } from '../../src/generated/tables.ts'
import type { UpstreamTarget } from '../../src/generated/types.ts'
import { generateSecretSet } from '../../src/lib/secrets.ts'
import { goodMessage } from '../support/chat.ts'
import { startTestGateway, TEST_COMPANY, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { json, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'

const CHAT = json(200, {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Chào' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
})
const RESPONSE = json(200, {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output: [{ id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Chào' }] }],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
})
const SECRETS = generateSecretSet()
const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }
const CUSTOM_TOOL = { type: 'custom', custom: { name: 'patch' } }
const MESSAGES = [{ role: 'user', content: 'x' }]

let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount
let lines: { readonly msg: string; readonly endpoint?: string; readonly wire?: string }[] = []

beforeAll(async () => {
  provider = await startScriptedUpstream(({ path }) => {
    if (path.endsWith('/responses')) return RESPONSE
    return path.endsWith('/messages') ? goodMessage : CHAT
  })
  running = await startTestGateway({
    upstreams: { openai: `${provider.url}/v1`, anthropic: provider.url },
    log: pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) }),
  })
  account = await running.account(1_000_000n * 1_000_000n)
})
afterEach(() => {
  lines = []
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

async function call(path: string, body: object) {
  const response = await fetch(`${running.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  expect([response.status, text]).toEqual([200, text])
  await running.usage(account.accountId)
  return {
    told: response.headers.get('x-svc-wire'),
    asked: provider.requests.at(-1)?.path,
    logged: lines.find(({ msg }) => msg === 'call')?.wire,
  }
}

test.each<[string, object, string, string]>([
  ['/v1/messages', { model: 'claude-opus-5', max_tokens: 5, messages: MESSAGES }, 'messages', '/v1/messages'],
  ['/v1/chat/completions', { model: 'claude-opus-5', messages: MESSAGES }, 'messages', '/v1/messages'],
  ['/v1/chat/completions', { model: 'gpt-5.5', messages: MESSAGES }, 'chat_completions', '/v1/chat/completions'],
  ['/v1/responses', { model: 'gpt-5.5', input: 'x' }, 'responses', '/v1/responses'],
  ['/v1/responses', { model: 'claude-opus-5', input: 'x' }, 'messages', '/v1/messages'],
  [
    '/v1/messages',
    { model: 'gpt-5.5', max_tokens: 50, messages: MESSAGES },
    'chat_completions',
    '/v1/chat/completions',
  ],
  [
    '/v1/messages',
    { model: 'gpt-5.5', max_tokens: 50, messages: MESSAGES, thinking: { type: 'adaptive' } },
    'responses',
    '/v1/responses',
  ],
  [
    '/v1/chat/completions',
    { model: 'gpt-5.5', messages: MESSAGES, tools: [TOOL], reasoning_effort: 'high' },
    'responses',
    '/v1/responses',
  ],
  [
    '/v1/chat/completions',
    { model: 'gpt-5.5', messages: MESSAGES, tools: [TOOL, CUSTOM_TOOL], reasoning_effort: 'high' },
    'responses',
    '/v1/responses',
  ],
])('%s with %j uses %s, as reported to the client and in the log', async (path, body, wire, asked) => {
  expect(await call(path, body)).toEqual({ told: wire, asked, logged: wire })
})

test('in production, clients are not informed', async () => {
  const production = await startTestGateway({
    upstreams: { anthropic: provider.url },
    environment: {
      NODE_ENV: 'production',
      DATABASE_URL: 'postgres://elsewhere',
      KEY_ENCRYPTION_KEYS: SECRETS,
      KEY_PEPPERS: SECRETS,
      PUBLIC_URL: 'https://gateway.test',
      ...TEST_COMPANY,
    },
  })
  const { apiKey } = await production.account(1_000_000n)
  const response = await fetch(`${production.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: JSON.stringify({ model: 'claude-opus-5', max_tokens: 5, messages: MESSAGES }),
  })
  const { status, headers } = response
  expect([status, headers.get('x-svc-model'), headers.get('x-svc-wire')]).toEqual([200, 'claude-opus-5', null])
  await production.close()
})

test.each<[string, object]>([
  [
    '/v1/messages',
    {
      model: 'gpt-5.5',
      max_tokens: 50,
      messages: MESSAGES,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    },
  ],
  ['/v1/chat/completions', { model: 'gpt-5.5', messages: MESSAGES, tools: [TOOL], reasoning_effort: 'high' }],
  ['/v1/responses', { model: 'gpt-5.5', input: 'x', store: false }],
])('%s fails over to a provider with a different wire', async (path, body) => {
  const broken = await startScriptedUpstream(() => json(500, { error: { message: 'no' } }))
  const { wires: _, ...chatOnly } = TABLES.entries.find(({ id }) => id === 'glm-5.1')!.upstreams[0] as UpstreamTarget
  const entries = TABLES.entries.map(entry =>
    entry.id === 'gpt-5.5' ? { ...entry, upstreams: [...entry.upstreams, chatOnly] } : entry,
  )
  const pair = await startTestGateway({
    tables: { ...TABLES, entries },
    upstreams: { openai: `${broken.url}/v1`, zhipuai: `${provider.url}/v1` },
  })
  const { apiKey, accountId } = await pair.account(1_000_000n * 1_000_000n)
  const response = await fetch(`${pair.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  expect([response.status, response.headers.get('x-svc-wire')], text).toEqual([200, 'chat_completions'])
  expect(text).toContain('Chào')
  expect(broken.requests.at(-1)?.path).toBe('/v1/responses')
  const sent = provider.requests.at(-1)
  expect([sent?.path, sent?.json()]).toMatchObject(['/v1/chat/completions', { model: chatOnly.model }])
  await pair.usage(accountId)
  const rows = await pair.database.sql`select status, entry_id from usage where account_id = ${accountId}`
  expect(rows.map(row => ({ ...row }))).toEqual([{ status: 200, entry_id: 'gpt-5.5' }])
  await pair.close()
  await broken.close()
})
