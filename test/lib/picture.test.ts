import { expect, test } from 'vitest'
import { pictureSize, pictureType } from '../../src/lib/picture.ts'

const bytes = (...parts: readonly (string | readonly number[])[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))))

const PNG = bytes('\x89PNG\r\n\x1a\n', [0, 0, 0, 13], 'IHDR', [0, 0, 3, 32], [0, 0, 2, 88])
const GIF = bytes('GIF89a', [32, 3], [88, 2])
const EXIF = [0xff, 0xe1, 0, 10, 1, 2, 3, 4, 5, 6, 7, 8]
const FRAME = [0xff, 0xc2, 0, 17, 8, 2, 88, 3, 32]
const JPEG = bytes([0xff, 0xd8], EXIF, [0xff, 0xff, 0xc4, 0, 3, 0], FRAME)
const webp = (chunk: string, ...rest: number[][]) =>
  bytes('RIFF', [0, 0, 0, 0], 'WEBP', chunk, ...rest, Array(12).fill(0))
const LOSSY = webp('VP8 ', [0, 0, 0, 0, 0, 0, 0, 0x9d, 0x01, 0x2a], [32, 3, 88, 2])
const LOSSLESS = webp('VP8L', [0, 0, 0, 0, 0x2f], [31, 195, 149, 0])
const EXTENDED = webp('VP8X', [10, 0, 0, 0, 0, 0, 0, 0], [31, 3, 0, 87, 2, 0])

test.each([
  ['PNG', PNG, 'image/png'],
  ['GIF', GIF, 'image/gif'],
  ['JPEG, after metadata and fill bytes', JPEG, 'image/jpeg'],
  ['lossy WebP', LOSSY, 'image/webp'],
  ['lossless WebP', LOSSLESS, 'image/webp'],
  ['extended WebP', EXTENDED, 'image/webp'],
])('reads the kind and the size of %s', (_name, image, type) => {
  expect(pictureType(image)).toBe(type)
  expect(pictureSize(image)).toEqual({ width: 800, height: 600 })
})

test('takes nothing else for an image, and never reads beyond the end', () => {
  for (const image of [PNG, GIF, JPEG, LOSSY, LOSSLESS, EXTENDED]) {
    for (let length = 0; length < 18; length++) expect(() => pictureSize(image.subarray(0, length))).not.toThrow()
  }
  for (const text of ['', 'x', 'GIF87', 'RIFF____WAVEfmt ', '<svg>', '%PDF-1.7', '\xff\xd8']) {
    expect(pictureType(Buffer.from(text, 'latin1')), text).toBeNull()
  }
  expect(pictureSize(bytes([0xff, 0xd8, 0xff, 0xe0, 0, 0, 1, 2, 3, 4, 5, 6, 7]))).toBeNull()
  expect(pictureSize(bytes('\x89PNG\r\n\x1a\n', Array(16).fill(0)))).toBeNull()
})
