/** The binary event stream of the Bedrock wire: each event has a length, headers, a payload and two checksums. */

import { crc32 } from 'node:zlib'
import type { JsonObject } from '../json.ts'

export const FRAME_STREAM = 'application/vnd.amazon.eventstream'

/** Frames one event of the messages format, in base64 and with padding, as on the Bedrock wire. */
export function chunkFrame(event: JsonObject): Buffer {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64')
  const payload = { bytes, p: 'abcdefghijklmnopqrstuvwxyz'.slice(0, bytes.length % 26) }
  return frame({ ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' }, payload)
}

/** The frame that ends a stream with an error. */
export function exceptionFrame(type: string, message: string): Buffer {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }
  return frame(headers, { message })
}

function frame(headers: Readonly<Record<string, string>>, payload: JsonObject): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)))
  const body = Buffer.from(JSON.stringify(payload))
  const made = Buffer.alloc(16 + head.length + body.length)
  made.writeUInt32BE(made.length, 0)
  made.writeUInt32BE(head.length, 4)
  made.writeUInt32BE(crc32(made.subarray(0, 8)), 8)
  head.copy(made, 12)
  body.copy(made, 12 + head.length)
  made.writeUInt32BE(crc32(made.subarray(0, made.length - 4)), made.length - 4)
  return made
}

/** Writes one header. Its value has type 7, a string preceded by its length in two bytes. */
function header(name: string, value: string): Buffer {
  const made = Buffer.alloc(1 + name.length + 3 + value.length)
  made.writeUInt8(name.length, 0)
  made.write(name, 1, 'latin1')
  made.writeUInt8(7, 1 + name.length)
  made.writeUInt16BE(value.length, 2 + name.length)
  made.write(value, 4 + name.length, 'latin1')
  return made
}
