/** The fast path of streams gives the same output as full parsing, for every stream, however its bytes are split. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ReplyStream } from '../../src/conversation/reply-stream.ts'
import { StreamFeed } from '../../src/conversation/stream-feed.ts'
import { type ByteText, characters, NO_BYTES } from '../../src/lib/byte-text.ts'
import { type SseEvent, SseReader } from '../../src/lib/sse.ts'
import { openRoad, WIRES } from './roads.ts'

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

type ContentPart = readonly ['text' | 'reasoning' | 'arguments' | 'refusal' | 'ping' | 'odd', string]

const piece: fc.Arbitrary<ContentPart> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.tuple(
      fc.constantFrom('text', 'reasoning', 'arguments'),
      fc.string({ unit: 'binary', minLength: 0, maxLength: 8 }),
    ),
  },
  fc.tuple(
    fc.constantFrom('text'),
    fc.constantFrom('"usage":', '\\', '"', '"}\n\n', '\u2028', '\ud83d', 'Hà', '"content":"x"'),
  ),
  fc.tuple(fc.constantFrom('refusal', 'ping', 'odd'), fc.constantFrom('a', 'b')),
)
/** Repeats the same kind several times in a row, as real streams do. */
const pieces = fc
  .array(fc.tuple(piece, fc.nat(6)), { maxLength: 12 })
  .map(groups =>
    groups.flatMap(([[kind, text], times]) =>
      Array.from({ length: times + 1 }, (_, index): ContentPart => [kind, text + index]),
    ),
  )
const escapes = fc.constantFrom('none', 'all')

function json(value: object, escaped: string): string {
  const text = JSON.stringify(value)
  if (escaped === 'none') return text
  return text.replace(/[\u0080-\uffff]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function chatBytes(said: readonly ContentPart[], escaped: string, padding: boolean): Buffer {
  const chunk = (delta: object, index: number, finish: string | null = null) =>
    `data: ${json({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'upstream', choices: [{ index: 0, delta, finish_reason: finish }], usage: null, ...(padding && { obfuscation: 'x'.repeat(index % 5) }) }, escaped)}\n\n`
  const members = { text: 'content', reasoning: 'reasoning_content', refusal: 'refusal' } as const
  const events = said.map(([kind, text], index) => {
    if (kind === 'ping') return ': ping\n\n'
    if (kind === 'odd') return chunk({ content: text, reasoning_content: text }, index)
    if (kind !== 'arguments') return chunk({ [members[kind]]: text }, index)
    return chunk({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: text } }] }, index)
  })
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
  return Buffer.from(
    `${chunk({ role: 'assistant', content: '' }, 0)}${events.join('')}${chunk({}, 1, 'stop')}data: ${JSON.stringify({ id: 'c1', model: 'upstream', choices: [], usage })}\n\ndata: [DONE]\n\n`,
  )
}

function messagesBytes(said: readonly ContentPart[], escaped: string): Buffer {
  const event = (type: string, data: object) => `event: ${type}\ndata: ${json({ type, ...data }, escaped)}\n\n`
  const delta = (index: number, value: object) => event('content_block_delta', { index, delta: value })
  const blocks = {
    text: { type: 'text', text: '' },
    reasoning: { type: 'thinking', thinking: '', signature: '' },
    arguments: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
  }
  let body = ''
  let open = ''
  let index = -1
  for (const [kind, text] of said) {
    if (kind === 'ping' || kind === 'refusal') {
      body += event('ping', {})
      continue
    }
    if (kind === 'odd') {
      if (index >= 0) body += delta(index, { type: 'citations_delta', citation: { text } })
      continue
    }
    if (kind !== open) {
      if (open !== '') body += event('content_block_stop', { index })
      index++
      body += event('content_block_start', { index, content_block: blocks[kind] })
      open = kind
    }
    if (kind === 'text') body += delta(index, { type: 'text_delta', text })
    else if (kind === 'reasoning') body += delta(index, { type: 'thinking_delta', thinking: text })
    else body += delta(index, { type: 'input_json_delta', partial_json: text })
  }
  if (open !== '') body += event('content_block_stop', { index })
  const message = { id: 'msg_1', model: 'upstream', content: [], usage: { input_tokens: 3, output_tokens: 1 } }
  return Buffer.from(
    event('message_start', { message }) +
      body +
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } }) +
      event('message_stop', {}),
  )
}

/** Items with pieces of one kind each; pieces of another kind become vendor-specific events. */
function responsesBytes(said: readonly ContentPart[], escaped: string, padding: boolean): Buffer {
  let number = 0
  let body = ''
  const event = (type: string, data: object) => {
    body += `event: ${type}\ndata: ${json({ type, sequence_number: number++, ...data }, escaped)}\n\n`
  }
  const items = {
    text: { type: 'message', content: [] },
    reasoning: { type: 'reasoning', summary: [] },
    arguments: { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '' },
  }
  const deltas = {
    text: 'response.output_text.delta',
    reasoning: 'response.reasoning_summary_text.delta',
    arguments: 'response.function_call_arguments.delta',
  }
  event('response.created', { response: { id: 'resp_1', model: 'upstream', output: [] } })
  let open: keyof typeof items | null = null
  let index = -1
  let whole = ''
  const close = () => {
    if (open === 'text') {
      event('response.output_text.done', { output_index: index, item_id: `i${index}`, content_index: 0, text: whole })
    }
    if (open !== null)
      event('response.output_item.done', { output_index: index, item: { id: `i${index}`, ...items[open] } })
  }
  for (const [kind, text] of said) {
    if (kind === 'ping' || kind === 'refusal') body += ': ping\n\n'
    else if (kind === 'odd') event('keepalive', { text })
    else {
      if (kind !== open) {
        close()
        index++
        open = kind
        whole = ''
        event('response.output_item.added', { output_index: index, item: { id: `i${index}`, ...items[kind] } })
      }
      whole += text
      const place = {
        item_id: `i${index}`,
        output_index: index,
        [kind === 'text' ? 'content_index' : 'summary_index']: 0,
      }
      const more = { ...(kind === 'text' && { logprobs: [] }), ...(padding && { obfuscation: 'x'.repeat(number % 5) }) }
      event(deltas[kind], { ...place, delta: text, ...more })
    }
  }
  close()
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 }
  event('response.completed', { response: { id: 'resp_1', model: 'upstream', status: 'completed', output: [], usage } })
  return Buffer.from(body)
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
