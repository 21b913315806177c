/**
 * Operators' settings (maintenance, limits on keys) immediately apply to every gateway, and operators can see the state of
 * upstreams.
 */

import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { limitKey } from '../../src/accounts/key-rate.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import type { Foundation } from '../../src/app/foundation.ts'
import type { Gateway } from '../../src/app/gateway.ts'
import { readCommand } from '../../src/cli/arguments.ts'
import { OPERATIONS_ACTIONS } from '../../src/cli/operations.ts'
import { readProcessStatus } from '../../src/operations/process-status.ts'
import type { UpstreamStatus } from '../../src/upstream/registry.ts'
import { chatCall, goodMessage, MESSAGES_START } from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  end,
  json,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  until,
  write,
} from '../support/scripted-upstream.ts'
import { changedTables } from '../support/tables.ts'

const CREDIT = 1_000_000n * 1_000_000n
const ENTRY = 'claude-opus-5'
/** Calls per minute allowed to a key without a limit of its own. These tests change the catalogue's tables to set it. */
const DEFAULT_LIMIT = 7

let provider: ScriptedUpstream
let answer: Answer
let running: TestGateway
let sibling: Gateway
let account: TestAccount

beforeAll(async () => {
  provider = await startScriptedUpstream(() => answer)
  running = await startTestGateway({
    upstreams: { anthropic: provider.url },
    tables: changedTables({ settings: { rateLimitPerMinute: DEFAULT_LIMIT } }),
  })
  sibling = await running.sibling()
})
beforeEach(async () => {
  answer = goodMessage
  account = await running.account(CREDIT)
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

function call(url: string, extra: object = {}) {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: chatCall(ENTRY, extra),
  })
}

async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(resolve => setTimeout(resolve, 10))
}

/** Runs an operator's command on the gateways' database. */
async function command(...words: string[]) {
  const read = readCommand(words)
  const action = OPERATIONS_ACTIONS[read?.spec.name ?? '']
  if (read === null || action === undefined) throw new Error(`${words.join(' ')} is not a command`)
  return action({ sql: running.database.sql } as Foundation, read)
}

async function maintenance(enabled: boolean, ...options: string[]) {
  await command('maintenance', enabled ? 'on' : 'off', ...options)
  for (const { url } of [running, sibling]) {
    const isSo = async () => {
      const state = (await (await fetch(`${url}/readyz`)).json()) as { maintenance: boolean; ready: boolean }
      expect(state.ready).toBe(true)
      return state.maintenance === enabled
    }
    await eventually(isSo)
  }
}

test('maintenance refuses new calls on every gateway, lets those in flight finish, and still serves the model list', async () => {
  await setLimit(0)
  const { promise: goOn, resolve: finish } = Promise.withResolvers<void>()
  const rest =
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n'
  answer = [sse(), write(MESSAGES_START.join('')), until(goOn), write(rest), end()]
  const inFlight = await call(running.url, { stream: true })
  await maintenance(true, '--retry-after', '123')
  const seen = provider.requests.length
  for (const { url } of [running, sibling]) {
    for (const key of [account.apiKey, 'sk-svc-unknown']) {
      const refused = await fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': key },
        body: chatCall(ENTRY),
      })
      expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('x-should-retry')]).toEqual([
        503,
        '123',
        'false',
      ])
      expect(await refused.json()).toMatchObject({
        type: 'error',
        error: { type: 'service_unavailable', message: expect.stringContaining('maintenance') },
      })
    }
    const list = await fetch(`${url}/v1/models`, { headers: { 'x-api-key': account.apiKey } })
    expect(list.status).toBe(200)
    expect((await fetch(`${url}/v1/nothing`, { method: 'POST' })).status).toBe(404)
  }
  expect(provider.requests.length).toBe(seen)
  finish()
  expect(await inFlight.text()).toContain('message_stop')
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 200, output_tokens: 5 }])
  answer = goodMessage
  await maintenance(false)
  for (const { url } of [running, sibling]) expect((await call(url)).status).toBe(200)
})

test('the official SDKs wait for the end of a maintenance of up to a minute, and give up at once if it is longer', async () => {
  await setLimit(0)
  const { apiKey } = account
  const answers: [status: number, retryAfter: string | null, shouldRetry: string | null][] = []
  const watched: typeof fetch = async (...request) => {
    const response = await fetch(...request)
    const { headers } = response
    answers.push([response.status, headers.get('retry-after'), headers.get('x-should-retry')])
    return response
  }
  const anthropic = new Anthropic({ baseURL: running.url, apiKey, fetch: watched })
  const openai = new OpenAI({ baseURL: `${running.url}/v1`, apiKey, fetch: watched })
  const messages = [{ role: 'user' as const, content: 'x' }]
  const calls = () => [
    anthropic.messages.create({ model: ENTRY, max_tokens: 10, messages }),
    openai.chat.completions.create({ model: ENTRY, messages }),
  ]

  await maintenance(true, '--retry-after', '61')
  for (const given of await Promise.allSettled(calls())) {
    expect(given).toMatchObject({ status: 'rejected', reason: { status: 503 } })
  }
  expect(answers.splice(0)).toEqual(Array(2).fill([503, '61', 'false']))

  // Turning maintenance on again changes only its `retry-after`, which the gateways learn a moment later.
  const announce = async (seconds: string) => {
    await maintenance(true, '--retry-after', seconds)
    const asked = async () => {
      const { status, headers } = await fetch(`${running.url}/v1/messages`, { method: 'POST', body: '{}' })
      return [status, headers.get('retry-after'), headers.has('x-should-retry')]
    }
    await expect.poll(asked).toEqual([503, seconds, false])
  }
  await announce('60')
  await announce('2')
  const served = Promise.all(calls())
  await eventually(async () => answers.length === 2)
  await maintenance(false)
  expect(await served).toMatchObject([{ type: 'message' }, { object: 'chat.completion' }])
  expect(answers.map(([status]) => status)).toEqual([503, 503, 200, 200])
})

test('a gateway that starts under maintenance is under maintenance', async () => {
  await maintenance(true)
  const late = await running.sibling()
  expect((await call(late.url)).status).toBe(503)
  await maintenance(false)
  await eventually(async () => (await call(late.url)).status === 200)
})

async function setLimit(limit: number | null) {
  const { accountId, keyId } = account
  expect(await limitKey(running.database.sql, { accountId, keyId, by: COMMAND_LINE }, limit)).toBe(true)
}

test('counts the calls of a limited key across processes, and sends retry-after', async () => {
  await setLimit(5)
  const statuses = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const response = await call(index % 2 === 0 ? running.url : sibling.url)
      const wait = Number(response.headers.get('retry-after'))
      const body = (await response.json()) as { error?: { type: string; message: string } }
      if (response.status === 429) {
        expect(wait).toBeGreaterThanOrEqual(1)
        expect(wait).toBeLessThanOrEqual(60)
        expect(body.error).toMatchObject({
          type: 'rate_limit_error',
          message: expect.stringMatching(/5 calls per minute/),
        })
        expect(response.headers.get('x-should-retry')).toBeNull()
      }
      return response.status
    }),
  )
  expect(statuses.toSorted()).toEqual([...Array(5).fill(200), ...Array(7).fill(429)])
  await sibling.readiness.idle()
  const rows = await running.usage(account.accountId)
  expect(rows.map(row => row.status).toSorted()).toEqual(statuses.toSorted())
  expect(rows.filter(row => row.status === 429).every(row => row.cost === 0n)).toBe(true)
})

test('applies the catalogue’s limit to keys without one, and none to keys with 0', async () => {
  const statuses: number[] = []
  for (let calls = 0; calls < DEFAULT_LIMIT + 2; calls++) statuses.push((await call(running.url)).status)
  expect(statuses).toEqual([...Array(DEFAULT_LIMIT).fill(200), 429, 429])
  const limited = await command('key', 'limit', account.email, String(account.keyId), '0')
  expect(limited.data).toEqual({ key_id: account.keyId, rate_limit_per_minute: 0, concurrency_max: null })
  await eventually(async () => (await call(running.url)).status === 200)
  for (let calls = 0; calls < DEFAULT_LIMIT + 2; calls++) expect((await call(running.url)).status).toBe(200)
})

test('limits calls in flight from the command line, with or without a limit of calls per minute', async () => {
  const words = ['key', 'limit', account.email, String(account.keyId)]
  const key_id = account.keyId
  const both = await command(...words, '9', '--concurrency', '3')
  expect(both.data).toEqual({ key_id, rate_limit_per_minute: 9, concurrency_max: 3 })
  const alone = await command(...words, 'same', '--concurrency', '0')
  expect(alone.data).toEqual({ key_id, rate_limit_per_minute: 9, concurrency_max: 0 })
  const neither = await command(...words, 'default', '--concurrency', 'default')
  expect(neither.data).toEqual({ key_id, rate_limit_per_minute: null, concurrency_max: null })
})

test('needs no database query for keys without a limit', async () => {
  await setLimit(0)
  expect((await call(running.url)).status).toBe(200)
  const rows = await running.database.sql`select 1 from rate_grant where key_id = ${account.keyId}`
  expect(rows).toHaveLength(0)
})

test('operators see the upstreams’ state in each process', async () => {
  answer = json(401, { error: { type: 'authentication_error', message: 'invalid x-api-key' } })
  await setLimit(0)
  expect((await call(running.url)).status).toBe(502)
  type Status = { upstreams: readonly UpstreamStatus[] }
  const read = async () => {
    const processes = await readProcessStatus<Status>(running.database.sql)
    expect(processes.length).toBeGreaterThanOrEqual(2)
    return processes.map(({ status }) => status.upstreams.find(({ id }) => id === 'anthropic'))
  }
  await eventually(async () => (await read()).some(upstream => upstream?.credentials[0]?.state === 'aside'))
  const [here] = (await read()).filter(upstream => upstream?.credentials[0]?.state === 'aside')
  expect(here).toMatchObject({ sandbox: false, state: 'well', failures: expect.any(Number) })
  const status = await command('upstream', 'status')
  expect(status.text).toMatch(/^ {2}anthropic +healthy +attempts: \d+, failed: \d+$/m)
  expect(status.text).toMatch(/^ {4}anthropic#1 cooling down for \d+ s/m)
  for (const text of [status.text, JSON.stringify(status.data), JSON.stringify(await read())]) {
    expect(text).not.toContain('upstream-secret')
  }
})

test.each([
  [['key', 'limit', 'EMAIL', '999999', '5'], /no active key 999999/],
  [['key', 'limit', 'EMAIL', 'x', '5'], /not a key's number/],
  [['key', 'limit', 'EMAIL', 'KEY', '-1'], /Unknown option|not a number of calls/],
  [['key', 'limit', 'EMAIL', 'KEY', 'many'], /"many" is not a number of calls per minute/],
  [['key', 'limit', 'EMAIL', 'KEY', 'same', '--concurrency', 'x'], /"x" is not a number of calls in flight/],
  [['maintenance', 'on', '--retry-after', '0'], /"0" is not a number of seconds/],
  [['maintenance', 'on', 'now'], /Usage: maintenance on/],
])('explains wrong use: %j', async (words, message) => {
  const line = words.map(word => word.replace('EMAIL', account.email).replace('KEY', String(account.keyId)))
  await expect((async () => command(...line))()).rejects.toThrow(message)
})
