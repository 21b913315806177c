/**
 * Waits for a stream's first event, so that an error in it becomes a real HTTP error, or the call fails over to another
 * upstream.
 */

import { readReplyError } from '../conversation/reply-error.ts'
import { gatewayErrorOf } from '../conversation/upstream-error.ts'
import { GatewayError } from '../errors.ts'
import { byteText } from '../lib/byte-text.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import { GatheredChunks } from '../lib/gathered-chunks.ts'
import { parseJson } from '../lib/json.ts'
import { isTurnUsedUp } from '../lib/loop-turns.ts'
import { commentsEnd, eventEnd, type SseEvent, SseReader } from '../lib/sse.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import { type ReplyRoom, Reservation } from '../upstream/reply-room.ts'

/** Longer events are no errors, and take too long to parse here. */
const ERROR_CHARACTERS_MAX = 256 * 1024
/** A chunk is read in parts of this size, because the first event usually takes a small part of it. */
const PART_BYTES = 4_096

export interface FirstEventOptions {
  /** Largest size of the first event, and of the comments before it, in bytes. */
  readonly eventBytesMax: number
  /** Longest wait for the first byte of the body, in ms. Receiving the headers is not enough. */
  readonly firstByteMs: number
  /** If a stream sends only comments, how long to wait for an event, in ms. After that, the stream is considered good. */
  readonly eventWaitMs: number
  /** Memory for a long first event; null: as much as it takes. */
  readonly room: ReplyRoom | null
  /** Aborted if the client disconnects. */
  readonly signal: Cancellation
  /** Credentials to mask in error texts. */
  readonly secrets: readonly string[]
}

/**
 * Resolves with the reply once its first event proves to be good. The bytes read so far are put back, so that the next reader
 * gets the stream from its beginning. Throws GatewayError `upstream_…` if the event reports an error, is malformed or never
 * comes; the reply is aborted in that case.
 */
export async function awaitFirstEvent(reply: UpstreamReply, options: FirstEventOptions): Promise<UpstreamReply> {
  if (!reply.header('content-type').includes('text/event-stream')) throw await readOther(reply, options.secrets)
  const start = await streamStart(reply, options).catch((error: unknown) => {
    reply.abort()
    throw error instanceof UpstreamFault ? new GatewayError('upstream_failed', { cause: error }) : error
  })
  reply.unread(start.take())
  return reply
}

/** The error for a reply that is not an event stream. A JSON body may report an error although the status is 200. */
async function readOther(reply: UpstreamReply, secrets: readonly string[]): Promise<GatewayError> {
  const body = await reply.readError()
  const value = parseJson(body.toString('utf8'))
  const error = value === undefined ? null : readReplyError(value, { secrets })
  if (error !== null) return gatewayErrorOf(error)
  return new GatewayError('upstream_failed', { cause: 'the reply to a streamed call is not an event stream' })
}

/**
 * Resolves once the stream's first event proves to be good, with what has been read: take it at once, because more is added until
 * somebody else reads the reply.
 */
function streamStart(reply: UpstreamReply, options: FirstEventOptions): Promise<GatheredChunks> {
  return new Promise((resolve, reject) => {
    const reader = new SseReader({ eventBytesMax: options.eventBytesMax })
    const chunks = new GatheredChunks()
    let bytes = 0
    let timer: NodeJS.Timeout | undefined
    let done = false
    const settle = (act: () => void): void => {
      if (done) return
      done = true
      clearTimeout(timer)
      clearTimeout(silence)
      options.signal.removeEventListener('abort', leave)
      act()
    }
    const leave = (): void => settle(() => reject(new UpstreamFault('aborted', 'the client disconnected')))
    /** Judges the stream by its first event. Comments do not count. */
    const look = (events: readonly SseEvent[]): void => {
      const event = events.find(candidate => candidate.hasData)
      if (event === undefined) return
      const error = errorIn(event, options.secrets)
      settle(() => (error === null ? resolve(chunks) : reject(error)))
    }
    const attempt = (step: () => void): void => {
      try {
        step()
      } catch (error) {
        settle(() => reject(error))
      }
    }
    /** Reads the chunk only up to the first event, because it may contain a thousand events. */
    const read = (chunk: Buffer): void => {
      for (let start = 0; start < chunk.length && !done; start += PART_BYTES) {
        readPart(chunk.subarray(start, start + PART_BYTES))
      }
    }
    const readPart = (chunk: Buffer): void => {
      const text = byteText(chunk)
      for (let start = 0; start < chunk.length && !done; ) {
        const comments = reader.atBorder && !text.includes('\r') ? commentsEnd(text, start) : start
        const end = comments > start ? comments : eventEnd(text, start)
        if (end > comments) look(reader.push(chunk.subarray(start, end)))
        start = end
      }
    }
    const reservation = new Reservation(options.room, {
      wait: () => reply.pause(),
      granted: () => {
        if (!done) reply.resume()
      },
      refused: error => settle(() => reject(error)),
    })
    /** Lets others have a turn while a provider sends nothing but comments. */
    const rest = (): void => {
      reply.pause()
      setImmediate(() => {
        if (!done && !reservation.isWaiting) reply.resume()
      })
    }
    const silent = () => new UpstreamFault('timeout', `no byte of the stream arrived within ${options.firstByteMs} ms`)
    const silence = setTimeout(() => settle(() => reject(silent())), options.firstByteMs)
    if (options.signal.aborted) return void leave()
    options.signal.addEventListener('abort', leave)
    reply.consume({
      data(chunk) {
        clearTimeout(silence)
        chunks.add(chunk)
        bytes += chunk.length
        attempt(() => read(chunk))
        // Nothing of what comes before the first event is relayed.
        if (!done && reader.atBorder) chunks.clear()
        if (bytes > options.eventBytesMax) settle(() => resolve(chunks))
        if (!done) reservation.need(bytes)
        if (!done && isTurnUsedUp()) rest()
        if (!done) timer ??= setTimeout(() => settle(() => resolve(chunks)), options.eventWaitMs)
      },
      end() {
        attempt(() => look(reader.end()))
        settle(() => reject(new GatewayError('upstream_failed', { cause: 'the stream ended before its first event' })))
      },
      error: fault => settle(() => reject(fault)),
    })
  })
}

function errorIn(event: SseEvent, secrets: readonly string[]): GatewayError | null {
  const { data } = event
  if (data.length > ERROR_CHARACTERS_MAX) return null
  if (data === '[DONE]') return new GatewayError('upstream_failed', { cause: 'the stream is empty' })
  const value = parseJson(data)
  if (value === undefined) return new GatewayError('upstream_failed', { cause: 'the first event is not JSON' })
  const error = readReplyError(value, { event: event.name, secrets })
  return error === null ? null : gatewayErrorOf(error)
}
