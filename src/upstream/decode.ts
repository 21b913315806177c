/** Decodes compressed replies and binary event streams, so that they can be read. */

import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { type Deadline, startDeadline } from '../lib/deadlines.ts'
import { UpstreamFault } from './fault.ts'
import { UpstreamReply } from './reply.ts'

/** Size of the decoders' output, in bytes. Each piece takes a turn of the event loop, so Node's 16 kB would make long replies slow. */
const PIECE = { chunkSize: 128 * 1024 }

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(PIECE),
  'x-gzip': () => createGunzip(PIECE),
  deflate: () => createInflate(PIECE),
  br: () => createBrotliDecompress(PIECE),
  zstd: () => createZstdDecompress(PIECE),
}

/**
 * Decompresses the reply's body. Although we request `identity`, some providers and proxies compress replies all the same. The
 * caller must limit the decompressed size. What has arrived must have been decoded and read by `dueMs`, a value of
 * `performance.now()`. Throws UpstreamFault for an unknown content coding, or for more than one.
 */
export function decoded(reply: UpstreamReply, dueMs: number): UpstreamReply {
  const coding = reply.header('content-encoding').trim().toLowerCase()
  if (coding === '' || coding === 'identity') return reply
  const create = DECODERS[coding]
  if (create === undefined) {
    reply.abort()
    throw new UpstreamFault('garbage', 'the reply has an unknown content coding')
  }
  const decoder = create()
  let deadline: Deadline | null = null
  const { 'content-encoding': _coding, 'content-length': _length, ...headers } = reply.headers
  const source = {
    pause: () => {
      decoder.pause()
      reply.pause()
    },
    resume: () => {
      decoder.resume()
      if (!decoder.writableNeedDrain) reply.resume()
    },
    abort: () => {
      reply.abort()
      decoder.destroy()
      plain.finish(new UpstreamFault('aborted', 'the gateway ended the call'))
    },
  }
  const plain = new UpstreamReply(source, reply.status, headers, reply.secrets)
  decoder.on('data', (chunk: Buffer) => plain.receive(chunk))
  decoder.on('end', () => plain.finish(null))
  decoder.on('error', () => {
    reply.abort()
    plain.finish(new UpstreamFault('garbage', 'the compressed reply is damaged'))
  })
  decoder.on('close', () => deadline?.end())
  const late = () => {
    const isUnread = decoder.isPaused()
    decoder.destroy()
    plain.finish(new UpstreamFault(isUnread ? 'unread' : 'timeout', 'the reply was not decoded and read in time'))
  }
  decoder.on('drain', () => {
    if (!decoder.isPaused()) reply.resume()
  })
  reply.consume({
    data: chunk => {
      if (!decoder.write(chunk)) reply.pause()
    },
    end: () => {
      decoder.end()
      // From here on, no time limit of the connection applies any more.
      deadline = startDeadline(Math.max(0, dueMs - performance.now()), { late })
    },
    error: fault => {
      decoder.destroy()
      plain.finish(fault)
    },
  })
  return plain
}

/** Converts chunks of bytes synchronously. */
export interface BodyDecoder {
  push(chunk: Buffer): Buffer
  /** Why decoding stopped; null if it has not. */
  readonly fault: UpstreamFault | null
  /** Call after the last chunk. Throws UpstreamFault if the input was cut off. */
  end(): void
}

export function transformed(
  reply: UpstreamReply,
  decoder: BodyDecoder,
  headers: Readonly<Record<string, string>>,
): UpstreamReply {
  const result = new UpstreamReply(reply, reply.status, { ...reply.headers, ...headers }, reply.secrets)
  reply.consume({
    data(chunk) {
      if (decoder.fault !== null) return
      const bytes = decoder.push(chunk)
      if (bytes.length > 0) result.receive(bytes)
      if (decoder.fault === null) return
      reply.abort()
      result.finish(decoder.fault)
    },
    end() {
      try {
        decoder.end()
        result.finish(null)
      } catch (error) {
        result.finish(UpstreamFault.from(error))
      }
    },
    error: fault => result.finish(decoder.fault ?? fault),
  })
  return result
}
