/**
 * As long as the client has received nothing, the gateway retries a failed call with another credential, then at another
 * upstream. A credential or upstream that has failed is not used for a while.
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  chatCall,
  goodMessage,
  goodMessagesStream,
  MESSAGE,
  MESSAGES_START,
  MESSAGES_STREAM,
  messagesEvent,
  textDelta,
} from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  end,
  hang,
  head,
  json,
  raw,
  reset,
  type Script,
  type ScriptedUpstream,
  type Step,
  sse,
  startScriptedUpstream,
  until,
  write,
} from '../support/scripted-upstream.ts'
import { changedTables, type TableChanges } from '../support/tables.ts'

const CREDIT = 1_000_000n * 1_000_000n
const ENTRY = 'claude-opus-5'
/** The cost of a call whose reply is MESSAGE. */
const COST = 17n * 6500n

let opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const each of opened.reverse()) await each.close()
  opened = []
})

async function upstream(script: Script): Promise<ScriptedUpstream> {
  const started = await startScriptedUpstream(script)
  opened.push(started)
  return started
}

interface Started {
  readonly running: TestGateway
  readonly account: TestAccount
}

const MESSAGES_PATHS = { messages: '/v1/messages' }

type Address = string | { readonly url: string; readonly keys: readonly string[] }

/** A gateway whose entry is served by `first`, or by `second` if that fails. */
function startGateway(first: Address, second: string | null, changes: TableChanges): Promise<TestGateway> {
  const tables = changedTables({
    targets: { [ENTRY]: second === null ? ['anthropic'] : ['anthropic', 'xai'] },
    ...changes,
    upstreams: { xai: { paths: MESSAGES_PATHS }, ...changes.upstreams },
  })
  const upstreams = { anthropic: first, ...(second === null ? {} : { xai: second }) }
  return startTestGateway({ tables, upstreams, environment: { LIMIT_PLACE_WAIT_MS: '0' } })
}

async function start(first: Address, second: string | null, changes: TableChanges = {}): Promise<Started> {
  const running = await startGateway(first, second, changes)
  opened.push(running)
  return { running, account: await running.account(CREDIT) }
}

function call({ running, account }: Started, extra: object = {}, signal?: AbortSignal) {
  return fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: chatCall(ENTRY, extra),
    ...(signal === undefined ? {} : { signal }),
  })
}

/** A port on which nothing listens. */
async function closedPort(): Promise<string> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }

const FAILURES: readonly [name: string, answer: Answer][] = [
  ['429', json(429, { error: { message: 'slow down' } }, { 'retry-after': '7' })],
  ['500', json(500, { error: { message: 'boom' } })],
  ['503', json(503, {})],
  ['529', json(529, overloaded)],
  ['401', json(401, { error: { type: 'authentication_error', message: 'invalid x-api-key' } })],
  ['402', json(402, { error: { message: 'Insufficient Balance' } })],
  ['403', json(403, { error: { type: 'permission_error', message: 'no' } })],
  ['HTML', [head(502, { 'content-type': 'text/html' }), write('<html>Bad Gateway</html>'), end()]],
  ['headers that are too large', [raw(`HTTP/1.1 200 OK\r\nset-cookie: ${'x'.repeat(20_000)}\r\n\r\n`), hang()]],
  ['a reset before the headers', [reset()]],
  ['a reset after the headers', [head(200, { 'content-type': 'application/json' }), write('{'), reset()]],
  ['an empty 200', [head(200, { 'content-type': 'application/json' }), end()]],
  ['an error in a 200', json(200, overloaded)],
  ['silence', [hang()]],
  ['silence after the headers', [sse(), hang()]],
  ['an error as the first event', [sse(), write(`: hello\n\n${messagesEvent(overloaded)}`), end()]],
  ['garbage as the first event', [sse(), write('data: {"id":"x","cho\n\n'), end()]],
  ['a stream without an event', [sse(), write(': nothing\n\n'), end()]],
]

describe('one failure at a time', () => {
  let answers: readonly [first: Answer, second: Answer]
  let first: ScriptedUpstream
  let second: ScriptedUpstream
  let running: TestGateway
  beforeAll(async () => {
    first = await startScriptedUpstream(() => answers[0])
    second = await startScriptedUpstream(() => answers[1])
    // Prevents cooldowns, so that each case starts with a healthy first upstream.
    const cooldown = { failures: 1000, baseMs: 0, maxMs: 0 }
    const anthropic = { firstByteTimeoutMs: 300, idleTimeoutMs: 300 }
    running = await startGateway(first.url, second.url, { everyUpstream: { cooldown }, upstreams: { anthropic } })
  })
  afterAll(async () => {
    for (const each of [running, second, first]) await each.close()
  })

  test.each(FAILURES)('tries another upstream after %s, at the same price', async (_name, failure) => {
    for (const stream of [false, true]) {
      answers = [failure, stream ? goodMessagesStream : goodMessage]
      const [before, beforeToo] = [first.requests.length, second.requests.length]
      const account = await running.account(CREDIT)
      const response = await call({ running, account }, { stream })
      expect(response.status).toBe(200)
      expect(await response.text()).toBe(
        stream ? MESSAGES_STREAM.replace('upstream-name', ENTRY) : JSON.stringify({ ...MESSAGE, model: ENTRY }),
      )
      expect(first.requests.length).toBeGreaterThan(before)
      expect(second.requests.length).toBe(beforeToo + 1)
      const cost = stream ? 35n * 6500n : COST
      expect(await running.usage(account.accountId)).toMatchObject([{ status: 200, cost, charged: cost }])
    }
  })

  test.each<[string, Answer, number]>([
    ['400', json(400, { error: { type: 'invalid_request_error', message: 'max_tokens: too many' } }), 400],
    ['413', json(413, { error: { type: 'request_too_large', message: 'too large' } }), 413],
    ['422', json(422, { error: { message: 'no such field' } }), 422],
  ])('does not try another upstream for what the client must fix: %s', async (_name, refusal, status) => {
    answers = [refusal, goodMessage]
    const before = second.requests.length
    const account = await running.account(CREDIT)
    expect((await call({ running, account })).status).toBe(status)
    expect(second.requests.length).toBe(before)
    expect(await running.balance(account.accountId)).toBe(CREDIT)
  })

  test('a long body is converted for the second upstream as it was for the first', async () => {
    const content = 'Việt Nam, quê hương. '.repeat(1_000)
    answers = [json(500, { error: { message: 'boom' } }), goodMessage]
    const account = await running.account(CREDIT)
    const response = await fetch(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey },
      body: JSON.stringify({ model: ENTRY, messages: [{ role: 'user', content }] }),
    })
    expect(response.status).toBe(200)
    const [sent, again] = [first, second].map(({ requests }) => requests.at(-1)?.json())
    expect(sent).toMatchObject({ messages: [{ role: 'user', content }] })
    expect(again).toEqual(sent)
  })

  test('does not try another upstream once the client has seen an event', async () => {
    answers = [[sse(), write(MESSAGES_STREAM.slice(0, 300)), reset()], goodMessagesStream]
    const before = second.requests.length
    const account = await running.account(CREDIT)
    expect(await (await call({ running, account }, { stream: true })).text()).toMatch(/event: error\n/)
    expect(second.requests.length).toBe(before)
  })
})

test('tries another upstream if nothing listens at the first', async () => {
  const second = await upstream(() => goodMessage)
  const started = await start(await closedPort(), second.url)
  expect((await call(started)).status).toBe(200)
})

test('does not wait for the end of an error’s text', async () => {
  const first = await upstream(() => [head(503), write('{'), hang()])
  const second = await upstream(() => goodMessage)
  const started = await start(first.url, second.url)
  expect((await call(started)).status).toBe(200)
})

test('uses the next credential when one is refused, which then cools down', async () => {
  const provider = await upstream(request =>
    request.headers['x-api-key'] === 'good-secret-2'
      ? goodMessage
      : json(401, { error: { type: 'authentication_error', message: 'invalid x-api-key bad-secret-1' } }),
  )
  const started = await start({ url: provider.url, keys: ['bad-secret-1', 'good-secret-2'] }, null)
  const statuses: number[] = []
  for (let calls = 0; calls < 6; calls++) {
    const account = await started.running.account(CREDIT)
    const response = await call({ running: started.running, account })
    statuses.push(response.status)
    expect(await response.text()).not.toContain('secret')
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200])
  expect(provider.requests.filter(request => request.headers['x-api-key'] === 'bad-secret-1')).toHaveLength(1)
  const [status] = started.running.gateway.upstreams.status().filter(({ id }) => id === 'anthropic')
  expect(status?.state).toBe('well')
  expect(status?.credentials.map(({ label, state }) => [label, state])).toEqual([
    ['anthropic#1', 'aside'],
    ['anthropic#2', 'well'],
  ])
})

test('all calls of a key use the same credential while it is healthy; keys are spread over the pool', async () => {
  const provider = await upstream(() => goodMessage)
  const started = await start({ url: provider.url, keys: ['secret-a', 'secret-b', 'secret-c'] }, null)
  const used = new Set<unknown>()
  for (let people = 0; people < 12; people++) {
    const account = await started.running.account(CREDIT)
    const before = provider.requests.length
    for (let calls = 0; calls < 3; calls++) await (await call({ running: started.running, account })).text()
    const keys = new Set(provider.requests.slice(before).map(request => request.headers['x-api-key']))
    expect(keys.size).toBe(1)
    for (const key of keys) used.add(key)
  }
  expect(used.size).toBe(3)
})

test('distributes the keys of an entry over its upstreams by weight', async () => {
  const first = await upstream(() => goodMessage)
  const second = await upstream(() => goodMessage)
  const started = await start(first.url, second.url, {
    targets: {
      [ENTRY]: [
        ['anthropic', 1],
        ['xai', 3],
      ],
    },
  })
  for (let people = 0; people < 40; people++) {
    const account = await started.running.account(CREDIT)
    await (await call({ running: started.running, account })).text()
  }
  expect(first.requests.length + second.requests.length).toBe(40)
  expect(first.requests.length).toBeGreaterThan(2)
  expect(second.requests.length).toBeGreaterThan(first.requests.length)
})

test('respects a provider’s retry-after, and passes it on if there is no other provider', async () => {
  const limited = json(429, { error: { message: 'slow down' } }, { 'retry-after': '30' })
  const first = await upstream([limited])
  const second = await upstream(() => goodMessage)
  const started = await start(first.url, second.url)
  expect((await call(started)).status).toBe(200)
  expect((await call(started)).status).toBe(200)
  expect(first.requests).toHaveLength(1)

  const alone = await upstream([limited, [hang()]])
  const single = await start(alone.url, null)
  const refused = await call(single)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30'])
  expect(await refused.json()).toMatchObject({ error: { type: 'rate_limit_error' } })
  // The next call is sent to find out whether the provider still refuses calls. Meanwhile, other calls are refused at once.
  const leaving = new AbortController()
  const trial = call(single, { stream: true }, leaving.signal).catch(() => null)
  await alone.received(2)
  const waiting = await call(single)
  expect([waiting.status, Number(waiting.headers.get('retry-after')) > 20]).toEqual([429, true])
  expect(alone.requests).toHaveLength(2)
  leaving.abort()
  await trial
})

test('a call that a provider accepts again lets others pass before its reply arrives', async () => {
  const gate = Promise.withResolvers<void>()
  const limited = json(429, { error: { message: 'slow down' } })
  const provider = await upstream((_request, index) =>
    index === 0 ? limited : index === 1 ? [until(gate.promise), ...goodMessage] : goodMessage,
  )
  const cooldown = { failures: 5, baseMs: 500, maxMs: 500 }
  const started = await start(provider.url, null, { everyUpstream: { cooldown } })
  expect((await call(started)).status).toBe(429)
  const long = call(started)
  await provider.received(2)
  await expect.poll(async () => (await call(started)).status).toBe(200)
  gate.resolve()
  expect((await long).status).toBe(200)
})

test('sends retry-after even if every provider limits the call without one', async () => {
  const first = await upstream([json(429, { error: { message: 'slow down' } })])
  const second = await upstream([json(429, { error: { message: 'slow down' } })])
  const refused = await call(await start(first.url, second.url))
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
  expect([first.requests.length, second.requests.length]).toEqual([1, 1])
})

test('opens the circuit of an upstream after consecutive faults, probes it, and closes it again', async () => {
  let isBroken = true
  const first = await upstream(() => (isBroken ? json(500, {}) : goodMessage))
  const second = await upstream(() => goodMessage)
  const cooldown = { failures: 3, baseMs: 600_000, maxMs: 600_000 }
  const started = await start(first.url, second.url, { everyUpstream: { cooldown } })
  for (let calls = 0; calls < 6; calls++) expect((await call(started)).status).toBe(200)
  expect(first.requests).toHaveLength(3)
  const stateOf = () => started.running.gateway.upstreams.find('anthropic')?.circuit.state
  expect(stateOf()).toBe('open')
  isBroken = false
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 600_000)
  expect(stateOf()).toBe('half_open')
  expect((await call(started)).status).toBe(200)
  expect(first.requests).toHaveLength(4)
  expect(stateOf()).toBe('closed')
  clock.mockRestore()
})

test.each<[string, Step[]]>([
  ['with a reset', [reset()]],
  ['without their last events', [end()]],
  ['with an error', [write(messagesEvent(overloaded)), end()]],
])('opens the circuit of an upstream whose streams repeatedly end early, %s', async (_how, rest) => {
  const first = await upstream(() => [sse(), write(`${MESSAGES_START.join('')}${textDelta('Xin')}`), ...rest])
  const second = await upstream(() => goodMessagesStream)
  const cooldown = { failures: 3, baseMs: 60_000, maxMs: 60_000 }
  const started = await start(first.url, second.url, { everyUpstream: { cooldown } })
  const texts: string[] = []
  for (let calls = 0; calls < 4; calls++) texts.push(await (await call(started, { stream: true })).text())
  expect(texts.map(text => text.includes('message_stop'))).toEqual([false, false, false, true])
  const [status] = started.running.gateway.upstreams.status().filter(({ id }) => id === 'anthropic')
  expect(status?.failures).toBe(3)
})

test.each<[string, Step]>([
  ['breaks', reset()],
  ['stays open', hang()],
])('a complete stream whose connection then %s is no failure, and gives back its place', async (_how, last) => {
  const provider = await upstream(() => [sse(), write(MESSAGES_STREAM), last])
  const cooldown = { failures: 1, baseMs: 60_000, maxMs: 60_000 }
  const started = await start(provider.url, null, { everyUpstream: { cooldown } })
  for (let calls = 0; calls < 3; calls++) {
    expect(await (await call(started, { stream: true })).text()).toContain('message_stop')
  }
  const status = () => started.running.gateway.upstreams.find('anthropic')?.status()
  await expect.poll(() => status()?.callsInFlight).toBe(0)
  expect(status()).toMatchObject({ state: 'well', failures: 0 })
})

test('tries an upstream with an open circuit if nothing else is left', async () => {
  let isBroken = true
  const alone = await upstream(() => (isBroken ? json(500, {}) : goodMessage))
  const cooldown = { failures: 1, baseMs: 60_000, maxMs: 60_000 }
  const started = await start(alone.url, null, { everyUpstream: { cooldown } })
  expect((await call(started)).status).toBe(502)
  isBroken = false
  expect((await call(started)).status).toBe(200)
})

test('does not try another upstream for a client that has left, which pays nothing', async () => {
  const gate = Promise.withResolvers<void>()
  const first = await upstream(() => [until(gate.promise), ...json(500, {})])
  const second = await upstream(() => goodMessage)
  const started = await start(first.url, second.url)
  const gone = started.running.clientGone()
  const leaving = new AbortController()
  const left = call(started, {}, leaving.signal).catch(() => null)
  await first.received(1)
  leaving.abort()
  await Promise.all([left, gone])
  gate.resolve()
  expect(await started.running.usage(started.account.accountId)).toMatchObject([{ status: 499, charged: 0n }])
  expect(second.requests).toHaveLength(0)
})

test('limits the attempts per call', async () => {
  const keys = Array.from({ length: 9 }, (_, index) => `secret-${index}`)
  const provider = await upstream(() => json(500, {}))
  const started = await start({ url: provider.url, keys }, null, { everyUpstream: { attemptsMax: 9 } })
  expect((await call(started)).status).toBe(502)
  expect(provider.requests).toHaveLength(4)
})

test('refuses calls above the limit of an upstream, and sends them elsewhere if possible', async () => {
  const first = await upstream(() => [hang()])
  const second = await upstream(() => goodMessage)
  const started = await start(first.url, second.url, { upstreams: { anthropic: { concurrencyMax: 1 } } })
  const leaving = new AbortController()
  const held = call(started, { stream: true }, leaving.signal).catch(() => null)
  await first.received(1)
  expect((await call(started)).status).toBe(200)
  const alone = await start(first.url, null, { everyUpstream: { concurrencyMax: 1 } })
  const heldToo = call(alone, { stream: true }, leaving.signal).catch(() => null)
  await first.received(2)
  const refused = await call(alone)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  leaving.abort()
  await Promise.all([held, heldToo])
})

test('refuses calls above the limit of an upstream that arrive together, however long it takes to prepare them', async () => {
  const gate = Promise.withResolvers<void>()
  const provider = await upstream(() => [until(gate.promise), ...goodMessage])
  const started = await start(provider.url, null, { everyUpstream: { concurrencyMax: 1 } })
  const long = { messages: [{ role: 'user', content: 'Việt Nam, quê hương. '.repeat(20_000) }] }
  const calls = Array.from({ length: 4 }, () => call(started, long))
  const refused = await Promise.race(calls)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  gate.resolve()
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([200, 503, 503, 503])
})

test.each([
  ['503', json(503, {})],
  ['a reset', [reset()]],
])(
  'with %s, sends each call only once to an upstream whose circuit is open, however many credentials there are',
  async (_, fault) => {
    const provider = await upstream(() => fault)
    const keys = ['key-1', 'key-2', 'key-3', 'key-4']
    const started = await start({ url: provider.url, keys }, null)
    const circuit = started.running.gateway.upstreams.find('anthropic')?.circuit
    while (circuit?.state === 'closed') expect((await call(started)).status).toBeGreaterThan(500)
    const before = provider.requests.length
    expect(before).toBeGreaterThan(1)
    expect((await call(started)).status).toBeGreaterThan(500)
    expect(provider.requests.length).toBe(before + 1)
  },
)

test('repeats a call once if the connection is lost before a reply', async () => {
  const provider = await upstream([[reset()], goodMessage])
  const started = await start(provider.url, null)
  expect((await call(started)).status).toBe(200)
  expect(provider.requests).toHaveLength(2)
})

test('with one of two upstreams failing half of its calls, 500 calls of the official SDK see no error', async () => {
  const faults: readonly Answer[] = [json(500, {}), [reset()], json(529, overloaded), [head(200), end()]]
  const first = await upstream((request, index) => {
    if (index % 2 === 0) return faults[(index / 2) % faults.length] as Answer
    return (request.json() as { stream?: boolean }).stream ? goodMessagesStream : goodMessage
  })
  const second = await upstream(request =>
    (request.json() as { stream?: boolean }).stream ? goodMessagesStream : goodMessage,
  )
  const started = await start(first.url, second.url)
  const client = new Anthropic({ baseURL: started.running.url, apiKey: started.account.apiKey, maxRetries: 0 })
  const body = { model: ENTRY, max_tokens: 9, messages: [{ role: 'user' as const, content: 'x' }] }
  let done = 0
  const work = async () => {
    while (done < 500) {
      const stream = done++ % 2 === 0
      const message = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body)
      expect(message.stop_reason).toBe('end_turn')
    }
  }
  await Promise.all(Array.from({ length: 10 }, work))
  expect(first.requests.length).toBeGreaterThan(100)
  const rows = await started.running.usage(started.account.accountId)
  expect(rows).toHaveLength(500)
  expect(rows.every(row => row.status === 200 && row.charged === row.cost)).toBe(true)
  expect(await started.running.balance(started.account.accountId)).toBe(CREDIT - 250n * (17n + 35n) * 6500n)
})
