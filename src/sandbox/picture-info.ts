/** Reads the type and size of PNG, JPEG, GIF and WebP images from their first bytes. */

export interface PictureInfo {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  readonly width: number
  readonly height: number
}

/** Null if the bytes are in none of the four formats, or are too few to contain the image's size. */
export function pictureInfo(bytes: Buffer): PictureInfo | null {
  return readPng(bytes) ?? readGif(bytes) ?? readWebp(bytes) ?? readJpeg(bytes)
}

function readPng(bytes: Buffer): PictureInfo | null {
  if (bytes.length < 24 || bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') return null
  return sized('image/png', bytes.readUInt32BE(16), bytes.readUInt32BE(20))
}

function readGif(bytes: Buffer): PictureInfo | null {
  if (bytes.length < 10 || !/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return null
  return sized('image/gif', bytes.readUInt16LE(6), bytes.readUInt16LE(8))
}

function readWebp(bytes: Buffer): PictureInfo | null {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP') {
    return null
  }
  const kind = bytes.toString('latin1', 12, 16)
  if (kind === 'VP8X') return sized('image/webp', bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1)
  if (kind === 'VP8L') {
    const packed = bytes.readUInt32LE(21)
    return sized('image/webp', (packed & 0x3fff) + 1, ((packed >> 14) & 0x3fff) + 1)
  }
  return sized('image/webp', bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff)
}

/** Walks the segments up to the frame header, which contains the size. */
function readJpeg(bytes: Buffer): PictureInfo | null {
  if (bytes.length < 4 || bytes[0] !== 0xff || bytes[1] !== 0xd8) return null
  let position = 2
  while (position + 9 <= bytes.length) {
    if (bytes[position] !== 0xff) return null
    const marker = bytes[position + 1]!
    if (marker === 0xff) {
      position += 1
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return sized('image/jpeg', bytes.readUInt16BE(position + 7), bytes.readUInt16BE(position + 5))
    position += 2 + Math.max(2, bytes.readUInt16BE(position + 2))
  }
  return null
}

function sized(mediaType: PictureInfo['mediaType'], width: number, height: number): PictureInfo | null {
  return width > 0 && height > 0 ? { mediaType, width, height } : null
}
