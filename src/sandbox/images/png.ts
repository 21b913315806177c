/** Writes PNG files with a palette, at one byte per pixel. */

import { promisify } from 'node:util'
import { crc32, deflate } from 'node:zlib'

const deflateAsync = promisify(deflate)
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

export interface Bitmap {
  readonly width: number
  readonly height: number
  /** Palette index of each pixel, row by row. */
  readonly pixels: Uint8Array
  /** Red, green and blue values of up to 256 colours. */
  readonly palette: readonly (readonly [number, number, number])[]
}

/** Encodes an image as PNG; the compression runs off the main thread. */
export async function encodePng({ width, height, pixels, palette }: Bitmap): Promise<Buffer> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const rows = Buffer.alloc((width + 1) * height)
  for (let row = 0; row < height; row += 1) {
    rows.set(pixels.subarray(row * width, (row + 1) * width), row * (width + 1) + 1)
  }
  const data = await deflateAsync(rows, { level: 3 })
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
