/** Turns text into tones, as 16-bit mono PCM samples. */

export const SAMPLES_PER_SECOND = 24_000
const SECONDS_PER_CHARACTER = 0.06
const SECONDS_MAX = 60
const FADE_SAMPLES = 120

/** The lowest tone of the deepest voice. */
const DEEPEST_HERTZ = 110
const VOICES_PER_OCTAVE = 8
const TONES = 12

export interface Voice {
  /** 0 is the deepest voice; higher numbers sound higher. */
  readonly pitch: number
  /** 1 is normal speed. */
  readonly speed: number
}

/** Plays one tone per character, and silence for white space. Cuts the text off after a minute. */
export function tonesOf(text: string, { pitch, speed }: Voice): Buffer {
  const characters = [...text]
  const perCharacter = Math.floor((SAMPLES_PER_SECOND * SECONDS_PER_CHARACTER) / speed)
  const count = Math.min(characters.length, Math.floor((SECONDS_MAX * SAMPLES_PER_SECOND) / perCharacter))
  const samples = Buffer.alloc(count * perCharacter * 2)
  const lowestHertz = DEEPEST_HERTZ * 2 ** (pitch / VOICES_PER_OCTAVE)
  for (let place = 0; place < count; place += 1) {
    const character = characters[place]!
    if (/\s/.test(character)) continue
    const hertz = lowestHertz * 2 ** ((character.codePointAt(0)! % TONES) / 12)
    for (let index = 0; index < perCharacter; index += 1) {
      const fade = Math.min(1, index / FADE_SAMPLES, (perCharacter - index) / FADE_SAMPLES)
      const value = Math.sin((2 * Math.PI * hertz * index) / SAMPLES_PER_SECOND) * 8_000 * fade
      samples.writeInt16LE(Math.round(value), (place * perCharacter + index) * 2)
    }
  }
  return samples
}
