/** The fast path of streams gives what parsing every event gives. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ReplyStream } from '../../src/conversation/reply-stream.ts'
import { StreamFeed } from '../../src/conversation/stream-feed.ts'
import { type ByteText, characters, NO_BYTES } from '../../src/lib/byte-text.ts'
import { type SseEvent, SseReader } from '../../src/lib/sse.ts'
import { openRoad, WIRES } from './roads.ts'
import { type ContentPart, chatBytes, escapes, messagesBytes, pieces, responsesBytes } from './stream-bytes.ts'

const LIMIT = { eventBytesMax: 1_000_000 }

interface Told {
  readonly bytes: string
  readonly output: number
  readonly usage: unknown
}

/** What the client gets for the stream, split at these places, including an error. */
function throughFeed(stream: ReplyStream, bytes: Buffer, places: readonly number[]): Told & { skimmed: number } {
  let skimmed = 0
  let told = ''
  const skim = stream.skim?.bind(stream)
  stream.skim = (all, at) => {
    const text = skim?.(all, at) ?? NO_BYTES
    if (text.length > 0) skimmed++
    return text
  }
  const write = (events: ByteText) => {
    told += characters(events)
  }
  const feed = new StreamFeed(stream, write, LIMIT)
  const edges = [...new Set([0, ...places.map(place => place % bytes.length), bytes.length])].sort((a, b) => a - b)
  try {
    for (const [index, edge] of edges.slice(1).entries()) feed.push(bytes.subarray(edges[index], edge))
    if (!stream.finished) feed.end()
    write(stream.end())
  } catch (error) {
    told += `\nfailed: ${(error as Error).message}`
  }
  return { bytes: told, output: stream.countOutputTokens(), usage: stream.usage, skimmed }
}

/** Full parsing, event by event. */
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

/** Events without what differs between streams: ids, and whether a character is escaped. */
function said(told: Told): unknown {
  const events = Buffer.from(told.bytes, 'latin1')
    .toString('utf8')
    .replace(/(chatcmpl-|msg_|resp_|rs_|fc_)[0-9a-z-]+/g, '$1')
    .split('\n\n')
    .map(event =>
      event.replace(/(?<=^|\n)data: (\{.*\})$/s, (_, json: string) => `data: ${JSON.stringify(JSON.parse(json))}`),
    )
  return { ...told, bytes: events }
}

const places = fc.array(fc.nat(20_000), { maxLength: 30 })

describe.each(WIRES)('a chat stream to a client of %s', client => {
  const open = () => openRoad('chat', client)

  test('gives the same output on the fast path', () => {
    fc.assert(
      fc.property(pieces, escapes, fc.boolean(), places, (value, escaped, padding, cuts) => {
        const bytes = chatBytes(value, escaped, padding)
        const { skimmed, ...told } = throughFeed(open(), bytes, cuts)
        expect(said(told)).toEqual(said(throughReader(open(), bytes)))
      }),
      { numRuns: 300 },
    )
  })

  test('takes the fast path for pieces of one kind', () => {
    const bytes = chatBytes(
      Array.from({ length: 20 }, (): ContentPart => ['text', 'Hà "Nội"\n']),
      'none',
      true,
    )
    const cuts = [...bytes.keys()].filter(at => bytes.toString('latin1', at - 2, at) === '\n\n')
    expect(throughFeed(open(), bytes, cuts).skimmed).toBe(19)
  })
})

describe.each(WIRES)('a messages stream to a client of %s', client => {
  const open = () => openRoad('messages', client)

  test('gives the same output on the fast path', () => {
    fc.assert(
      fc.property(pieces, escapes, places, (value, escaped, cuts) => {
        const bytes = messagesBytes(value, escaped)
        const { skimmed, ...told } = throughFeed(open(), bytes, cuts)
        expect(said(told)).toEqual(said(throughReader(open(), bytes)))
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
  const open = () => openRoad('responses', client)

  test('gives the same output on the fast path', () => {
    fc.assert(
      fc.property(pieces, escapes, fc.boolean(), places, (value, escaped, padding, cuts) => {
        const bytes = responsesBytes(value, escaped, padding)
        const { skimmed, ...told } = throughFeed(open(), bytes, cuts)
        expect(said(told)).toEqual(said(throughReader(open(), bytes)))
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

test('the output of a messages stream is counted completely, whatever its pieces look like', () => {
  fc.assert(
    fc.property(pieces, escapes, fc.constantFrom(1, 400), places, (value, escaped, times, cuts) => {
      const said = Array.from({ length: value.length === 0 ? 0 : times }, () => value).flat()
      const opened = said.findIndex(([kind]) => kind !== 'ping' && kind !== 'refusal' && kind !== 'odd')
      const counted = said.filter(
        ([kind], index) => kind !== 'ping' && kind !== 'refusal' && opened >= 0 && index >= opened,
      )
      const { output } = throughFeed(openRoad('messages', 'messages'), messagesBytes(said, escaped), cuts)
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
    // In the third piece, when the template is known.
    const at = GOOD.indexOf(from, GOOD.split(NEXT).slice(0, 3).join(NEXT).length)
    const bytes = Buffer.from(GOOD.slice(0, at) + to + GOOD.slice(at + from.length), 'latin1')
    for (const client of WIRES) {
      const open = () => openRoad('chat', client)
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
    ['a number that goes on', '"sequence_number":5', '"sequence_number":5e1'],
    ['another item', '"item_id":"i0"', '"item_id":"i1"'],
    ['another index', '"content_index":0', '"content_index":1'],
  ])('%s, in a responses stream', (_, from, to) => {
    const at = NUMBERED.indexOf(from, NUMBERED.indexOf('"sequence_number":4'))
    expect(at).toBeGreaterThan(0)
    const bytes = Buffer.from(NUMBERED.slice(0, at) + to + NUMBERED.slice(at + from.length))
    const open = () => openRoad('responses', 'messages')
    const { skimmed, ...told } = throughFeed(open(), bytes, [])
    expect(said(told)).toEqual(said(throughReader(open(), bytes)))
  })
})

/** A piece of a call's arguments; calls interleave, go on after their end, and are named again. */
interface CallPiece {
  readonly call: number
  readonly fragment: string
  readonly hasIndex: boolean
  readonly isNamed: boolean
}

const callPieces = fc.array(
  fc.record({
    call: fc.nat(2),
    fragment: fc.constantFrom('{', '{}', '"a":', '"é\\ud83d', '\\ude00"', '1', ',', '}', '{"a":{}}', ' ', '\n'),
    hasIndex: fc.boolean(),
    isNamed: fc.boolean(),
  }),
  { minLength: 1, maxLength: 30 },
)

function chatCalls(said: readonly CallPiece[]): Buffer {
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const pieceOf = ({ call, fragment, hasIndex, isNamed }: CallPiece) => ({
    ...(hasIndex && { index: call }),
    ...(isNamed && { id: `call_${call}`, type: 'function' }),
    function: { ...(isNamed && { name: `tool_${call}` }), arguments: fragment },
  })
  const begun = new Set<number>()
  const events = said.map(piece => {
    const begins = !begun.has(piece.call)
    begun.add(piece.call)
    return chunk({ tool_calls: [pieceOf(begins ? { ...piece, hasIndex: true, isNamed: true } : piece)] })
  })
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const last = [chunk({}, 'tool_calls'), `data: ${JSON.stringify({ id: 'c', choices: [], usage })}\n\n`]
  return Buffer.from([...events, ...last, 'data: [DONE]\n\n'].join(''))
}

function messagesCalls(said: readonly CallPiece[]): Buffer {
  const event = (data: { readonly type: string; readonly [member: string]: unknown }) =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const begin = (index: number) => {
    const block = { type: 'tool_use', id: `toolu_${index}`, name: `tool_${index}`, input: {} }
    return event({ type: 'content_block_start', index, content_block: block })
  }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage: { input_tokens: 1 },
  }
  const begun = new Set<number>()
  return Buffer.from(
    [
      event({ type: 'message_start', message }),
      ...said.map(({ call, fragment }) => {
        const begins = !begun.has(call)
        begun.add(call)
        const delta = { type: 'input_json_delta', partial_json: fragment }
        return (begins ? begin(call) : '') + event({ type: 'content_block_delta', index: call, delta })
      }),
      ...[...begun].map(index => event({ type: 'content_block_stop', index })),
      event({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } }),
      event({ type: 'message_stop' }),
    ].join(''),
  )
}

/** Named pieces come after an event that reports the arguments so far as complete. */
function responsesCalls(said: readonly CallPiece[]): Buffer {
  let number = 0
  const event = (type: string, members: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...members })}\n\n`
  const whole = new Map<number, string>()
  const item = (call: number, isDone: boolean) => ({
    output_index: call,
    item: {
      id: `fc_${call}`,
      type: 'function_call',
      call_id: `call_${call}`,
      name: `tool_${call}`,
      arguments: isDone ? whole.get(call) : '',
    },
  })
  const events = said.flatMap(({ call, fragment, hasIndex, isNamed }) => {
    const known = whole.get(call)
    const at = { item_id: `fc_${call}`, ...(hasIndex && { output_index: call }) }
    whole.set(call, (known ?? '') + fragment)
    return [
      ...(known === undefined ? [event('response.output_item.added', item(call, false))] : []),
      ...(known !== undefined && isNamed
        ? [event('response.function_call_arguments.done', { ...at, arguments: known })]
        : []),
      event('response.function_call_arguments.delta', { ...at, delta: fragment, obfuscation: 'x'.repeat(number % 5) }),
    ]
  })
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const done = [...whole.keys()].map(call => event('response.output_item.done', item(call, true)))
  const response = { id: 'resp_1', status: 'completed', output: [], usage }
  return Buffer.from([...events, ...done, event('response.completed', { response })].join(''))
}

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
          const bytes = bytesOf(calls)
          const { skimmed, ...told } = throughFeed(openRoad(upstream, client), bytes, cuts)
          expect(said(told)).toEqual(said(throughReader(openRoad(upstream, client), bytes)))
        }),
        { numRuns: 300 },
      )
    },
  )

  test.each(WIRES.filter(client => client !== upstream))('take the fast path to %s clients once begun', client => {
    const one = { call: 0, hasIndex: true, isNamed: false }
    const calls = ['', '{"text":"', ...Array.from({ length: 20 }, () => 'Hà \\"Nội\\"'), '"}']
    const bytes = bytesOf(calls.map(fragment => ({ ...one, fragment })))
    const cuts = [...bytes.keys()].filter(at => bytes.toString('latin1', at - 2, at) === '\n\n')
    expect(throughFeed(openRoad(upstream, client), bytes, cuts).skimmed).toBeGreaterThanOrEqual(20)
  })
})
