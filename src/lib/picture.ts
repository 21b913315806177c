/** Reads the type and size of PNG, JPEG, GIF and WebP images from their first bytes. */

export type PictureType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** The type according to the magic bytes; null for other formats. */
export function pictureType(bytes: Buffer): PictureType | null {
  const head = bytes.toString('latin1', 0, 12)
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif'
  if (head.startsWith('RIFF') && head.startsWith('WEBP', 8)) return 'image/webp'
  return null
}

/** Width and height in pixels; null if the bytes are not an image or too few to contain its size. */
export function pictureSize(bytes: Buffer): PictureSize | null {
  const read = READERS[pictureType(bytes) ?? 'none']
  const size = read(bytes)
  return size !== null && size.width > 0 && size.height > 0 ? size : null
}

const READERS = {
  none: () => null,
  'image/png': (bytes: Buffer) =>
    bytes.length < 24 ? null : { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) },
  'image/gif': (bytes: Buffer) =>
    bytes.length < 10 ? null : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) },
  'image/webp': webpSize,
  'image/jpeg': jpegSize,
} as const satisfies Record<PictureType | 'none', (bytes: Buffer) => PictureSize | null>

function webpSize(bytes: Buffer): PictureSize | null {
  if (bytes.length < 30) return null
  const chunk = bytes.toString('latin1', 12, 16)
  if (chunk === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (chunk !== 'VP8L') return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  const packed = bytes.readUInt32LE(21)
  return { width: (packed & 0x3fff) + 1, height: ((packed >> 14) & 0x3fff) + 1 }
}

const NOT_FRAMES: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc])

/** Walks the segments up to the frame header, which contains the size. Each step advances by at least one byte, so it ends. */
function jpegSize(bytes: Buffer): PictureSize | null {
  let at = 2
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return null
    const marker = bytes[at + 1] as number
    if (marker === 0xff) at += 1
    else if (marker >= 0xc0 && marker <= 0xcf && !NOT_FRAMES.has(marker)) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    } else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2))
  }
  return null
}
