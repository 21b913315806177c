/** Tones for a text, as 16-bit mono samples, and the WAV header for them. */

export const SAMPLES_PER_SECOND = 24_000
const SECONDS_PER_CHARACTER = 0.06
const SECONDS_MAX = 60
const FADE_SAMPLES = 120

/** A tone for each letter, silence for white space; at most a minute. */
export function tonesOf(text: string, speed: number): Buffer {
  const characters = [...text]
  const perCharacter = Math.floor((SAMPLES_PER_SECOND * SECONDS_PER_CHARACTER) / speed)
  const count = Math.min(characters.length, Math.floor((SECONDS_MAX * SAMPLES_PER_SECOND) / perCharacter))
  const samples = Buffer.alloc(count * perCharacter * 2)
  for (let place = 0; place < count; place += 1) {
    const character = characters[place]!
    if (/\s/.test(character)) continue
    const hertz = 220 * 2 ** ((character.codePointAt(0)! % 24) / 12)
    for (let index = 0; index < perCharacter; index += 1) {
      const fade = Math.min(1, index / FADE_SAMPLES, (perCharacter - index) / FADE_SAMPLES)
      const value = Math.sin((2 * Math.PI * hertz * index) / SAMPLES_PER_SECOND) * 8_000 * fade
      samples.writeInt16LE(Math.round(value), (place * perCharacter + index) * 2)
    }
  }
  return samples
}

export function wavHeader(sampleBytes: number): Buffer {
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
