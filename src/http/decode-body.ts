/** Decodes compressed request bodies as they stream in; Fastify's body limit then counts decoded bytes. */

import { pipeline, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import type { FastifyRequest, RequestPayload } from 'fastify'
import { GatewayError } from '../errors.ts'

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/**
 * The payload to parse. Throws GatewayError `unsupported_encoding` for codings that are unknown or chained; the stream
 * fails with `request_too_large` as soon as more than `bytesMax` bytes come out, or `malformed_json` when it is corrupt.
 */
export function decodeBody(request: FastifyRequest, payload: RequestPayload, bytesMax: number): RequestPayload {
  const coding = request.headers['content-encoding']?.trim().toLowerCase()
  if (coding === undefined || coding === '' || coding === 'identity') return payload
  const create = DECODERS[coding]
  if (create === undefined) {
    throw new GatewayError('unsupported_encoding', {
      message: `content-encoding: ${coding.slice(0, 40)} is not supported; send the body plain or as gzip, deflate, br or zstd.`,
    })
  }
  const decoder = create()
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      decodedBytes += chunk.length
      if (decodedBytes > bytesMax) done(tooLarge(bytesMax))
      else done(null, chunk)
    },
  }) as Transform & { receivedEncodedLength: number }
  let decodedBytes = 0
  limited.receivedEncodedLength = 0
  payload.on('data', (chunk: Buffer) => {
    limited.receivedEncodedLength += chunk.length
  })
  // `pipeline` ends all of them when one fails, so that nothing is decoded for nobody.
  pipeline(payload, decoder, limited, error => {
    if (error && !limited.destroyed) limited.destroy(error)
  })
  return limited
}

export function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('request_too_large', {
    message: `The request body exceeds ${bytesMax / 1024 / 1024} MB (after decoding). Send less, or smaller images.`,
  })
}
