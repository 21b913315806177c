/** Encodes a picture as PNG, JPEG or WebP. The encoders of JPEG and WebP are WebAssembly, loaded on first use. */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type Bitmap, encodePng } from './png.ts'

export const PICTURE_FORMATS = ['png', 'jpeg', 'webp'] as const
export type PictureFormat = (typeof PICTURE_FORMATS)[number]

interface Pixels {
  readonly data: Uint8ClampedArray<ArrayBuffer>
  readonly width: number
  readonly height: number
  readonly colorSpace: 'srgb'
}

/** `quality` is 0 to 100; it only affects JPEG and WebP. */
type Encoder = (pixels: Pixels, quality: number) => Promise<ArrayBuffer>

const encoders = new Map<PictureFormat, Promise<Encoder>>()

export async function encodePicture(
  bitmap: Bitmap,
  { format, quality }: { readonly format: PictureFormat; readonly quality: number },
): Promise<Buffer> {
  if (format === 'png') return await encodePng(bitmap)
  let encoder = encoders.get(format)
  if (encoder === undefined) {
    encoder = format === 'jpeg' ? loadJpeg() : loadWebp()
    encoders.set(format, encoder)
  }
  return Buffer.from(await (await encoder)(pixelsOf(bitmap), quality))
}

async function loadJpeg(): Promise<Encoder> {
  const { default: encode, init } = await import('@jsquash/jpeg/encode.js')
  await init(await codeOf('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm'))
  return (pixels, quality) => encode(pixels, { quality, progressive: false })
}

async function loadWebp(): Promise<Encoder> {
  const { default: encode, init } = await import('@jsquash/webp/encode.js')
  await init(await codeOf('@jsquash/webp/codec/enc/webp_enc_simd.wasm'))
  return (pixels, quality) => encode(pixels, { quality, method: 0 })
}

/** Reads a library's WebAssembly from disk, because in Node the libraries do not load it by themselves. */
async function codeOf(file: string): Promise<object> {
  return { wasmBinary: await readFile(createRequire(import.meta.url).resolve(file)) }
}

function pixelsOf({ width, height, pixels, palette }: Bitmap): Pixels {
  const data = new Uint8ClampedArray(width * height * 4)
  for (const [place, index] of pixels.entries()) {
    const [red, green, blue] = palette[index]!
    data.set([red, green, blue, 255], place * 4)
  }
  return { data, width, height, colorSpace: 'srgb' }
}
