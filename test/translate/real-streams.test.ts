/** Streams as providers send them, and broken ones: each client gets the same of them, however they are framed and cut. */

import { describe, expect, test } from 'vitest'
import type { ReplyStream } from '../../src/conversation/reply-stream.ts'
import { StreamFeed } from '../../src/conversation/stream-feed.ts'
import { GatewayError } from '../../src/errors.ts'
import { STREAMS } from './fixtures/streams.ts'
import { cutsAtEachByte, FRAMINGS } from './framings.ts'
import { readEvents, strictCompletion, strictMessage } from './grammar.ts'
import { heard } from './heard.ts'
import { ROADS, type Wire } from './roads.ts'

interface Told {
  readonly sse: string
  readonly failure: string | null
  readonly outputTokens: number
  readonly usage: unknown
}

/** Ids are new with every stream. */
const FRESH_ID = /(chatcmpl-|msg_|resp_|rs_|fc_|ctc_|toolu_|call_)[0-9a-f-]{32,36}/g

/** What the client gets of an upstream's chunks, as the relay would drive them. */
function tell(stream: ReplyStream, chunks: readonly Buffer[]): Told {
  const written: Buffer[] = []
  const write = (text: string, encoding: 'latin1' | 'utf8') => written.push(Buffer.from(text, encoding))
  const feed = new StreamFeed(stream, write, { eventBytesMax: 100_000 })
  let failure: string | null = null
  try {
    for (const chunk of chunks) if (!stream.finished) feed.push(chunk)
    if (!stream.finished) feed.end()
    write(stream.end(), stream.encoding)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    failure = `${error.code}: ${error.message}`
  }
  const { usage } = stream
  const sse = Buffer.concat(written).toString().replace(FRESH_ID, '$1')
  return { sse, failure, outputTokens: stream.countOutputTokens(), usage }
}

/** What a client reads, without what framing may change: where events and lines end, and comments. */
function meaning(told: Told): unknown {
  const { sse, ...rest } = told
  return { ...rest, isMarked: /^data: ?\[DONE\]/m.test(sse), events: readEvents(sse) }
}

/** Fails unless each run of chunks means what the first means. Runs that give the same bytes are compared once. */
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

/** Converted streams keep every rule of their format; what passes through is as good as its provider. */
const STRICT: Readonly<Partial<Record<Wire, (sse: string) => unknown>>> = {
  messages: strictMessage,
  chat: strictCompletion,
}

const roads = STREAMS.flatMap(stream =>
  Object.entries(ROADS[stream.wire]).map(([client, open]) => [stream, client as Wire, open] as const),
)
const named = roads.map(([stream, client, open]) => [stream.name, client, { stream, open }] as const)

describe.each(named)('%s, for a client of %s', (_name, client, { stream, open }) => {
  const { events, says } = stream
  const asItCame = FRAMINGS.get('as it came')!

  test('says what the provider said', () => {
    const told = tell(open(), asItCame(events))
    if (says instanceof RegExp) expect(told.failure).toMatch(says)
    else expect([told.failure, heard(client, told.sse)]).toEqual([null, says])
    if (told.failure === null && client !== stream.wire) STRICT[client]?.(told.sse)
  })

  test('says it in every framing', () => {
    expectSame(
      open,
      [...FRAMINGS].map(([name, chunks]) => [name, chunks(events)] as const),
    )
  })

  test.each([
    ['LF', '\n'],
    ['CR and LF', '\r\n'],
  ] as const)('says it wherever it is cut, lines ending with %s', (_ending, lineEnd) => {
    const runs = [...cutsAtEachByte(events, lineEnd)].map((chunks, run) => [`cut from ${run} on`, chunks] as const)
    expectSame(open, [['as it came', asItCame(events)], ...runs])
  })
})
