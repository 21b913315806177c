/** Streams that cost more than their hold: holds grow, and a stream ends when the money runs out. */

import { Agent, request } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { NO_USAGE } from '../../src/conversation/usage.ts'
import { GatewayError } from '../../src/errors.ts'
import { audit } from '../../src/ledger/audit.ts'
import type { ExtendAnswer } from '../../src/ledger/types.ts'
import { type MicroVnd, microVnd } from '../../src/lib/money.ts'
import { countTokens } from '../../src/lib/tokens.ts'
import { StreamHold, type StreamHoldOptions } from '../../src/pipeline/stream-hold.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { type LongStreams, startLongStreams } from '../support/long-streams.ts'
import { changedTables } from '../support/tables.ts'

const PER_VND = 1_000_000n
/** The number of tokens by which a hold grows in one step. */
const STEP = 4_096
const TEXT = ' lorem ipsum dolor sit amet'.repeat(40)
const TOKENS = countTokens(TEXT)

let provider: LongStreams
let running: TestGateway
const agent = new Agent({ connections: 1_000, pipelining: 1 })

beforeAll(async () => {
  provider = await startLongStreams({ events: 10, text: TEXT, inputTokens: 20, outputTokens: 10 * TOKENS, pauseMs: 0 })
  const { url } = provider
  running = await startTestGateway({
    upstreams: { anthropic: url, openai: `${url}/v1` },
    environment: {
      // Long, because after this wait the gateway lets a stream continue unpaid for one step. A separate test covers that.
      LIMIT_HOLD_EXTEND_WAIT_MS: '120000',
      // On a busy machine, a thousand calls at once take so long that the last ones would time out.
      LIMIT_HEADERS_TIMEOUT_MS: '600000',
      LIMIT_REQUEST_TIMEOUT_MS: '600000',
    },
    // A thousand concurrent calls would exceed a key's default limit.
    tables: changedTables({ settings: { concurrencyMax: 0 } }),
  })
})
beforeEach(() => {
  provider.gate = null
  provider.options = { events: 10, text: TEXT, inputTokens: 20, outputTokens: 10 * TOKENS, pauseMs: 0 }
})
afterAll(async () => {
  await running.close()
  await agent.close()
  await provider.close()
})

/** Same-format and converted calls: the endpoint, a model, and the model's price in µVND per token. */
const CASES = [
  ['messages', 'claude-opus-5', 6_500n],
  ['messages', 'gpt-5.5', 2_400n],
  ['chat/completions', 'gpt-5.5', 2_400n],
  ['chat/completions', 'claude-opus-5', 6_500n],
  ['responses', 'gpt-5.5', 2_400n],
] as const
type Endpoint = (typeof CASES)[number][0]

/** The name and the data of a stream's last event; the name is '' if the event has none. */
function lastEvent(text: string): readonly [string, Record<string, unknown>] {
  const event = text.trimEnd().split('\n\n').at(-1) as string
  const data = /^data: (.*)$/m.exec(event)?.[1] as string
  return [/^event: (.*)$/m.exec(event)?.[1] ?? '', data === '[DONE]' ? { done: true } : JSON.parse(data)]
}

const GOOD_END: Readonly<Record<Endpoint, RegExp>> = {
  messages: /event: message_stop\n/,
  'chat/completions': /data: \[DONE\]\n/,
  responses: /event: response.completed\n/,
}

/**
 * True if the stream ended with an error event because the money ran out, false if it ended normally. Fails for any other end.
 */
function isSpent(endpoint: Endpoint, text: string): boolean {
  if (GOOD_END[endpoint].test(text)) return false
  const [name, data] = lastEvent(text)
  const message = expect.stringContaining('Top up at http://gateway.test/topup')
  if (endpoint === 'responses') {
    const failed = { status: 'failed', error: { code: 'insufficient_quota', message } }
    expect([name, data]).toEqual([
      'response.failed',
      expect.objectContaining({ response: expect.objectContaining(failed) }),
    ])
  } else {
    const code = 'insufficient_balance'
    const error = { type: code, message, code, param: null, metadata: { limit_source: 'wallet' } }
    const told = { type: 'error', error, request_id: expect.any(String) }
    expect([name, data]).toEqual([endpoint === 'messages' ? 'error' : '', told])
  }
  return true
}

async function stream(
  apiKey: string,
  endpoint: Endpoint,
  model: string,
  keep = 4_000,
): Promise<{ status: number; tail: string; bytes: number }> {
  const prompt = [{ role: 'user', content: 'Write a long story.' }]
  const cap =
    endpoint === 'responses' ? { max_output_tokens: 128_000, input: prompt } : { max_tokens: 128_000, messages: prompt }
  const reply = await request(`${running.url}/v1/${endpoint}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: JSON.stringify({ model, stream: true, ...cap }),
    dispatcher: agent,
  })
  let tail = ''
  let bytes = 0
  for await (const part of reply.body as AsyncIterable<Buffer>) {
    bytes += part.length
    tail = (tail + part.toString('latin1')).slice(-keep)
  }
  return { status: reply.statusCode, tail, bytes }
}

describe.each(CASES)('%s with %s', (endpoint, model, price) => {
  test('a stream that outgrows its hold repeatedly is served to its end and charged the reported usage', async () => {
    const account = await running.account(10_000n * PER_VND)
    const events = Math.ceil((4 * STEP) / TOKENS)
    provider.options = { ...provider.options, events, outputTokens: events * TOKENS }
    const { tail } = await stream(account.apiKey, endpoint, model)
    expect(isSpent(endpoint, tail)).toBe(false)
    const cost = BigInt(20 + events * TOKENS) * price
    expect(await running.usage(account.accountId)).toMatchObject([
      { status: 200, cost, charged: cost, estimated: false },
    ])
    expect(await audit(running.database.sql)).toMatchObject({ clean: true, openHolds: 0 })
  })

  test('when the wallet is empty, a stream ends with an error event, pays for what was sent, and the provider’s request is aborted', async () => {
    // Enough money for 2,000 tokens.
    const credit = 2_000n * price
    const account = await running.account(credit)
    provider.options = { ...provider.options, events: 10_000 }
    const before = provider.aborted
    const { tail, bytes } = await stream(account.apiKey, endpoint, model, 1_000_000)
    expect(isSpent(endpoint, tail)).toBe(true)
    await expect.poll(() => provider.aborted).toBe(before + 1)
    const [row] = await running.usage(account.accountId)
    expect(row).toMatchObject({ status: 402, charged: credit, balance_after: 0n, streamed: true, estimated: true })
    // The stream stopped when the money ran out, and its usage row has the tokens that the client received.
    expect(row?.output_tokens).toBeLessThan(2_000 + 2 * TOKENS)
    const words = tail.split(' lorem').length - 1
    expect(bytes).toBeLessThan(1_000_000)
    expect(Math.abs((row?.output_tokens ?? 0) - words * (TOKENS / 40))).toBeLessThan(20)
    expect(await audit(running.database.sql)).toMatchObject({ clean: true, openHolds: 0 })
  })
})

test('a stream with a price per call is never stopped because of its length', async () => {
  const account = await running.account(2_000n * PER_VND)
  provider.options = { ...provider.options, events: 200 }
  const { tail } = await stream(account.apiKey, 'messages', 'req/claude-opus-5')
  expect(isSpent('messages', tail)).toBe(false)
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 200, charged: 1_500n * PER_VND }])
})

test('1,000 parallel streams of up to 128,000 tokens on 50,000 VND: all end, almost everything is paid, the balance is exactly 0', async () => {
  const credit = 50_000n * PER_VND
  const account = await running.account(credit)
  const open = Promise.withResolvers<void>()
  provider.gate = open.promise
  provider.options = { ...provider.options, events: Math.ceil(128_000 / TOKENS), outputTokens: 128_000 }
  const before = provider.bodies.length
  const begin = (index: number) => {
    const [endpoint, model] = CASES[index % CASES.length] as (typeof CASES)[number]
    return stream(account.apiKey, endpoint, model).then(({ status, tail }) => ({ endpoint, status, tail }))
  }
  const calls: ReturnType<typeof begin>[] = []
  try {
    // In waves, because the system queues 511 connections of a process that is too busy to accept them, and resets later ones.
    while (calls.length < 1_000) {
      calls.push(...Array.from({ length: 250 }, (_, index) => begin(index)))
      await expect.poll(() => provider.bodies.length - before, { timeout: 120_000 }).toBe(calls.length)
    }
  } finally {
    open.resolve()
  }
  const ends = await Promise.all(calls)
  expect(ends.every(({ status }) => status === 200)).toBe(true)
  expect(ends.filter(({ endpoint, tail }) => isSpent(endpoint, tail)).length).toBeGreaterThan(500)
  const rows = await running.usage(account.accountId)
  expect(rows).toHaveLength(1_000)
  const sum = (of: (row: (typeof rows)[number]) => bigint) => rows.reduce((total, row) => total + of(row), 0n)
  const [cost, charged] = [sum(row => row.cost), sum(row => row.charged)]
  expect(charged).toBe(credit)
  expect(await running.balance(account.accountId)).toBe(0n)
  // At most the last step of each stream stays unpaid.
  const steps = CASES.reduce((total, [, , price]) => total + 200n * BigInt(STEP) * price, 0n)
  expect(cost - charged).toBeLessThanOrEqual(steps)
  console.info(
    `1,000 streams: cost ${cost / PER_VND}, charged ${charged / PER_VND} VND, ${(100 * Number(charged)) / Number(cost)} %`,
  )
  expect(charged * 100n).toBeGreaterThanOrEqual(cost * 95n)
  expect(await audit(running.database.sql)).toMatchObject({ clean: true, openHolds: 0 })
}, 600_000)

test('streams do not end while Postgres is down: each wait grants them one more step, and everything is charged afterwards', async () => {
  const patient = await startTestGateway({
    upstreams: { anthropic: provider.url },
    environment: { LIMIT_HOLD_EXTEND_WAIT_MS: '300' },
  })
  try {
    const account = await patient.account(10_000n * PER_VND)
    const open = Promise.withResolvers<void>()
    provider.gate = open.promise
    const events = Math.ceil((3 * STEP) / TOKENS)
    provider.options = { ...provider.options, events, outputTokens: events * TOKENS }
    const before = provider.bodies.length
    const reply = fetch(`${patient.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey },
      body: JSON.stringify({
        model: 'claude-opus-5',
        max_tokens: 128_000,
        stream: true,
        messages: [{ role: 'user', content: 'x' }],
      }),
    }).then(response => response.text())
    await expect.poll(() => provider.bodies.length).toBe(before + 1)
    let text = ''
    await patient.database.sql.begin(async transaction => {
      // Locks the wallet, so that no hold can grow.
      await transaction.unsafe(`select 1 from wallet where account_id = ${account.accountId} for update`)
      open.resolve()
      await expect.poll(() => provider.served).toBe(true)
    })
    text = await reply
    expect(isSpent('messages', text)).toBe(false)
    const cost = BigInt(20 + events * TOKENS) * 6_500n
    expect(await patient.usage(account.accountId)).toMatchObject([{ status: 200, cost, charged: cost }])
    expect(await audit(patient.database.sql)).toMatchObject({ clean: true, openHolds: 0 })
  } finally {
    await patient.close()
  }
})

/** A hold of a stream with one choice and no input, at a price of 1,000 VND per million tokens; nothing is reserved for tools. */
function holdOf(
  options: Pick<StreamHoldOptions, 'ledger' | 'heldMicroVnd' | 'stream'> & { readonly reservedMicroVnd?: MicroVnd },
): StreamHold {
  return new StreamHold({
    reservedMicroVnd: microVnd(0n),
    ...options,
    callId: '',
    accountId: 1,
    priceVnd: 1_000,
    choices: 1,
    inputTokensEstimate: 0,
    countInputTokens: () => 0,
    reportedTokensMax: 1_000_000,
    limits: { holdExtendTokens: STEP, holdExtendWaitMs: 60_000 },
    spentError: () => new GatewayError('insufficient_balance'),
  })
}

test('money held for tool uses is requested in addition to tokens, and not spent on them', async () => {
  let output = 0
  const wanted: bigint[] = []
  const hold = holdOf({
    ledger: {
      async extend({ wantMicroVnd }) {
        wanted.push(wantMicroVnd)
        // The wallet can pay for only 500 more tokens.
        return { heldMicroVnd: microVnd(2_500_000n) }
      },
    },
    heldMicroVnd: microVnd(1_000_000n),
    reservedMicroVnd: microVnd(1_000_000n),
    stream: { usage: NO_USAGE, estimateOutputTokens: () => output, countOutputTokens: () => output },
  })
  const read = async (tokens: number) => {
    output += tokens
    hold.read(100_000)
    await new Promise(resolve => setImmediate(resolve))
    return hold.state
  }
  expect(await read(1_000)).toBe('go')
  expect(wanted).toEqual([1_000_000n + BigInt(1_000 + STEP) * 1_000n])
  // The hold covers 1,000 + 500 tokens; its other 1,000,000 µVND are reserved for tools.
  expect(await read(490)).toBe('go')
  expect(await read(20)).toBe('spent')
  hold.close()
})

test('tokens that the provider reports are checked at once, long before the hold’s bytes have been read', async () => {
  let usage = NO_USAGE
  const hold = holdOf({
    ledger: { extend: async () => ({ heldMicroVnd: microVnd(100_000_000n) }) },
    heldMicroVnd: microVnd(100_000_000n),
    stream: {
      get usage() {
        return usage
      },
      estimateOutputTokens: () => 0,
      countOutputTokens: () => 0,
    },
  })
  hold.read(100)
  expect(hold.state).toBe('go')
  expect(hold.bytesFree).toBeGreaterThan(200_000)
  usage = { ...NO_USAGE, state: 'running', usage: { ...NO_USAGE.usage, inputTokens: 100_000 } }
  hold.read(100)
  expect([hold.state, hold.bytesFree]).toEqual(['wait', 0])
  await new Promise(resolve => setImmediate(resolve))
  expect(hold.state).toBe('spent')
  hold.close()
})

test('a stream whose final usage is known ends normally, even if the wallet has less when its answer arrives', async () => {
  const answer = Promise.withResolvers<ExtendAnswer>()
  let output = 0
  let usage = NO_USAGE
  const hold = holdOf({
    ledger: { extend: () => answer.promise },
    heldMicroVnd: microVnd(1_000_000n),
    stream: {
      get usage() {
        return usage
      },
      estimateOutputTokens: () => output,
      countOutputTokens: () => output,
    },
  })
  // The hold asks ahead. Then the provider reports more reasoning than the hold and the wallet cover.
  output = 900
  hold.read(100_000)
  expect(hold.state).toBe('go')
  usage = { ...NO_USAGE, state: 'final', usage: { ...NO_USAGE.usage, inputTokens: 20, outputTokens: 9_000 } }
  answer.resolve({ heldMicroVnd: microVnd(1_500_000n) })
  await new Promise(resolve => setImmediate(resolve))
  expect(hold.state).toBe('go')
  hold.close()
})
