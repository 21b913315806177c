/** Chunks of a stream that arrive in one turn of the event loop are processed together. This must not change the result. */

import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import { NO_USAGE } from '../../src/conversation/usage.ts'
import { GatewayError } from '../../src/errors.ts'
import { MessagesRelay } from '../../src/formats/messages/relay.ts'
import { type ByteText, decodeText, NO_BYTES } from '../../src/lib/byte-text.ts'
import { Canceller } from '../../src/lib/cancellation.ts'
import { microVnd } from '../../src/lib/money.ts'
import type { ClientChannel } from '../../src/pipeline/call.ts'
import { Pinger } from '../../src/pipeline/pinger.ts'
import { relayStream, type StreamRelay } from '../../src/pipeline/relay-stream.ts'
import { StreamHold } from '../../src/pipeline/stream-hold.ts'
import { resultOf } from '../../src/pipeline/stream-result.ts'
import { UpstreamFault } from '../../src/upstream/fault.ts'
import { UpstreamReply } from '../../src/upstream/reply.ts'
import { MESSAGES_END, MESSAGES_START, textDelta } from '../support/chat.ts'

const EVENT_BYTES_MAX = 30_000
const START = MESSAGES_START.join('')
const END = MESSAGES_END.join('')

class TestClient implements ClientChannel {
  readonly gone = new Canceller()
  readonly firstByteMs = null
  failureEvent = null
  started = false
  full = false
  text = ''
  send(): void {}
  startStream(): void {
    this.started = true
  }
  write(events: ByteText): boolean {
    this.text += decodeText(events)
    return !this.full
  }
  onDrain(): void {}
  endStream(): void {}
  startBytes(): void {}
  writeBytes(): boolean {
    return true
  }
  fail(): void {}
}

function relay({ hold = null }: Partial<Pick<StreamRelay, 'hold'>> = {}) {
  const client = new TestClient()
  let paused = false
  const source = {
    pause: () => {
      paused = true
    },
    resume: () => {
      paused = false
    },
    abort: () => reply.finish(new UpstreamFault('aborted', 'the gateway ended the call')),
  }
  const reply = new UpstreamReply(source, 200, {})
  const stream = new MessagesRelay({ clientModel: 'upstream-name', countTokens: text => text.length })
  const settled: unknown[] = []
  const ended = relayStream({
    upstream: reply,
    client,
    stream,
    headers: {},
    room: null,
    hold,
    limits: {
      ...({} as Parameters<typeof relayStream>[0]['limits']),
      eventBytesMax: EVENT_BYTES_MAX,
      replyValuesMax: 100_000,
      pingAfterMs: 60_000,
    },
    pinger: new Pinger({ nowMs: () => performance.now(), everyMs: 60_000 }),
    ping: NO_BYTES,
    settle: async end => {
      settled.push(resultOf({ stream, end, countInputTokens: () => 3, reportedTokensMax: 1_000_000 }))
    },
  })
  return {
    client,
    reply,
    stream,
    ended,
    settled,
    isPaused: () => paused,
    receive: (text: string) => reply.receive(Buffer.from(text)),
  }
}

test('data after the end of a provider’s stream is discarded', async () => {
  const { reply, ended, receive } = relay()
  receive(START + END)
  expect(await ended).toBe('complete')
  const receiveLate = () => {
    const chunk = Buffer.alloc(1_000)
    reply.receive(chunk)
    return new WeakRef(chunk)
  }
  const late: WeakRef<Buffer>[] = []
  for (let index = 0; index < 20; index++) {
    late.push(receiveLate())
    await turn()
  }
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  expect(late.filter(chunk => chunk.deref() !== undefined)).toEqual([])
})

test('chunks that arrive in one turn of the event loop are read and written as one', async () => {
  const { client, stream, receive } = relay()
  receive(START)
  await turn()
  const skim = vi.spyOn(stream, 'skim')
  const write = vi.spyOn(client, 'write')
  for (let event = 0; event < 64; event++) receive(textDelta('Hà Nội'))
  await turn()
  expect(client.text).toBe(START + textDelta('Hà Nội').repeat(64))
  expect([skim.mock.calls.length, write.mock.calls.length]).toEqual([1, 1])
})

test('a provider is paused while a slow client cannot take its latest piece', async () => {
  const { client, isPaused, receive } = relay()
  receive(START)
  await turn()
  expect(isPaused()).toBe(false)
  client.full = true
  receive(textDelta('a'))
  expect(isPaused()).toBe(true)
})

test('a provider that sends more than fits into a turn of the event loop is paused until the next', async () => {
  const { client, ended, isPaused, receive } = relay()
  // Data of earlier tests counts in their turns only.
  await turn()
  let nowMs = 0
  const now = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 15))
  receive(START)
  expect(isPaused()).toBe(false)
  receive(textDelta('a'))
  expect(isPaused()).toBe(false)
  receive(textDelta('b'))
  expect(isPaused()).toBe(true)
  // What is on its way nevertheless is not lost.
  receive(textDelta('c'))
  await turn()
  await turn()
  expect(isPaused()).toBe(false)
  now.mockRestore()
  receive(END)
  expect(await ended).toBe('complete')
  expect(client.text).toBe(START + ['a', 'b', 'c'].map(textDelta).join('') + END)
})

test('events before an oversized one are delivered, even if they arrive in the same turn', async () => {
  const { client, ended, receive } = relay()
  receive(START)
  receive(textDelta('a'))
  receive(textDelta('b'.repeat(EVENT_BYTES_MAX)))
  await expect(ended).rejects.toMatchObject({ code: 'upstream_failed' })
  expect(client.text).toBe(START + textDelta('a'))
})

test('an end that has arrived counts, even if the client left before it was read', async () => {
  const { client, ended, settled, receive } = relay()
  receive(START)
  await turn()
  receive(textDelta('a') + END)
  client.gone.abort()
  expect(await ended).toBe('complete')
  expect(settled).toMatchObject([{ status: 200, used: { outputTokens: 25, estimated: false } }])
})

test('a client that reads does not pay for a stream that ran out of time while its hold was growing', async () => {
  const hold = { state: 'wait', bytesFree: 0, onChange() {}, passed() {}, close() {} } as unknown as StreamHold
  const unread = new UpstreamFault('unread', 'the reply was not read in time')
  for (const full of [false, true]) {
    const { client, reply, ended, settled, receive } = relay({ hold })
    receive(START)
    await turn()
    client.full = full
    const outcome = ended.catch((error: GatewayError) => error.code)
    reply.finish(unread)
    expect([await outcome, settled.length]).toEqual(full ? ['abandoned', 1] : ['upstream_failed', 0])
  }
})

test('data before a break is delivered, even if both arrive in the same turn', async () => {
  const { client, reply, ended, receive } = relay()
  receive(START)
  receive(textDelta('a'))
  reply.finish(new UpstreamFault('reset', 'the connection was reset'))
  await expect(ended).rejects.toMatchObject({ code: 'upstream_failed' })
  expect(client.text).toBe(START + textDelta('a'))
})

test.each([
  ['rarely, by what may be output in similar events', 'Hà', 0, 1],
  ['more often if there is more of it', 'Hà Nội '.repeat(10), 5, 9],
])('the hold is checked %s, and no event is parsed for it', async (_, text, checksMin, checksMax) => {
  let checks = 0
  const hold = new StreamHold({
    ledger: { extend: async () => null },
    callId: '',
    accountId: 1,
    priceVnd: 1,
    heldMicroVnd: microVnd(1_024n),
    reservedMicroVnd: microVnd(0n),
    choices: 1,
    inputTokensEstimate: 0,
    countInputTokens: () => 0,
    reportedTokensMax: 1_000_000,
    stream: { usage: NO_USAGE, estimateOutputTokens: () => checks++, countOutputTokens: () => 0 },
    limits: { holdExtendTokens: 4_096, holdExtendWaitMs: 60_000 },
    spentError: () => new GatewayError('insufficient_balance'),
  })
  const { client, stream, ended, receive } = relay({ hold })
  const push = stream.push.bind(stream)
  let parsed = 0
  stream.push = event => {
    parsed++
    return push(event)
  }
  const deltas = textDelta(text).repeat(100)
  receive(START + deltas + END)
  expect(await ended).toBe('complete')
  expect(client.text).toBe(START + deltas + END)
  expect(checks).toBeGreaterThanOrEqual(checksMin)
  expect(checks).toBeLessThanOrEqual(checksMax)
  expect(parsed).toBe(MESSAGES_START.length + MESSAGES_END.length)
})
