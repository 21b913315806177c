/** Packs samples into the requested container. The MP3 encoder is WebAssembly, loaded on first use. */

import type { WasmMediaEncoder } from 'wasm-media-encoders'
import { flacFile } from './flac.ts'
import { SAMPLES_PER_SECOND } from './tones.ts'

const CHUNK_BYTES = 16_384
const MP3_KILOBITS_PER_SECOND = 64

export interface Container {
  readonly contentType: string
  /** Prepares the encoder, and resolves with a function that uses it. */
  open(): Promise<Encoder>
}

/** Encodes samples (16-bit, little-endian, mono) into the chunks of a file. The MP3 writer encodes each chunk lazily. */
export type Encoder = (samples: Buffer) => Iterable<Buffer>

/** The supported containers; others would need large encoders. */
export const CONTAINERS: Readonly<Record<string, Container>> = {
  mp3: { contentType: 'audio/mpeg', open: openMp3 },
  flac: { contentType: 'audio/flac', open: async () => samples => chunksOf(flacFile(samples, SAMPLES_PER_SECOND)) },
  wav: {
    contentType: 'audio/wav',
    open: async () => samples => chunksOf(Buffer.concat([wavHeader(samples.length), samples])),
  },
  pcm: { contentType: 'audio/pcm', open: async () => chunksOf },
}

async function openMp3(): Promise<Encoder> {
  const { createMp3Encoder } = await import('wasm-media-encoders')
  const encoder = await createMp3Encoder()
  encoder.configure({ sampleRate: SAMPLES_PER_SECOND, channels: 1, bitrate: MP3_KILOBITS_PER_SECOND })
  return samples => mp3Chunks(encoder, samples)
}

function* mp3Chunks(encoder: WasmMediaEncoder<'audio/mpeg'>, samples: Buffer): Generator<Buffer> {
  for (const chunk of chunksOf(samples)) {
    const wave = new Float32Array(chunk.length / 2)
    for (let place = 0; place < wave.length; place += 1) wave[place] = chunk.readInt16LE(place * 2) / 32_768
    const written = Buffer.from(encoder.encode([wave]))
    if (written.length > 0) yield written
  }
  yield Buffer.from(encoder.finalize())
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES)
}

function wavHeader(sampleBytes: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(36 + sampleBytes, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(SAMPLES_PER_SECOND, 24)
  header.writeUInt32LE(SAMPLES_PER_SECOND * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(sampleBytes, 40)
  return header
}
