/**
 * Splits UTF-8 text into the pieces that byte-pair merging works on, following the o200k pattern: words, each with the space or
 * punctuation mark before it; numbers of up to three digits; punctuation; white space. It takes one pass, without regular
 * expressions or substrings.
 */

/** Character classes. `MARK` counts as a letter inside words and as punctuation elsewhere. */
const OTHER = 0
const UPPER = 1
const LOWER = 2
const LETTER = 3
const MARK = 4
const NUMBER = 5
const SPACE = 6
const BREAK = 7

/** How far the splitter looks ahead to know where a piece ends, in bytes. */
const LOOK_AHEAD_BYTES = 8
const PAGE_CHARACTERS = 256
const pages: (Uint8Array | undefined)[] = []
const ascii = page(0)

export class PieceReader {
  readonly bytes: Uint8Array
  readonly #pieceBytesMax: number
  /**
   * Where to stop looking for the end of the current piece. Without this limit, a long word would be scanned to its end again
   * for each piece that is cut from it.
   */
  #limit = 0
  /** Number of bytes in the character that `#classAt` read last. */
  #width = 1

  constructor(bytes: Uint8Array, pieceBytesMax: number) {
    this.bytes = bytes
    this.#pieceBytesMax = pieceBytesMax
  }

  /** End of the piece that begins at `start`, a position inside the text. Pieces that are too long are cut between characters. */
  pieceEnd(start: number): number {
    this.#limit = Math.min(this.bytes.length, start + this.#pieceBytesMax + LOOK_AHEAD_BYTES)
    const end = this.#match(start)
    if (end - start <= this.#pieceBytesMax) return end
    let cut = start + this.#pieceBytesMax
    while (cut > start + 1 && (this.bytes[cut]! & 0xc0) === 0x80) cut -= 1
    return cut
  }

  #match(start: number): number {
    const kind = this.#classAt(start)
    const next = start + this.#width
    if (kind === NUMBER) return this.#numberEnd(next)
    if (kind === OTHER || kind === SPACE || kind === MARK) {
      const word = this.#wordEnd(next, kind !== MARK)
      if (word > 0) return this.#contractionEnd(word)
    }
    if (kind === UPPER || kind === LOWER || kind === LETTER || kind === MARK) {
      return this.#contractionEnd(this.#wordEnd(start, true))
    }
    const punctuation = this.bytes[start] === 0x20 ? next : start
    const end = this.#punctuationEnd(punctuation)
    return end > punctuation ? this.#tailEnd(end) : this.#spaceEnd(start)
  }

  /**
   * End of the word that begins at `start`: upper-case letters, then lower-case ones. 0 if there is no word.
   * Upper-case letters alone count as a word only if `capitalsAlone` is set.
   */
  #wordEnd(start: number, capitalsAlone: boolean): number {
    let position = start
    let afterLetter = 0
    let kind = this.#classAt(position)
    for (; kind === UPPER || kind === LETTER || kind === MARK; kind = this.#classAt(position)) {
      position += this.#width
      if (kind !== UPPER) afterLetter = position
    }
    if (kind === LOWER) {
      for (; kind === LOWER || kind === LETTER || kind === MARK; kind = this.#classAt(position)) position += this.#width
      return position
    }
    if (afterLetter > 0) return afterLetter
    return capitalsAlone && position > start ? position : 0
  }

  /** `'s`, `'t`, `'ll` and other contractions belong to the word before them. */
  #contractionEnd(end: number): number {
    if (this.bytes[end] !== 0x27) return end
    const first = (this.bytes[end + 1] ?? 0) | 0x20
    const second = (this.bytes[end + 2] ?? 0) | 0x20
    if (first === 0x73 || first === 0x64 || first === 0x6d || first === 0x74) return end + 2
    const pair = (first === 0x6c && second === 0x6c) || ((first === 0x76 || first === 0x72) && second === 0x65)
    return pair ? end + 3 : end
  }

  #numberEnd(second: number): number {
    let position = second
    for (let count = 1; count < 3 && this.#classAt(position) === NUMBER; count += 1) position += this.#width
    return position
  }

  #punctuationEnd(start: number): number {
    let position = start
    for (let kind = this.#classAt(position); kind === OTHER || kind === MARK; kind = this.#classAt(position)) {
      position += this.#width
    }
    return position
  }

  /** Position after any line breaks and slashes that follow punctuation. */
  #tailEnd(start: number): number {
    let position = start
    while (
      position < this.#limit &&
      (this.bytes[position] === 0x0a || this.bytes[position] === 0x0d || this.bytes[position] === 0x2f)
    )
      position += 1
    return position
  }

  /**
   * End of a run of white space: after its last line break. White space without a line break ends before its last character,
   * which belongs to the next word.
   */
  #spaceEnd(start: number): number {
    let position = start
    let before = start
    let afterBreak = 0
    for (let kind = this.#classAt(position); kind === SPACE || kind === BREAK; kind = this.#classAt(position)) {
      before = position
      position += this.#width
      if (kind === BREAK) afterBreak = position
    }
    if (afterBreak > 0) return afterBreak
    return position >= this.bytes.length || before === start ? position : before
  }

  /** Class of the character at `position`; -1 at the end of the text. */
  #classAt(position: number): number {
    const { bytes } = this
    if (position >= this.#limit) return -1
    const lead = bytes[position]!
    this.#width = 1
    if (lead < 0x80) return ascii[lead]!
    let point = lead
    if (lead < 0xe0) {
      this.#width = 2
      point = ((lead & 0x1f) << 6) | (bytes[position + 1]! & 0x3f)
    } else if (lead < 0xf0) {
      this.#width = 3
      point = ((lead & 0x0f) << 12) | ((bytes[position + 1]! & 0x3f) << 6) | (bytes[position + 2]! & 0x3f)
    } else {
      this.#width = 4
      point =
        ((lead & 0x07) << 18) |
        ((bytes[position + 1]! & 0x3f) << 12) |
        ((bytes[position + 2]! & 0x3f) << 6) |
        (bytes[position + 3]! & 0x3f)
    }
    const number = point >> 8
    return (pages[number] ?? page(number))[point & 0xff]!
  }
}

/** Classes of 256 consecutive characters, computed when first needed. */
function page(number: number): Uint8Array {
  const made = new Uint8Array(PAGE_CHARACTERS)
  for (let index = 0; index < PAGE_CHARACTERS; index += 1) {
    made[index] = classOf(String.fromCodePoint(number * PAGE_CHARACTERS + index))
  }
  pages[number] = made
  return made
}

function classOf(character: string): number {
  if (/[\r\n]/.test(character)) return BREAK
  if (/\s/.test(character)) return SPACE
  if (/[\p{Lu}\p{Lt}]/u.test(character)) return UPPER
  if (/\p{Ll}/u.test(character)) return LOWER
  if (/[\p{Lm}\p{Lo}]/u.test(character)) return LETTER
  if (/\p{M}/u.test(character)) return MARK
  return /\p{N}/u.test(character) ? NUMBER : OTHER
}
