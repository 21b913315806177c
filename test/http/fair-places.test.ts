/** Calls wait for a place at an upstream that has reached its limit, and no account keeps the others out. */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Places } from '../../src/upstream/places.ts'
import { chatCall, goodMessage } from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type RecordedRequest,
  type ScriptedUpstream,
  startScriptedUpstream,
  until,
} from '../support/scripted-upstream.ts'
import { changedTables } from '../support/tables.ts'

const CREDIT = 1_000_000n * 1_000_000n
const PLACES = 2

/** Ends the calls at the provider one after another, in the order in which they came. */
let held: (() => void)[] = []
let provider: ScriptedUpstream
let running: TestGateway
beforeAll(async () => {
  provider = await startScriptedUpstream(() => {
    const gate = Promise.withResolvers<void>()
    held.push(gate.resolve)
    return [until(gate.promise), ...goodMessage]
  })
  running = await startTestGateway({
    tables: changedTables({ upstreams: { anthropic: { concurrencyMax: PLACES } } }),
    upstreams: { anthropic: provider.url },
    environment: { LIMIT_PLACE_WAIT_MS: '60000' },
  })
})
afterEach(() => {
  held = []
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

function call({ apiKey }: TestAccount, tag: string, signal?: AbortSignal): Promise<number> {
  return fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: chatCall('claude-opus-5', { messages: [{ role: 'user', content: tag }] }),
    ...(signal && { signal }),
  }).then(({ status }) => status)
}

function places(): Places | undefined {
  return running.gateway.upstreams.find('anthropic')?.places
}

function whoseCall(index: number): string {
  const { messages } = (provider.requests[index] as RecordedRequest).json() as { messages: { content: string }[] }
  return messages[0]?.content as string
}

test('an account with many calls at an upstream lets another one in as soon as a place is free', async () => {
  const [many, one] = await Promise.all([running.account(CREDIT), running.account(CREDIT)])
  const first = provider.requests.length
  const calls = Array.from({ length: 20 }, () => call(many, 'many'))
  await provider.received(first + PLACES)
  await expect.poll(() => places()?.waiting).toBe(18)
  const late = call(one, 'one')
  await expect.poll(() => places()?.waiting).toBe(19)
  held[0]?.()
  await provider.received(first + PLACES + 1)
  expect(whoseCall(first + PLACES)).toBe('one')
  for (let index = 1; index < 21; index++) {
    await provider.received(first + index + 1)
    expect(places()?.taken).toBeLessThanOrEqual(PLACES)
    held[index]?.()
  }
  expect(await Promise.all([late, ...calls])).toEqual(Array(21).fill(200))
})

test('a call that finds all its upstreams full takes the first place that becomes free at any of them', async () => {
  const other = await startScriptedUpstream(() => goodMessage)
  const both = await startTestGateway({
    tables: changedTables({
      upstreams: { anthropic: { concurrencyMax: 1 }, xai: { concurrencyMax: 1, paths: { messages: '/messages' } } },
      targets: { 'claude-opus-5': ['anthropic', 'xai'] },
    }),
    upstreams: { anthropic: provider.url, xai: other.url },
    environment: { LIMIT_PLACE_WAIT_MS: '60000' },
  })
  try {
    const [first, second] = ['anthropic', 'xai'].map(id => both.gateway.upstreams.find(id)?.places) as [Places, Places]
    const { accountId, apiKey } = await both.account(CREDIT)
    const send = () =>
      fetch(`${both.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': apiKey },
        body: chatCall('claude-opus-5', { messages: [{ role: 'user', content: 'x' }] }),
      }).then(({ status }) => status)
    const before = provider.requests.length
    second.enter(accountId)
    const running = send()
    await provider.received(before + 1)
    const waiting = send()
    await expect.poll(() => [first.waiting, second.waiting]).toEqual([1, 1])
    second.leave(accountId)
    expect(await waiting).toBe(200)
    expect(other.requests.length).toBe(1)
    expect([first.waiting, second.waiting, second.taken, second.full]).toEqual([0, 0, 0, false])

    // Places that become free at both at once: the one that is not taken is nobody's.
    second.enter(accountId)
    const next = send()
    await expect.poll(() => [first.waiting, second.waiting]).toEqual([1, 1])
    second.leave(accountId)
    held.at(-1)?.()
    expect(await running).toBe(200)
    await expect.poll(() => other.requests.length + provider.requests.length).toBe(before + 3)
    held.at(-1)?.()
    expect(await next).toBe(200)
    await expect.poll(() => [first.waiting, second.waiting, first.full, second.full]).toEqual([0, 0, false, false])
  } finally {
    for (const end of held) end()
    await both.close()
    await other.close()
  }
})

test('a client that leaves while its call waits gives up its place in line, and its call is not sent', async () => {
  const account = await running.account(CREDIT)
  const first = provider.requests.length
  const calls = Array.from({ length: PLACES }, () => call(account, 'stays'))
  await provider.received(first + PLACES)
  const leaving = new AbortController()
  const gone = running.clientGone()
  const left = call(account, 'leaves', leaving.signal).catch(() => 0)
  await expect.poll(() => places()?.waiting).toBe(1)
  leaving.abort()
  await gone
  expect(places()?.waiting).toBe(0)
  for (const end of held) end()
  expect(await Promise.all([...calls, left])).toEqual([200, 200, 0])
  expect(provider.requests.length).toBe(first + PLACES)
  expect((await running.usage(account.accountId)).map(({ status }) => status)).toEqual([499, 200, 200])
})
