/**
 * Waits for a stream's first event, so that an error there becomes a true HTTP error or moves the call to another
 * upstream.
 */

import { readReplyError } from '../conversation/reply-error.ts'
import { gatewayErrorOf } from '../conversation/upstream-error.ts'
import { GatewayError } from '../errors.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import { parseJson } from '../lib/json.ts'
import { type SseEvent, SseReader } from '../lib/sse.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { UpstreamReply } from '../upstream/reply.ts'

export interface FirstEventOptions {
  /** Largest first event, in bytes. */
  readonly eventBytesMax: number
  /** Longest wait for the first byte of the body, in ms; headers alone do not count. */
  readonly firstByteMs: number
  /** Longest wait for an event of a stream that sends only comments, in ms; after that the stream counts as begun. */
  readonly eventWaitMs: number
  /** Aborted when the client leaves. */
  readonly signal: Cancellation
  /** The credentials in use, to be masked in error texts. */
  readonly secrets: readonly string[]
}

/** Largest body, in bytes, read of a reply that should have been a stream but is not. */
const OTHER_BODY_BYTES_MAX = 256 * 1024

/**
 * Resolves with the unconsumed reply once its first event is a good one. Throws GatewayError `upstream_…` when the
 * event reports an error, is malformed or never comes; the reply is aborted then.
 */
export async function awaitFirstEvent(reply: UpstreamReply, options: FirstEventOptions): Promise<UpstreamReply> {
  if (!reply.header('content-type').includes('text/event-stream')) throw await readOther(reply, options.secrets)
  const chunks = await firstChunks(reply, options).catch((error: unknown) => {
    reply.abort()
    throw error instanceof UpstreamFault ? new GatewayError('upstream_failed', { cause: error }) : error
  })
  reply.unread(chunks)
  return reply
}

/** A JSON body may report an error under status 200; anything else is an invalid reply. */
async function readOther(reply: UpstreamReply, secrets: readonly string[]): Promise<GatewayError> {
  const body = await reply.readBody(OTHER_BODY_BYTES_MAX).catch(() => Buffer.alloc(0))
  const value = parseJson(body.toString('utf8'))
  const error = value === undefined ? null : readReplyError(value, { secrets })
  if (error !== null) return gatewayErrorOf(error)
  return new GatewayError('upstream_failed', { cause: 'the reply to a streamed call is not an event stream' })
}

function firstChunks(reply: UpstreamReply, options: FirstEventOptions): Promise<readonly Buffer[]> {
  return new Promise((resolve, reject) => {
    const reader = new SseReader({ eventBytesMax: options.eventBytesMax })
    const chunks: Buffer[] = []
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
    const leave = (): void => settle(() => reject(new UpstreamFault('aborted', 'the client went away')))
    /** The first event decides; comments do not count. */
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
    /** A chunk may hold a thousand events, so reading stops after the first. */
    const read = (chunk: Buffer): void => {
      for (let start = 0; start < chunk.length && !done; ) {
        const blank = chunk.indexOf('\n\n', start)
        const end = blank < 0 ? chunk.length : blank + 2
        look(reader.push(chunk.subarray(start, end)))
        start = end
      }
    }
    const silent = () => new UpstreamFault('timeout', `no byte of the stream arrived within ${options.firstByteMs} ms`)
    const silence = setTimeout(() => settle(() => reject(silent())), options.firstByteMs)
    if (options.signal.aborted) return void leave()
    options.signal.addEventListener('abort', leave)
    reply.consume({
      data(chunk) {
        clearTimeout(silence)
        chunks.push(chunk)
        attempt(() => read(chunk))
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
  if (data === '[DONE]') return new GatewayError('upstream_failed', { cause: 'the stream is empty' })
  const value = parseJson(data)
  if (value === undefined) return new GatewayError('upstream_failed', { cause: 'the first event is not JSON' })
  const error = readReplyError(value, { event: event.name, secrets })
  return error === null ? null : gatewayErrorOf(error)
}
