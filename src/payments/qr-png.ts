/** Draws a QR code as a PNG to save on a phone, because banking apps read codes from the photo library. */

import { crc32, deflateSync } from 'node:zlib'
import encodeQr from 'qr'
import { QUIET_MODULES } from './qr-svg.ts'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const PIXELS_PER_MODULE = 12

/** Black on white, at one bit per pixel. */
export function renderQrPng(payload: string): Buffer {
  const rows = encodeQr(payload, 'raw', { ecc: 'medium', border: QUIET_MODULES })
  const size = rows.length * PIXELS_PER_MODULE
  const lineBytes = 1 + Math.ceil(size / 8)
  const pixels = Buffer.alloc(lineBytes * size)
  for (let y = 0; y < size; y++) {
    const row = rows[Math.floor(y / PIXELS_PER_MODULE)]!
    for (let x = 0; x < size; x++) {
      const isLight = row[Math.floor(x / PIXELS_PER_MODULE)] !== true
      // Each line begins with a byte for its filter, which stays 0 (no filter).
      if (isLight) pixels[y * lineBytes + 1 + (x >> 3)]! |= 0x80 >> (x & 7)
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  // One bit per pixel. The other fields stay 0: greyscale, PNG's only compression method and filter method, no interlacing.
  header[8] = 1
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}
