/**
 * Writes one stream of events in every notation that server-sent events allow (WHATWG HTML, 9.2.5 and 9.2.6, as of 2026-11-22),
 * and splits it into chunks the way networks do.
 */

export interface FramedEvent {
  /** The event's name, for its `event:` line; '' if it has no such line. */
  readonly name: string
  readonly data: string
}

/** Writes events as the chunks in which a client receives them. */
export type Framing = (events: readonly FramedEvent[]) => Buffer[]

const plain = ({ name, data }: FramedEvent) => `${name === '' ? '' : `event: ${name}\n`}data: ${data}\n\n`
const text = (events: readonly FramedEvent[]) => events.map(plain).join('')

/** Spreads the data of each event over several lines, one per member, as some servers print JSON. */
const onLines = (event: FramedEvent) => ({ ...event, data: brokenUp(event.data).join('\ndata: ') })

/** Adds comments, meaningless fields and stray blank lines, between events and within them. */
const commented = (event: FramedEvent, index: number) =>
  [
    ': keep-alive\n\n',
    '\n',
    index % 2 === 0 ? 'id: 7\nretry: 3000\n\n' : '',
    event.name === '' ? '' : `event:${event.name}\n:\n`,
    `id\n: {"not":"data"}\nx-field: 1\ndata:${event.data}\n: behind\n\n`,
  ].join('')

const byByte = (bytes: Buffer) => Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))

const TEXTS: Readonly<Record<string, (events: readonly FramedEvent[]) => string>> = {
  'as it came': text,
  'with CR and LF': events => text(events).replaceAll('\n', '\r\n'),
  'with CR': events => text(events).replaceAll('\n', '\r'),
  'data on several lines': events => text(events.map(onLines)),
  'data on several lines, with CR and LF': events => text(events.map(onLines)).replaceAll('\n', '\r\n'),
  'comments and other fields between': events => events.map(commented).join(''),
  'after a byte order mark': events => `\ufeff${text(events)}`,
  'without the last blank line': events => text(events).replace(/\n+$/, '\n'),
}

/** Ways to send events, by name: each notation in one chunk and byte by byte, and the plain notation in one chunk per event. */
export const FRAMINGS: ReadonlyMap<string, Framing> = new Map(
  Object.entries(TEXTS).flatMap(([name, tell]): [string, Framing][] => [
    [name, events => [Buffer.from(tell(events))]],
    [`${name}, 1 byte per chunk`, events => byByte(Buffer.from(tell(events)))],
  ]),
).set('event by event', events => events.map(event => Buffer.from(plain(event))))

/** Chunk size in bytes. */
const CUT_EVERY = 101

/**
 * Splits the stream every `CUT_EVERY` bytes, once for each position of the first cut, so that every byte begins a chunk in one
 * of the results.
 */
export function* cutsAtEachByte(events: readonly FramedEvent[], lineEnd: '\n' | '\r\n'): Generator<Buffer[]> {
  const bytes = Buffer.from(text(events).replaceAll('\n', lineEnd))
  for (let first = 0; first < Math.min(CUT_EVERY, bytes.length); first++) {
    const edges = [0]
    for (let edge = first; edge < bytes.length; edge += CUT_EVERY) if (edge > 0) edges.push(edge)
    yield edges.map((edge, index) => bytes.subarray(edge, edges[index + 1] ?? bytes.length))
  }
}

/** Parses a recorded stream that has LF line ends, one data line per event, and comments at the top. */
export function eventsOf(stream: string): FramedEvent[] {
  return stream
    .split('\n\n')
    .map(block => block.split('\n').filter(line => line !== '' && !line.startsWith(':')))
    .filter(lines => lines.length > 0)
    .map(lines => ({
      name: lines.find(line => line.startsWith('event: '))?.slice(7) ?? '',
      data: lines.find(line => line.startsWith('data: '))?.slice(6) ?? '',
    }))
}

/** Splits JSON after every comma that is not inside a string. Text without such commas stays whole. */
function brokenUp(data: string): string[] {
  return data.match(/(?:"(?:[^"\\]|\\.)*"|[^",])*,?/g)?.filter(line => line !== '') ?? [data]
}
