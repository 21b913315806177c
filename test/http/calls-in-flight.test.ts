/** The limit on calls in flight per key holds across all processes, and each call counts until it ends. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { limitConcurrency } from '../../src/accounts/key-rate.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { announce } from '../../src/operations/channel.ts'
import { MESSAGE, MESSAGES_END, MESSAGES_START, textDelta } from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  end,
  json,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  until,
  write,
} from '../support/scripted-upstream.ts'

const CREDIT = 1_000_000n * 1_000_000n

let provider: ScriptedUpstream
let running: TestGateway
let gate = Promise.withResolvers<void>()
beforeAll(async () => {
  provider = await startScriptedUpstream(({ body }) => {
    if (!body.toString().includes('"stream":true')) return [until(gate.promise), ...json(200, MESSAGE)]
    const [start, stop] = [MESSAGES_START.join('') + textDelta('a'), MESSAGES_END.join('')]
    return [sse(), write(start), until(gate.promise), write(stop), end()]
  })
  running = await startTestGateway({ upstreams: { anthropic: provider.url } })
})
afterAll(async () => {
  gate.resolve()
  await running.close()
  await provider.close()
})

function call(url: string, { apiKey }: TestAccount, stream: boolean): Promise<Response> {
  const body = JSON.stringify({
    model: 'claude-opus-5',
    max_tokens: 9,
    stream,
    messages: [{ role: 'user', content: 'x' }],
  })
  return fetch(`${url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': apiKey }, body })
}

async function limited(limit: number): Promise<TestAccount> {
  const account = await running.account(CREDIT)
  const { accountId, keyId } = account
  const { sql } = running.database
  expect(await limitConcurrency(sql, { accountId, keyId, by: COMMAND_LINE }, limit)).toBe(true)
  await announce(sql, 'keys')
  gate = Promise.withResolvers()
  return account
}

async function expectRefused(url: string, account: TestAccount): Promise<void> {
  const refused = await call(url, account, false)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.headers.get('x-should-retry')).toBeNull()
  expect(await refused.json()).toMatchObject({
    error: { type: 'rate_limit_error', code: 'rate_limited', message: expect.stringContaining('2 calls in flight') },
  })
}

test('a call above the limit gets a 429 and a usage row; calls count until they end, streamed or not', async () => {
  const account = await limited(2)
  const before = provider.requests.length
  const whole = call(running.url, account, false)
  const streamed = await call(running.url, account, true)
  await expect.poll(() => provider.requests.length).toBe(before + 2)
  await expectRefused(running.url, account)
  gate.resolve()
  expect((await whole).status).toBe(200)
  expect(await streamed.text()).toContain('message_stop')
  await running.gateway.readiness.idle()
  expect((await call(running.url, account, false)).status).toBe(200)
  expect((await running.usage(account.accountId)).map(({ status }) => status).sort()).toEqual([200, 200, 200, 429])
})

test('a client that leaves its stream frees its slot', async () => {
  const account = await limited(2)
  const leaving = new AbortController()
  for (let count = 0; count < 2; count++) {
    const body = JSON.stringify({
      model: 'claude-opus-5',
      max_tokens: 9,
      stream: true,
      messages: [{ role: 'user', content: 'x' }],
    })
    const { signal } = leaving
    await fetch(`${running.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey },
      body,
      signal,
    })
  }
  await expectRefused(running.url, account)
  leaving.abort()
  gate.resolve()
  await expect.poll(async () => (await call(running.url, account, false)).status).toBe(200)
})

test('two processes share the limit', async () => {
  const sibling = await running.sibling()
  const account = await limited(2)
  const before = provider.requests.length
  const calls = [running.url, sibling.url].map(url => call(url, account, false))
  await expect.poll(() => provider.requests.length).toBe(before + 2)
  for (const url of [running.url, sibling.url]) await expectRefused(url, account)
  gate.resolve()
  for (const answer of await Promise.all(calls)) expect(answer.status).toBe(200)
})
