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
