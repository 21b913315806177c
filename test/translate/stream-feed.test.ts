/**
 * The fast path of streams, which copies text from events without parsing them, gives the same output as parsing every event.
 */

import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { ReplyStream } from '../../src/conversation/reply-stream.ts'
import { type ReadLimit, StreamFeed } from '../../src/conversation/stream-feed.ts'
import { type ByteText, characters, NO_BYTES } from '../../src/lib/byte-text.ts'
import { type SseEvent, SseReader } from '../../src/lib/sse.ts'
import { callPieces, chatCalls, messagesCalls, responsesCalls } from './call-bytes.ts'
import { openConversion, WIRES, type Wire } from './conversions.ts'
import { type ContentPart, chatBytes, escapes, messagesBytes, pieces, responsesBytes } from './stream-bytes.ts'

const LIMIT = { eventBytesMax: 1_000_000, replyValuesMax: 100_000 }

interface Told {
  readonly bytes: string
  readonly output: number
  readonly usage: unknown
}

/** Allows as many bytes at a time as `places` say, or any number if there are none. */
function limitOf(places: readonly number[]): ReadLimit {
  let free = Number.POSITIVE_INFINITY
  let turn = 0
  const passed = (bytes: number) => {
    free -= bytes
    if (places.length > 0 && (bytes === 0 || free <= 0)) free = 1 + ((places[turn++ % places.length] as number) % 600)
  }
  passed(0)
  return {
    get bytesFree() {
      return free
    },
    read: passed,
    skimmed: passed,
  }
}

/**
 * What the client gets, errors included, if the bytes arrive split at `places`, are read within a limit, and the fast path is
 * used where possible. `skimmed` counts the uses of the fast path.
 */
function throughFeed(stream: ReplyStream, bytes: Buffer, places: readonly number[]): Told & { skimmed: number } {
  let skimmed = 0
  let told = ''
  const skim = stream.skim?.bind(stream)
  stream.skim = (all, at, outputBytesMax) => {
    const text = skim?.(all, at, outputBytesMax) ?? NO_BYTES
    if (text.length > 0) skimmed++
    return text
  }
  const limit = limitOf(places)
  const write = (events: ByteText) => {
    told += characters(events)
  }
  const feed = new StreamFeed(stream, write, LIMIT)
  const edges = [...new Set([0, ...places.map(place => place % bytes.length), bytes.length])].sort((a, b) => a - b)
  try {
    for (const [index, edge] of edges.slice(1).entries()) {
      const chunk = bytes.subarray(edges[index], edge)
      const read = feed.push(chunk, limit)
      if (!stream.finished) expect(read).toBe(chunk.length)
    }
    if (!stream.finished) feed.end()
    write(stream.end())
  } catch (error) {
    told += `\nfailed: ${(error as Error).message}`
  }
  return { bytes: told, output: stream.countOutputTokens(), usage: stream.usage, skimmed }
}

/** What the client gets when every event is parsed in full. */
function throughReader(stream: ReplyStream, bytes: Buffer): Told {
  const reader = new SseReader(LIMIT)
  let told = ''
  const push = (events: readonly SseEvent[]) => {
    for (const event of events) if (!stream.finished) told += characters(stream.push(event))
  }
  try {
    push(reader.push(bytes))
    push(reader.end())
    told += characters(stream.end())
  } catch (error) {
    told += `\nfailed: ${(error as Error).message}`
  }
  return { bytes: told, output: stream.countOutputTokens(), usage: stream.usage }
}

/** The client's output, normalised so that differences in ids and character escaping do not matter. */
function normalised(told: Told): unknown {
  const events = Buffer.from(told.bytes, 'latin1')
    .toString('utf8')
    .replace(/(chatcmpl-|msg_|resp_|rs_|fc_)[0-9a-z-]+/g, '$1')
    .split('\n\n')
    .map(event =>
      event.replace(/(?<=^|\n)data: (\{.*\})$/s, (_, json: string) => `data: ${JSON.stringify(JSON.parse(json))}`),
    )
  return { ...told, bytes: events }
}

/** Fails unless both paths give the same bytes or, if the upstream escapes more characters than it has to, the same content. */
function expectSame(open: () => ReplyStream, bytes: Buffer, cuts: readonly number[], escaped = 'none'): void {
  const { skimmed, ...told } = throughFeed(open(), bytes, cuts)
  const parsed = throughReader(open(), bytes)
  if (escaped === 'none') expect(told).toEqual(parsed)
  else expect(normalised(told)).toEqual(normalised(parsed))
}

const places = fc.array(fc.nat(20_000), { maxLength: 30 })
/**
 * The upstream's line ends: mostly LF, sometimes CR LF. Streams that need no conversion only get LF, because the gateway may
 * leave out the very last LF of CR LF, so the two paths could differ.
 */
const lineEndsOf = (upstream: Wire, client: Wire) =>
  upstream === client ? fc.constant('\n') : fc.constantFrom('\n', '\n', '\n', '\r\n')
const withEnds = (bytes: Buffer, end: string) =>
  end === '\n' ? bytes : Buffer.from(bytes.toString('latin1').replaceAll('\n', end), 'latin1')

describe.each(WIRES)('a chat stream to a client of %s', client => {
  const open = () => openConversion('chat', client)
  const ends = lineEndsOf('chat', client)

  test('gives the same output on the fast path', () => {
    fc.assert(
      fc.property(pieces, escapes, fc.boolean(), places, ends, (value, escaped, padding, cuts, end) => {
        expectSame(open, withEnds(chatBytes(value, escaped, padding), end), cuts, escaped)
      }),
      { numRuns: 300 },
    )
  })

  test('gives the same output if the kind of the pieces keeps changing', () => {
    const changing = Array.from(
      { length: 40 },
      (_, index): ContentPart => [index % 2 ? 'text' : 'reasoning', `${index} `],
    )
    expectSame(open, chatBytes(changing, 'none', false), [])
  })

  test.each([0, 1, 40])('takes the fast path for pieces of one kind, cut %i bytes into each event', offset => {
    const bytes = chatBytes(
      Array.from({ length: 20 }, (): ContentPart => ['text', 'Hà "Nội"\n']),
      'none',
      true,
    )
    const cuts = [...bytes.keys()].filter(at => bytes.toString('latin1', at - 2, at) === '\n\n')
    const { skimmed } = throughFeed(
      open(),
      bytes,
      cuts.map(at => at + offset),
    )
    expect(skimmed).toBe(19)
  })
})

describe.each(WIRES)('a messages stream to a client of %s', client => {
  const open = () => openConversion('messages', client)
  const ends = lineEndsOf('messages', client)

  test('gives the same output on the fast path', () => {
    fc.assert(
      fc.property(pieces, escapes, places, ends, (value, escaped, cuts, end) => {
        expectSame(open, withEnds(messagesBytes(value, escaped), end), cuts, escaped)
      }),
      { numRuns: 300 },
    )
  })

  test('takes the fast path for pieces of one kind', () => {
    const bytes = messagesBytes(
      Array.from({ length: 20 }, (): ContentPart => ['text', 'Hà "Nội"\n']),
      'none',
    )
    const cuts = [...bytes.keys()].filter(at => bytes.toString('latin1', at - 2, at) === '\n\n')
    expect(throughFeed(open(), bytes, cuts).skimmed).toBeGreaterThanOrEqual(19)
  })
})

describe.each(WIRES)('a responses stream to a client of %s', client => {
  const open = () => openConversion('responses', client)
  const ends = lineEndsOf('responses', client)

  test('gives the same output on the fast path', () => {
    fc.assert(
      fc.property(pieces, escapes, fc.boolean(), places, ends, (value, escaped, padding, cuts, end) => {
        expectSame(open, withEnds(responsesBytes(value, escaped, padding), end), cuts, escaped)
      }),
      { numRuns: 300 },
    )
  })

  test.each(['text', 'reasoning'] as const)('takes the fast path for pieces of %s, although each is numbered', kind => {
    const bytes = responsesBytes(
      Array.from({ length: 20 }, (): ContentPart => [kind, 'Hà "Nội"\n']),
      'none',
      true,
    )
    const cuts = [...bytes.keys()].filter(at => bytes.toString('latin1', at - 2, at) === '\n\n')
    expect(throughFeed(open(), bytes, cuts).skimmed).toBeGreaterThanOrEqual(19)
  })
})

describe.each(WIRES)('a run of events of %s', upstream => {
  const bytesOf = { chat: chatBytes, messages: messagesBytes, responses: responsesBytes }[upstream]

  test.each(WIRES)('has no more output than it says and than it may have, for a client of %s', client => {
    fc.assert(
      fc.property(pieces, escapes, fc.boolean(), places, (value, escaped, padding, cuts) => {
        const stream = openConversion(upstream, client)
        const skim = stream.skim?.bind(stream)
        const wrong: unknown[] = []
        stream.skim = (all, at, outputBytesMax) => {
          const before = stream.countOutputTokens()
          const text = skim?.(all, at, outputBytesMax) ?? NO_BYTES
          const run = stream.skimmedTo === at ? 0 : (stream.skimmedBytes as number)
          const output = stream.countOutputTokens() - before
          if (!(output <= run && run <= outputBytesMax)) wrong.push({ output, run, outputBytesMax })
          return text
        }
        throughFeed(stream, bytesOf(value, escaped, padding), cuts)
        expect(wrong).toEqual([])
      }),
      { numRuns: 200 },
    )
  })
})

test('the output of a messages stream is counted completely, whatever its pieces look like', () => {
  fc.assert(
    fc.property(pieces, escapes, fc.constantFrom(1, 400), places, (value, escaped, times, cuts) => {
      const parts = Array.from({ length: value.length === 0 ? 0 : times }, () => value).flat()
      const opened = parts.findIndex(([kind]) => kind !== 'ping' && kind !== 'refusal' && kind !== 'odd')
      const counted = parts.filter(
        ([kind], index) => kind !== 'ping' && kind !== 'refusal' && opened >= 0 && index >= opened,
      )
      const { output } = throughFeed(openConversion('messages', 'messages'), messagesBytes(parts, escaped), cuts)
      expect(output).toBe(counted.reduce((sum, [, text]) => sum + text.length, 0))
    }),
  )
})

describe('an event that resembles the previous ones but differs', () => {
  const GOOD = chatBytes(
    Array.from({ length: 4 }, (): ContentPart => ['text', 'word']),
    'none',
    false,
  ).toString()
  const NEXT = '"content":"word"'

  test.each([
    ['a finish reason', '"finish_reason":null', '"finish_reason":"length"'],
    ['an escape that JSON does not know', NEXT, '"content":"\\x"'],
    ['a broken escape', NEXT, '"content":"\\u12g4"'],
    ['a control character', NEXT, '"content":"a\tb"'],
    ['a string that does not end', NEXT, '"content":"word'],
    ['an extra member', NEXT, '"content":"word","refusal":"no"'],
    ['usage', '"usage":null', '"usage":{"prompt_tokens":9,"completion_tokens":9}'],
    ['an error', '"usage":null', '"usage":null,"error":{"message":"overloaded"}'],
    ['another model', '"upstream"', '"other"'],
    ['nothing', NEXT, '"content":""'],
    ['invalid UTF-8', NEXT, '"content":"\xff"'],
  ])('%s', (_, from, to) => {
    // Changes the third event, because the fast path learns from the first two events what the next ones look like.
    const at = GOOD.indexOf(from, GOOD.split(NEXT).slice(0, 3).join(NEXT).length)
    const bytes = Buffer.from(GOOD.slice(0, at) + to + GOOD.slice(at + from.length), 'latin1')
    for (const client of WIRES) {
      const open = () => openConversion('chat', client)
      const { skimmed, ...told } = throughFeed(open(), bytes, [])
      expect(told.bytes.replace(/msg_[0-9a-z-]+/g, '')).toBe(
        throughReader(open(), bytes).bytes.replace(/msg_[0-9a-z-]+/g, ''),
      )
    }
  })

  const NUMBERED = responsesBytes(
    Array.from({ length: 4 }, (): ContentPart => ['text', 'word']),
    'none',
    false,
  ).toString()

  test.each([
    ['no number', '"sequence_number":5', '"sequence_number":'],
    ['a string for a number', '"sequence_number":5', '"sequence_number":"5"'],
    ['a number that is too long', '"sequence_number":5', `"sequence_number":${'9'.repeat(20)}`],
    ['a number that continues', '"sequence_number":5', '"sequence_number":5e1'],
    ['another item', '"item_id":"i0"', '"item_id":"i1"'],
    ['another index', '"content_index":0', '"content_index":1'],
  ])('%s, in a responses stream', (_, from, to) => {
    const at = NUMBERED.indexOf(from, NUMBERED.indexOf('"sequence_number":4'))
    expect(at).toBeGreaterThan(0)
    const bytes = Buffer.from(NUMBERED.slice(0, at) + to + NUMBERED.slice(at + from.length))
    const open = () => openConversion('responses', 'messages')
    const { skimmed, ...told } = throughFeed(open(), bytes, [])
    expect(normalised(told)).toEqual(normalised(throughReader(open(), bytes)))
  })
})

describe.each([
  ['chat', chatCalls],
  ['messages', messagesCalls],
  ['responses', responsesCalls],
] as const)('calls in a stream of %s', (upstream, bytesOf) => {
  test.each(WIRES.filter(client => client !== upstream))(
    'give %s clients the same arguments on the fast path, however they interleave',
    client => {
      fc.assert(
        fc.property(callPieces, places, (calls, cuts) => {
          expectSame(() => openConversion(upstream, client), bytesOf(calls), cuts)
        }),
        { numRuns: 300 },
      )
    },
  )

  test.each(WIRES.filter(client => client !== upstream))(
    'take the fast path to %s clients after their first events',
    client => {
      const one = { call: 0, hasIndex: true, isNamed: false, isLate: false }
      const calls = ['', '{"text":"', ...Array.from({ length: 20 }, () => 'Hà \\"Nội\\"'), '"}']
      const bytes = bytesOf(calls.map(fragment => ({ ...one, fragment })))
      const cuts = [...bytes.keys()].filter(at => bytes.toString('latin1', at - 2, at) === '\n\n')
      expect(throughFeed(openConversion(upstream, client), bytes, cuts).skimmed).toBeGreaterThanOrEqual(20)
    },
  )
})

test('blank lines by the thousand are read in few pieces, and change nothing', () => {
  const pushed = vi.spyOn(SseReader.prototype, 'push')
  const [from, to] = [WIRES[0] as Wire, WIRES[1] as Wire]
  const stream = openConversion(from, to)
  const feed = new StreamFeed(stream, () => {}, LIMIT)
  for (let chunk = 0; chunk < 10; chunk++) feed.push(Buffer.from('\n'.repeat(50_000)))
  expect(pushed.mock.calls.length).toBeLessThanOrEqual(10)
  expect(feed.pendingBytes).toBe(500_000)
  pushed.mockRestore()
})

test.each(WIRES)('thousands of comments in one piece are read as one, for a client of %s', client => {
  const bytes = chatBytes([['text', 'a']], 'none', false)
  const events = bytes.toString('latin1')
  const border = events.indexOf('\n\n') + 2
  const comments = ':\n\n'.repeat(10_000)
  const open = () => openConversion('chat', client)
  const stream = open()
  const push = vi.spyOn(stream, 'push')
  const flooded = Buffer.from(events.slice(0, border) + comments + events.slice(border), 'latin1')
  throughFeed(stream, flooded, [])
  expect(push.mock.calls.length).toBeLessThan(20)
  expectSame(open, flooded, [border + 1_000, border + 2_001])
})
