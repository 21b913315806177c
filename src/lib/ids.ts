/** Call ids, which sort by time (UUID version 7), and the request ids derived from them. */

import { randomFillSync } from 'node:crypto'

const BYTES = 16
const POOL_BYTES = BYTES * 256
const pool = Buffer.alloc(POOL_BYTES)
let offset = POOL_BYTES

/** UUID version 7 (RFC 9562): 48 bits of Unix milliseconds, then 74 random bits, so ids sort by creation time. */
export function uuidv7(nowMs: number = Date.now()): string {
  const hex = hexId(nowMs)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** A version 7 UUID without its hyphens. */
export function hexId(nowMs: number = Date.now()): string {
  if (offset === POOL_BYTES) {
    randomFillSync(pool)
    offset = 0
  }
  pool.writeUIntBE(nowMs, offset, 6)
  pool[offset + 6] = (pool[offset + 6]! & 0x0f) | 0x70
  pool[offset + 8] = (pool[offset + 8]! & 0x3f) | 0x80
  const hex = pool.toString('hex', offset, offset + BYTES)
  offset += BYTES
  return hex
}

/** Returns when a uuidv7 was created, in milliseconds since 1970. */
export function timeOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether the text has the form of a UUID in lower case, as uuidv7 writes it. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** The request id that a client sees if it sent none of its own. */
export function requestIdOf(callId: string): string {
  return `req_${callId.slice(0, 8)}${callId.slice(9, 13)}${callId.slice(14, 18)}${callId.slice(19, 23)}${callId.slice(24)}`
}

const REQUEST_ID = /^(?:req_)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i

/** The call id behind a request id made by `requestIdOf`, or a call id itself; null for any other text. */
export function callIdOf(requestId: string): string | null {
  return REQUEST_ID.exec(requestId)?.slice(1).join('-').toLowerCase() ?? null
}

/** The smallest id that uuidv7 can produce at `timeMs` or later. */
export function firstUuidAt(timeMs: number): string {
  const hex = Math.max(0, Math.floor(timeMs)).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
