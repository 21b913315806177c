/** Writes uncompressed FLAC: each frame contains its samples verbatim. The layout follows RFC 9639. */

import { createHash } from 'node:crypto'

const BLOCK_SAMPLES = 4_096

const CRC8 = crcTable({ polynomial: 0x07, bits: 8 })
const CRC16 = crcTable({ polynomial: 0x8005, bits: 16 })

/** `samples` are 16-bit, little-endian, mono. */
export function flacFile(samples: Buffer, samplesPerSecond: number): Buffer {
  const parts = [Buffer.from('fLaC'), streamInfo(samples, samplesPerSecond)]
  for (let frame = 0; frame * BLOCK_SAMPLES * 2 < samples.length; frame += 1) {
    const start = frame * BLOCK_SAMPLES * 2
    parts.push(flacFrame(samples.subarray(start, start + BLOCK_SAMPLES * 2), frame))
  }
  return Buffer.concat(parts)
}

function streamInfo(samples: Buffer, samplesPerSecond: number): Buffer {
  const block = Buffer.alloc(4 + 34)
  block.writeUInt32BE(0x8000_0000 + 34, 0)
  block.writeUInt16BE(BLOCK_SAMPLES, 4)
  block.writeUInt16BE(BLOCK_SAMPLES, 6)
  // Frame sizes are unknown (0). Then come the rate (20 bits), channels minus one (3), bits per sample minus one (5) and samples
  // (36).
  const facts = (BigInt(samplesPerSecond) << 44n) | (15n << 36n) | BigInt(samples.length / 2)
  block.writeBigUInt64BE(facts, 14)
  createHash('md5').update(samples).digest().copy(block, 22)
  return block
}

function flacFrame(samples: Buffer, frame: number): Buffer {
  // Fixed block size, written in 16 bits; sample rate as in the stream info; mono; 16 bits per sample.
  const size = Buffer.alloc(2)
  size.writeUInt16BE(samples.length / 2 - 1)
  const header = Buffer.concat([Buffer.from([0xff, 0xf8, 0x70, 0x08]), codedNumber(frame), size])
  const subframe = Buffer.concat([Buffer.from([0b0000_0010]), Buffer.from(samples).swap16()])
  const body = Buffer.concat([header, Buffer.from([checksum(header, CRC8, 8)]), subframe])
  const end = Buffer.alloc(2)
  end.writeUInt16BE(checksum(body, CRC16, 16))
  return Buffer.concat([body, end])
}

/** Frame numbers are encoded like UTF-8 characters. */
function codedNumber(frame: number): Buffer {
  return Buffer.from(String.fromCodePoint(frame))
}

function crcTable({ polynomial, bits }: { polynomial: number; bits: number }): Uint16Array {
  const top = 1 << (bits - 1)
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let sum = byte << (bits - 8)
    for (let bit = 0; bit < 8; bit += 1) sum = (sum & top) === 0 ? sum << 1 : (sum << 1) ^ polynomial
    return sum & ((1 << bits) - 1)
  })
}

function checksum(bytes: Buffer, table: Uint16Array, bits: number): number {
  let sum = 0
  for (const byte of bytes) sum = ((sum << 8) ^ table[((sum >> (bits - 8)) ^ byte) & 0xff]!) & ((1 << bits) - 1)
  return sum
}
