import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { characters, encodeText } from '../../src/lib/byte-text.ts'
import { commentsEnd, type SseEvent, SseReader } from '../../src/lib/sse.ts'

const LIMIT = { eventBytesMax: 4 * 1024 * 1024 }

function read(chunks: Buffer[], options = LIMIT): SseEvent[] {
  const reader = new SseReader(options)
  return [...chunks.flatMap(chunk => reader.push(chunk)), ...reader.end()]
}

function readText(text: string): { name: string; data: string }[] {
  return visible(read([Buffer.from(text)]))
}

function visible(events: SseEvent[]): { name: string; data: string }[] {
  return events.filter(event => event.hasData).map(({ name, data }) => ({ name, data }))
}

/** Splits the bytes at these offsets, which may be in any order. */
function cut(bytes: Buffer, places: number[]): Buffer[] {
  const sorted = [...new Set(places.map(place => place % (bytes.length + 1)))].sort((a, b) => a - b)
  const edges = [0, ...sorted, bytes.length]
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge))
}

describe('what counts as an event', () => {
  test.each([
    ['LF', 'event: a\ndata: {"x":1}\n\ndata: [DONE]\n\n'],
    ['CRLF', 'event: a\r\ndata: {"x":1}\r\n\r\ndata: [DONE]\r\n\r\n'],
    ['lone CR', 'event: a\rdata: {"x":1}\r\rdata: [DONE]\r\r'],
    ['mixed', 'event: a\r\ndata: {"x":1}\n\r\ndata: [DONE]\r\n\n'],
    ['no space', 'event:a\ndata:{"x":1}\n\ndata:[DONE]\n\n'],
    ['byte order mark', '\uFEFFevent: a\ndata: {"x":1}\n\ndata: [DONE]\n\n'],
    [
      'comments, ids and retry',
      ': hi\n\n: there\nevent: a\nid: 7\nretry: 10\ndata: {"x":1}\n\n\n\ndata: [DONE]\n\n:\n\n',
    ],
    ['no final blank line', 'event: a\ndata: {"x":1}\n\ndata: [DONE]'],
    ['no final blank line after a line end', 'event: a\ndata: {"x":1}\n\ndata: [DONE]\r\n'],
    ['leading blank lines', '\n\r\n\nevent: a\ndata: {"x":1}\n\ndata: [DONE]\n\n'],
  ])('reads the same two events with %s', (_, text) => {
    expect(readText(text)).toEqual([
      { name: 'a', data: '{"x":1}' },
      { name: '', data: '[DONE]' },
    ])
  })

  test('joins several data lines with a line feed and keeps further spaces', () => {
    expect(readText('data: a\ndata:  b\ndata\ndata:\n\n')).toEqual([{ name: '', data: 'a\n b\n\n' }])
  })

  test('takes the last of several event lines and ignores fields whose names only begin in the same way', () => {
    expect(readText('event: a\nevent: b\neventual: c\ndatabase: d\ndata: x\nd: y\n\n')).toEqual([
      { name: 'b', data: 'x' },
    ])
  })

  test('does not take U+2028, U+0085 or a vertical tab for line ends', () => {
    expect(readText('data: a\u2028b\u0085c\u000bd\n\n')).toEqual([{ name: '', data: 'a\u2028b\u0085c\u000bd' }])
  })

  test('yields comments and event lines without data as blocks that are not events', () => {
    const events = read([Buffer.from(': keep-alive\n\nevent: ping\n\ndata: x\n\n')])
    expect(events.map(event => [event.hasData, event.name, event.data])).toEqual([
      [false, '', ''],
      [false, 'ping', ''],
      [true, '', 'x'],
    ])
  })

  test('an empty stream has no events', () => {
    expect(read([])).toEqual([])
    expect(read([Buffer.alloc(0)])).toEqual([])
  })
})

describe('cuts', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'data: ',
      'data:',
      'event: x',
      'data',
      ': c',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      '\r\n\r\n',
      '\r\r',
      '\uFEFF',
    ),
    fc.constantFrom('đồng', '€', '🙂', '{"a":"b"}', '[DONE]', ' ', 'e', 'd'),
  )
  const stream = fc.array(piece, { maxLength: 30 }).map(parts => Buffer.from(parts.join('')))

  test('any chunking of the bytes gives the same events, and their raw bytes add up to the stream', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200), { maxLength: 8 }), (bytes, places) => {
        const events = read(cut(bytes, places))
        expect(visible(events)).toEqual(visible(read([bytes])))
        expect(Buffer.concat(events.map(event => event.raw))).toEqual(bytes)
      }),
      { numRuns: 2000 },
    )
  })

  test('reading byte by byte gives the same events as reading everything at once', () => {
    const bytes = Buffer.from('\uFEFFevent: a\r\ndata: {"t":"Đồng 🙂"}\r\n\r\n: c\r\n\r\ndata: 1\rdata: 2\r\r\ndata: x')
    const single = Array.from(bytes, byte => Buffer.from([byte]))
    expect(visible(read(single))).toEqual([
      { name: 'a', data: '{"t":"Đồng 🙂"}' },
      { name: '', data: '1\n2' },
      { name: '', data: 'x' },
    ])
  })

  test('an event is returned as soon as its blank line has arrived, also when the CR of CRLF ends the packet', () => {
    const reader = new SseReader(LIMIT)
    expect(reader.push(Buffer.from('data: a\r\n\r')).map(event => event.data)).toEqual(['a'])
    expect(reader.push(Buffer.from('\ndata: b\r\n\r\n')).map(event => event.data)).toEqual(['b'])
    expect(reader.end()).toEqual([])
  })
})

describe('size', () => {
  test('a cut-off event behind any number of blank lines is read in one pass', () => {
    const reader = new SseReader(LIMIT)
    const blanks = 1024 * 1024
    reader.push(Buffer.from(`${'\n'.repeat(blanks)}data: x\n`))
    const relayed = characters((reader.end()[0] as SseEvent).relayed)
    expect([relayed.length, relayed.slice(-9)]).toEqual([blanks + 9, 'data: x\n\n'])
  })

  test('an event of a megabyte in packets of 16 kB arrives complete', () => {
    const text = 'x'.repeat(1024 * 1024)
    const bytes = Buffer.from(`data: "${text}"\n\ndata: [DONE]\n\n`)
    const chunks: Buffer[] = []
    for (let start = 0; start < bytes.length; start += 16_384) chunks.push(bytes.subarray(start, start + 16_384))
    expect(visible(read(chunks))).toEqual([
      { name: '', data: `"${text}"` },
      { name: '', data: '[DONE]' },
    ])
  })

  test.each([
    ['that never ends', [Buffer.from('data: '), Buffer.alloc(64, 0x61)]],
    ['that ends in the same packet', [Buffer.from(`data: ${'a'.repeat(64)}\n\n`)]],
    ['of comments only', [Buffer.from(`:${'a'.repeat(64)}`)]],
  ])('an event beyond the limit %s is an upstream failure', (_, chunks) => {
    const attempt = () => read(chunks, { eventBytesMax: 64 })
    expect(attempt).toThrow(GatewayError)
    expect(attempt).toThrow(expect.objectContaining({ code: 'upstream_failed' }))
  })

  test('an event in packets of one byte is kept in few objects', () => {
    const reader = new SseReader({ eventBytesMax: 2 ** 20 })
    const text = `data: ${'x'.repeat(100_000)}\n\n`
    const concat = vi.spyOn(Buffer, 'concat')
    const events = [...text].flatMap(character => reader.push(Buffer.from(character)))
    const longest = Math.max(...concat.mock.calls.map(([parts]) => parts.length))
    concat.mockRestore()
    expect(events.map(({ raw }) => raw.toString())).toEqual([text])
    expect(longest).toBeLessThan(50)
  })

  test('many small events in one packet are not one large event', () => {
    const bytes = Buffer.from('data: x\n\n'.repeat(100))
    expect(read([bytes], { eventBytesMax: 64 })).toHaveLength(100)
  })
})

test('finds where complete blocks of comments end', () => {
  const ends = (text: string, from = 0) => commentsEnd(encodeText(text), from)
  for (const [text, end] of [
    ['', 0],
    ['data: a\n\n', 0],
    [':\n\n', 3],
    [':\n\n\n:x\n:y\n\n', 11],
    [':\n\n:x\ndata: a\n\n', 3],
    [':\n\n:x\n', 3],
    [':\n\n:x', 3],
    [':x\ndata: a\n\n', 0],
  ] as const) {
    expect(ends(text), text).toBe(end)
    expect(ends(`xx${text}`, 2), text).toBe(end + 2)
  }
})
