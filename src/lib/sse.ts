/**
 * Parses server-sent events (WHATWG HTML, 9.2.6) from bytes split at any position, even inside a UTF-8 character or between CR
 * and LF. An event's text is decoded only on demand.
 */

import { GatewayError } from '../errors.ts'
import { ascii, type ByteText, byteText, concat, encodeText, NO_BYTES } from './byte-text.ts'
import { GatheredChunks } from './gathered-chunks.ts'

const BYTE_ORDER_MARK = 0xfeff
const BYTE_ORDER_MARK_BYTES = 3
const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
const SPACE = 0x20
const NONE = Number.POSITIVE_INFINITY

export interface SseOptions {
  /** Size limit of a block (one event with its comments), in bytes; beyond it `push` throws GatewayError(`upstream_failed`). */
  readonly eventBytesMax: number
}

/** One block of the stream: its lines up to a blank line. Blocks without data (comments, keep-alives) count too. */
export class SseEvent {
  /** The block's bytes as received, including its blank line. All blocks joined give the unchanged stream. */
  readonly raw: Buffer
  /** True when the stream ended before the block's blank line, so that its last line may be truncated. */
  readonly isCut: boolean
  #name = ''
  #data: string | null = null
  #dataLines = 0
  /** Whether the block contains only comments. */
  #isComment = true
  #parsed = false
  /** Whether it is the stream's first block, which may begin with a byte order mark. */
  readonly #first: boolean

  constructor(raw: Buffer, { first, isCut }: { first: boolean; isCut: boolean }) {
    this.raw = raw
    this.isCut = isCut
    this.#first = first
  }

  /** The same block with other bytes. */
  withRaw(raw: Buffer): SseEvent {
    return new SseEvent(raw, { first: this.#first, isCut: this.isCut })
  }

  /** Value of the block's `event:` line; '' when it has none. */
  get name(): string {
    if (!this.#parsed) this.#parse()
    return this.#name
  }

  /** The block's data lines joined with "\n"; '' when it has none. */
  get data(): string {
    if (!this.#parsed) this.#parse()
    return this.#data ?? ''
  }

  /** False for comments, `retry:`, stray blank lines, and events with empty data. */
  get hasData(): boolean {
    return this.data !== ''
  }

  /**
   * The block as it is relayed: its bytes with the final blank line, data on one line, and no byte order mark. Empty for an
   * event without data, because clients fail on such events, but not for a comment-only block.
   */
  get relayed(): ByteText {
    if (!this.#parsed) this.#parse()
    if (this.#dataLines > 1 && this.hasData) return this.#onOneLine()
    if (!this.hasData && !this.#isComment) return NO_BYTES
    const raw = byteText(this.raw, this.#hasMark() ? BYTE_ORDER_MARK_BYTES : 0)
    return this.isCut ? concat(withoutLineEnds(raw), ascii('\n\n')) : raw
  }

  /** Joins the data lines with spaces: in JSON, line ends can only occur between tokens. */
  #onOneLine(): ByteText {
    const name = this.#name === '' ? '' : `event: ${this.#name}\n`
    return encodeText(`${name}data: ${this.data.replaceAll('\n', ' ')}\n\n`)
  }

  #hasMark(): boolean {
    return this.#first && this.raw[0] === 0xef && this.raw[1] === 0xbb && this.raw[2] === 0xbf
  }

  #parse(): void {
    this.#parsed = true
    const text = this.raw.toString('utf8')
    const length = text.length
    let start = this.#first && text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0
    let lf = indexOrNone(text, '\n', start)
    let cr = indexOrNone(text, '\r', start)
    while (start < length) {
      const end = Math.min(lf, cr, length)
      if (end > start) this.#readLine(text, { start, end })
      start = end + 1
      if (lf < start) lf = indexOrNone(text, '\n', start)
      if (cr < start) cr = indexOrNone(text, '\r', start)
    }
  }

  #readLine(text: string, { start, end }: { start: number; end: number }): void {
    if (text.charCodeAt(start) === COLON) return
    this.#isComment = false
    if (text.startsWith('data', start)) {
      const value = valueStart(text, { after: start + 4, end })
      if (value < 0) return
      this.#dataLines++
      const data = text.slice(value, end)
      this.#data = this.#data === null ? data : `${this.#data}\n${data}`
    } else if (text.startsWith('event', start)) {
      const value = valueStart(text, { after: start + 5, end })
      if (value >= 0) this.#name = text.slice(value, end)
    }
  }
}

/** Splits a stream into blocks: pass the chunks in order, then call `end()`. */
export class SseReader {
  readonly #eventBytesMax: number
  /** Chunks of the still incomplete block. */
  readonly #parts = new GatheredChunks()
  #partsBytes = 0
  /** Whether the current line has at least one byte. */
  #lineHasBytes = false
  /** Whether the current block has at least one line that is not blank. */
  #blockHasLines = false
  /** Whether the last byte was a CR that ended a line; an LF that follows belongs to it. */
  #afterCr = false
  #first = true

  constructor({ eventBytesMax }: SseOptions) {
    this.#eventBytesMax = eventBytesMax
  }

  /** Bytes of the incomplete block. */
  get pendingBytes(): number {
    return this.#partsBytes
  }

  /** Whether the next byte will begin a new block. */
  get atBorder(): boolean {
    return this.#partsBytes === 0 && !this.#blockHasLines && !this.#lineHasBytes && !this.#afterCr
  }

  /** Takes the next chunk and returns the blocks that it completes, in order. */
  push(chunk: Buffer): SseEvent[] {
    const events: SseEvent[] = []
    const length = chunk.length
    // One character per byte, so line ends are found at the speed of memchr.
    const text = chunk.toString('latin1')
    let blockStart = 0
    let position = 0
    let lf = indexOrNone(text, '\n', 0)
    let cr = indexOrNone(text, '\r', 0)
    if (this.#afterCr && lf === 0) {
      position = 1
      lf = indexOrNone(text, '\n', 1)
    }
    if (length > 0) this.#afterCr = false
    while (position < length) {
      const lineEnd = Math.min(lf, cr)
      if (lineEnd === NONE) {
        this.#lineHasBytes = true
        break
      }
      const blank = lineEnd === position && !this.#lineHasBytes
      this.#lineHasBytes = false
      position = lineEnd + 1
      if (lineEnd === cr) {
        if (position === length) this.#afterCr = true
        else if (lf === position) position += 1
        cr = indexOrNone(text, '\r', position)
      }
      if (lf < position) lf = indexOrNone(text, '\n', position)
      if (!blank) {
        this.#blockHasLines = true
      } else if (this.#blockHasLines) {
        events.push(this.#complete(chunk.subarray(blockStart, position), { isCut: false }))
        blockStart = position
      }
    }
    if (blockStart < length) this.#keep(chunk.subarray(blockStart))
    return events
  }

  /** Takes blocks that have nothing but comments, as found by `commentsEnd`, as if they were one. Only between two blocks. */
  comments(blocks: Buffer): SseEvent {
    return this.#complete(blocks, { isCut: false })
  }

  /** Returns what remains, if anything, when a stream ends without a final blank line. */
  end(): SseEvent[] {
    if (this.#partsBytes === 0) return []
    return [this.#complete(Buffer.alloc(0), { isCut: true })]
  }

  #complete(tail: Buffer, { isCut }: { isCut: boolean }): SseEvent {
    let raw = tail
    if (this.#partsBytes > 0) {
      this.#parts.add(tail)
      raw = this.#parts.take()
    }
    this.#partsBytes = 0
    this.#blockHasLines = false
    this.#refuseAbove(raw.length)
    const event = new SseEvent(raw, { first: this.#first, isCut })
    this.#first = false
    return event
  }

  #keep(part: Buffer): void {
    this.#parts.add(part)
    this.#partsBytes += part.length
    this.#refuseAbove(this.#partsBytes)
  }

  #refuseAbove(bytes: number): void {
    if (bytes <= this.#eventBytesMax) return
    throw new GatewayError('upstream_failed', {
      cause: `a stream event is larger than the limit of ${this.#eventBytesMax} bytes`,
    })
  }
}

/**
 * Where to cut a text after the next event from `from` on: behind the blank line that ends it, and behind all that follow, because
 * millions of them would otherwise be millions of pieces.
 */
export function eventEnd(text: ByteText, from: number): number {
  const blank = text.indexOf('\n\n', from)
  if (blank < 0) return text.length
  let end = blank + 2
  while (text.charCodeAt(end) === LF) end++
  return end
}

/**
 * Where the complete blocks of comments end that begin at `from`; `from` if there are none. Thousands of them are read as one,
 * because each by itself would take as long as an event.
 */
export function commentsEnd(text: ByteText, from: number): number {
  let end = from
  for (let line = from; text.charCodeAt(line) === COLON; ) {
    const lineEnd = text.indexOf('\n', line)
    if (lineEnd < 0) break
    line = lineEnd + 1
    if (text.charCodeAt(line) !== LF) continue
    while (text.charCodeAt(line) === LF) line++
    end = line
  }
  return end
}

function indexOrNone(text: string, character: string, from: number): number {
  const index = text.indexOf(character, from)
  return index < 0 ? NONE : index
}

/** The text without the line ends that it ends with. A regular expression would take quadratic time for many in other places. */
function withoutLineEnds(text: ByteText): ByteText {
  let end = text.length
  while (end > 0 && isLineEnd(text.charCodeAt(end - 1))) end--
  return text.slice(0, end)
}

function isLineEnd(code: number): boolean {
  return code === LF || code === CR
}

/** Position of the line's value if the field name ends at `after`; -1 if the name goes on, so that it is a different field. */
function valueStart(text: string, { after, end }: { after: number; end: number }): number {
  if (after >= end) return after === end ? end : -1
  if (text.charCodeAt(after) !== COLON) return -1
  return after + 1 < end && text.charCodeAt(after + 1) === SPACE ? after + 2 : after + 1
}
