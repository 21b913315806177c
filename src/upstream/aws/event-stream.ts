/** Decodes AWS's binary event stream of a Messages reply into the server-sent events inside it. */

import { EventStreamCodec } from '@smithy/core/event-streams'
import {
  ascii,
  type ByteText,
  byteText,
  concat,
  encodeText,
  NO_BYTES,
  ofCharacters,
  parseUndecoded,
  toBuffer,
} from '../../lib/byte-text.ts'
import { GatheredChunks } from '../../lib/gathered-chunks.ts'
import { isObject, parseJson } from '../../lib/json.ts'
import { editJson } from '../../lib/json-text.ts'
import { UpstreamFault } from '../fault.ts'

/** Size of a frame's prelude: the frame's length, the length of its headers, and a checksum of both. */
const PRELUDE_BYTES = 12
/** Size of an empty frame: the prelude and a checksum of the whole frame. */
const FRAME_BYTES_MIN = 16

/** Holds metrics that AWS adds to the last event for the operator; clients do not get them. */
const METRICS_MEMBER = 'amazon-bedrock-invocationMetrics'

const codec = new EventStreamCodec(
  bytes => (typeof bytes === 'string' ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()),
  text => Buffer.from(text, 'utf8'),
)

type Frame = ReturnType<typeof codec.decode>

/** Takes chunks split at any position, and returns complete events. */
export class EventStreamDecoder {
  readonly #frameBytesMax: number
  /** What has arrived of the next frame. */
  readonly #rest = new GatheredChunks()
  #restBytes = 0
  /** How many bytes of the next frame must have arrived before they are looked at. */
  #neededBytes = PRELUDE_BYTES
  /** Why decoding stopped: an UpstreamFault of kind `garbage` or `oversized`. */
  fault: UpstreamFault | null = null

  constructor({ frameBytesMax }: { frameBytesMax: number }) {
    this.#frameBytesMax = frameBytesMax
  }

  /** Returns the events that this chunk completes, including those before a damaged frame. */
  push(chunk: Buffer): Buffer {
    this.#keep(chunk)
    if (this.#restBytes < this.#neededBytes) return Buffer.alloc(0)
    const bytes = this.#rest.take()
    this.#restBytes = 0
    let text = NO_BYTES
    try {
      let at = 0
      for (let end = this.#frameEnd(bytes, at); end <= bytes.length; end = this.#frameEnd(bytes, at)) {
        text = concat(text, eventOf(decode(bytes.subarray(at, end))))
        at = end
      }
      this.#neededBytes = this.#frameEnd(bytes, at) - at
      this.#keep(bytes.subarray(at))
    } catch (error) {
      this.fault = UpstreamFault.from(error)
    }
    return toBuffer(text)
  }

  /** Throws UpstreamFault when the stream ends inside a frame. */
  end(): void {
    if (this.#restBytes > 0) throw new UpstreamFault('reset', 'the stream ended inside an event frame')
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#rest.add(bytes)
    this.#restBytes += bytes.length
  }

  /** Where the frame ends that begins at `at`, or its prelude if that is incomplete. Throws UpstreamFault for a length that cannot be. */
  #frameEnd(bytes: Buffer, at: number): number {
    if (bytes.length - at < PRELUDE_BYTES) return at + PRELUDE_BYTES
    const length = bytes.readUInt32BE(at)
    if (length > this.#frameBytesMax) {
      throw new UpstreamFault('oversized', `an event frame exceeds ${this.#frameBytesMax} bytes`)
    }
    if (length < FRAME_BYTES_MIN) throw damaged()
    return at + length
  }
}

function damaged(): UpstreamFault {
  return new UpstreamFault('garbage', 'an event frame is damaged')
}

/** Decodes a frame and verifies both its checksums. */
function decode(bytes: Buffer): Frame {
  try {
    return codec.decode(bytes)
  } catch {
    throw damaged()
  }
}

function textHeader(frame: Frame, name: string): string {
  const header = frame.headers[name]
  return header?.type === 'string' ? header.value : ''
}

/** The event in a frame, ready to send to the client; empty for events that clients do not get. */
function eventOf(frame: Frame): ByteText {
  const payload = Buffer.from(frame.body.buffer, frame.body.byteOffset, frame.body.length)
  switch (textHeader(frame, ':message-type')) {
    case 'event':
      return textHeader(frame, ':event-type') === 'chunk' ? messagesEvent(payload) : NO_BYTES
    case 'exception':
      return errorEvent(textHeader(frame, ':exception-type'), messageOf(payload))
    case 'error':
      return errorEvent(textHeader(frame, ':error-code'), textHeader(frame, ':error-message'))
    default:
      throw damaged()
  }
}

/** Unwraps an event: the payload is `{"bytes": "<base64 of one event's JSON>", "p": "<padding>"}`. */
function messagesEvent(payload: Buffer): ByteText {
  const wrapped = parseUndecoded(byteText(payload))
  if (!isObject(wrapped) || typeof wrapped.bytes !== 'string') throw damaged()
  let data = byteText(Buffer.from(wrapped.bytes, 'base64'))
  const event = parseUndecoded(data)
  if (!isObject(event) || typeof event.type !== 'string' || data.includes('\n')) throw damaged()
  if (event[METRICS_MEMBER] !== undefined) data = editJson(data, [{ op: 'remove', path: `/${METRICS_MEMBER}` }])
  return concat(ofCharacters(`event: ${event.type}\ndata: `), data, ascii('\n\n'))
}

function messageOf(payload: Buffer): string {
  const body = parseJson(payload.toString('utf8'))
  const message = isObject(body) ? (body.message ?? body.Message) : undefined
  return typeof message === 'string' ? message : ''
}

function errorEvent(type: string, message: string): ByteText {
  const data = JSON.stringify({ type: 'error', error: { type: type || 'api_error', message } })
  return encodeText(`event: error\ndata: ${data}\n\n`)
}
