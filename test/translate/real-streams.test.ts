/** Recorded provider streams, and broken ones: each client gets the same content, however the streams are framed and split. */

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ReplyStream } from '../../src/conversation/reply-stream.ts'
import { StreamFeed } from '../../src/conversation/stream-feed.ts'
import { GatewayError } from '../../src/errors.ts'
import { type ByteText, toBuffer } from '../../src/lib/byte-text.ts'
import { strictResponse } from '../formats/responses-grammar.ts'
import { convertWhole, openConversion, WIRES, type Wire } from './conversions.ts'
import { CHAT_STREAMS } from './fixtures/chat-streams.ts'
import { HOSTILE_RESPONSES } from './fixtures/hostile-responses.ts'
import { MESSAGES_STREAMS } from './fixtures/messages-streams.ts'
import { STREAMS, WHOLE_REPLIES } from './fixtures/streams.ts'
import { cutsAtEachByte, FRAMINGS, type FramedEvent } from './framings.ts'
import { readEvents, strictCompletion, strictMessage } from './grammar.ts'
import { type ReceivedReply, received, receivedWhole } from './received.ts'
import { chatEvents, messagesEvents } from './support.ts'

/** Stops the clock, because chunks that the gateway adds contain the time. */
beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterAll(() => void vi.useRealTimers())

interface Told {
  readonly sse: string
  readonly failure: string | null
  readonly outputTokens: number
  readonly usage: unknown
}

/** Matches the ids that the gateway generates, which differ in every stream. */
const FRESH_ID = /(chatcmpl-|msg_|resp_|rs_|fc_|ctc_|toolu_|call_)[0-9a-f-]{32,36}/g

/** Feeds an upstream's chunks to a stream as the relay does, and returns what the client gets. */
function tell(stream: ReplyStream, chunks: readonly Buffer[]): Told {
  const written: Buffer[] = []
  const write = (events: ByteText) => written.push(toBuffer(events))
  const feed = new StreamFeed(stream, write, { eventBytesMax: 100_000, replyValuesMax: 100_000 })
  let failure: string | null = null
  try {
    for (const chunk of chunks) if (!stream.finished) feed.push(chunk)
    if (!stream.finished) feed.end()
    write(stream.end())
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    failure = `${error.code}: ${error.message}`
  }
  const { usage } = stream
  const sse = Buffer.concat(written).toString().replace(FRESH_ID, '$1')
  return { sse, failure, outputTokens: stream.countOutputTokens(), usage }
}

/** Returns what a client reads, leaving out what may differ between framings: event and line boundaries, and comments. */
function meaning(told: Told): unknown {
  const { sse, ...rest } = told
  return { ...rest, isMarked: /^data: ?\[DONE\]/m.test(sse), events: readEvents(sse) }
}

/** Fails unless the client reads the same content however the stream is split into chunks. Compares each output only once. */
function expectSame(open: () => ReplyStream, runs: Iterable<readonly [string, readonly Buffer[]]>): void {
  const seen = new Set<string>()
  let expected: unknown
  for (const [name, chunks] of runs) {
    const told = tell(open(), chunks)
    const key = JSON.stringify(told)
    if (seen.has(key)) continue
    if (seen.size === 0) expected = meaning(told)
    else expect(meaning(told), name).toEqual(expected)
    seen.add(key)
  }
}

/** The strict readers are for converted streams only; a stream that passes through may be as sloppy as its provider. */
const STRICT: Readonly<Record<Wire, (sse: string) => unknown>> = {
  messages: strictMessage,
  chat: strictCompletion,
  responses: strictResponse,
}

/** What the client reads. Only the responses format has free-form calls; in others, the text becomes the argument `input`. */
function asReceivedBy(client: Wire, says: ReceivedReply): ReceivedReply {
  if (client === 'responses') return says
  return { ...says, calls: says.calls.map(([name, input]) => [name, typeof input === 'string' ? { input } : input]) }
}

const AS_IT_CAME = FRAMINGS.get('as it came')!

function expectFramingsSame(open: () => ReplyStream, events: readonly FramedEvent[]): void {
  expectSame(
    open,
    [...FRAMINGS].map(([name, chunks]) => [name, chunks(events)] as const),
  )
}

describe.each(STREAMS.map(stream => [stream.name, stream] as const))('%s', (_name, { wire, events, says }) => {
  describe.each(WIRES)('for a client of %s', client => {
    const open = () => openConversion(wire, client)

    test('gets what the provider sent', () => {
      const told = tell(open(), AS_IT_CAME(events))
      if (says instanceof RegExp) return expect(told.failure).toMatch(says)
      expect([told.failure, received(client, told.sse)]).toEqual([null, asReceivedBy(client, says)])
      if (client !== wire) STRICT[client](told.sse)
    })

    test('gets it in every framing', () => expectFramingsSame(open, events))

    test.each([
      ['LF', '\n'],
      ['CR and LF', '\r\n'],
    ] as const)('gets it wherever it is split, with lines ending in %s', (_ending, lineEnd) => {
      const runs = [...cutsAtEachByte(events, lineEnd)].map((chunks, run) => [`cut from ${run} on`, chunks] as const)
      expectSame(open, [['as it came', AS_IT_CAME(events)], ...runs])
    })
  })
})

describe.each(['messages', 'chat'] as const)('a responses stream from an odd host, for a client of %s', client => {
  const open = () => openConversion('responses', client)

  test.each(HOSTILE_RESPONSES.map(row => [row.name, row] as const))('%s', (_name, { events, says }) => {
    const told = tell(open(), AS_IT_CAME(events))
    if (says instanceof RegExp) expect(told.failure).toMatch(says)
    else {
      const { tokens, ...rest } = received(client, told.sse)
      expect([told.failure, rest]).toEqual([null, says])
      STRICT[client](told.sse)
    }
    expectFramingsSame(open, events)
  })
})

/** Odd streams. Each format's own tests check how they are read; here, only the framing is tested. */
const STRANGE: readonly (readonly [Wire, string, readonly FramedEvent[]])[] = [
  ...CHAT_STREAMS.map(([name, chunks]) => ['chat', name, chatEvents(...chunks)] as const),
  ...MESSAGES_STREAMS.map(
    ([name, events]) => ['messages', name, messagesEvents(...(events as { type: string }[]))] as const,
  ),
]

describe.each(STRANGE)('a %s stream from an odd host: %s', (wire, _name, events) => {
  test.each(WIRES)('is the same in every framing, for a client of %s', client => {
    expectFramingsSame(() => openConversion(wire, client), events)
  })
})

describe.each(WHOLE_REPLIES.map(reply => [reply.name, reply] as const))(
  '%s, non-streamed',
  (_name, { wire, reply, says }) => {
    test.each(WIRES.filter(client => client !== wire))('gives a client of %s what the provider sent', client => {
      expect(receivedWhole(client, convertWhole(wire, client, reply))).toEqual(asReceivedBy(client, says))
    })
  },
)
