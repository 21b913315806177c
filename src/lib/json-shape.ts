/** Shapes: descriptions of JSON values, like small schemas, that json-outline.ts checks against raw bytes without parsing. */

/** The kinds of value that a shape allows. If several are set, a value of any of these kinds has the shape. */
export interface ShapeOptions {
  /** Any value. The shape's note (see `note`) counts such values. */
  readonly anything?: true
  /** The value `null`. */
  readonly none?: true
  /** Any string. */
  readonly text?: true
  /**
   * One of these strings, written without escapes. The shape's note is a bit mask of the strings that occurred; the first
   * string has the lowest bit.
   */
  readonly words?: readonly string[]
  /** A string of letters, digits, `_` and `-` that begins with a letter. The shape's note is the length of the longest. */
  readonly token?: true
  /** A non-empty string of letters, digits and `+/=_-`. */
  readonly base64?: true
  /** One of `words`. If a member has this value, its object must also have the key that the object's shape calls `required`. */
  readonly requiring?: string
  /** A non-empty list of values of this shape. */
  readonly each?: Shape
  /** An object with no keys but these, written without escapes; any of them may be missing. */
  readonly members?: Readonly<Record<string, Shape>>
  /** An object must have at least one of these keys. */
  readonly needs?: readonly string[]
  /** Key that an object must have if one of its members has a `requiring` value. */
  readonly required?: string
  /**
   * Index of this shape's note in the list of notes. A note is a number about all values that were checked against the shape;
   * its meaning depends on the kind (see above).
   */
  readonly note?: number
  /** With `words`: index of another note, the index in `words` of the string that occurred last. */
  readonly noteLast?: number
}

/** Extra bit in the mask of an object's keys: some member has a `requiring` value. */
export const REQUIRES = 1 << 30

const NO_WORDS: readonly Uint8Array[] = []

export class Shape {
  readonly anything: boolean
  readonly none: boolean
  readonly text: boolean
  readonly token: boolean
  readonly base64: boolean
  readonly words: readonly Uint8Array[]
  /** Index in `words` of the `requiring` value; -1 if there is none. */
  readonly requiring: number
  readonly each: Shape | null
  readonly isObject: boolean
  readonly names: readonly string[]
  /** `names` as bytes. */
  readonly keys: readonly Uint8Array[]
  readonly values: readonly Shape[]
  /** Mask of the keys of which at least one must be present; 0 if all may be missing. */
  readonly needs: number
  /** Mask of the key that a `requiring` value makes mandatory; 0 if there is none. */
  readonly required: number
  readonly note: number
  readonly noteLast: number

  constructor(options: ShapeOptions) {
    const { anything = false, none = false, text = false, token = false, words = [], each = null, needs = [] } = options
    const names = Object.keys(options.members ?? {})
    this.anything = anything
    this.none = none
    this.text = text
    this.token = token
    this.base64 = options.base64 ?? false
    this.requiring = words.indexOf(options.requiring ?? '')
    this.words = words.length === 0 ? NO_WORDS : words.map(bytesOf)
    this.each = each
    this.isObject = options.members !== undefined
    this.names = names
    this.keys = names.map(bytesOf)
    this.values = Object.values(options.members ?? {})
    this.needs = needs.reduce((bits, key) => bits | (1 << names.indexOf(key)), 0)
    this.required = options.required === undefined ? 0 : 1 << names.indexOf(options.required)
    this.note = options.note ?? -1
    this.noteLast = options.noteLast ?? -1
  }

  /** Whether an object has every key that this shape demands. `seen`: the mask of its keys, with REQUIRES where it applies. */
  isComplete(seen: number): boolean {
    if (this.needs !== 0 && (seen & this.needs) === 0) return false
    return (seen & REQUIRES) === 0 || (seen & this.required) !== 0
  }
}

export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'))
}

/** Index of the text that equals the bytes from `start` up to `end` (exclusive); -1 if there is none. */
export function indexOfText(texts: readonly Uint8Array[], bytes: Uint8Array, start: number, end: number): number {
  const length = end - start
  for (let index = 0; index < texts.length; index++) {
    const one = texts[index] as Uint8Array
    if (one.length !== length) continue
    let same = 0
    while (same < length && one[same] === bytes[start + same]) same++
    if (same === length) return index
  }
  return -1
}

/**
 * Checks a string against the shape and updates the shape's notes. `start` and `end` (exclusive) delimit the string's content,
 * without quotes. Returns -1 if the string does not have the shape, REQUIRES if it is the `requiring` value, else 0.
 */
export function takeText(shape: Shape, bytes: Uint8Array, start: number, end: number, notes: number[]): number {
  if (shape.text) return 0
  if (shape.base64) return isBase64(bytes, start, end) ? 0 : -1
  if (shape.token) {
    if (!isToken(bytes, start, end)) return -1
    if (shape.note >= 0 && end - start > (notes[shape.note] as number)) notes[shape.note] = end - start
    return 0
  }
  const word = indexOfText(shape.words, bytes, start, end)
  if (word < 0) return -1
  if (shape.note >= 0) notes[shape.note] = (notes[shape.note] as number) | (1 << word)
  if (shape.noteLast >= 0) notes[shape.noteLast] = word
  return word === shape.requiring ? REQUIRES : 0
}

function isBase64(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = bytes[at] as number
    const isSign = code === 43 || code === 45 || code === 47 || code === 61 || code === 95
    if (!isLetter(code) && (code < 48 || code > 57) && !isSign) return false
  }
  return end > start
}

function isToken(bytes: Uint8Array, start: number, end: number): boolean {
  if (start === end || !isLetter(bytes[start] as number)) return false
  for (let at = start + 1; at < end; at++) {
    const code = bytes[at] as number
    if (!isLetter(code) && (code < 48 || code > 57) && code !== 95 && code !== 45) return false
  }
  return true
}

function isLetter(code: number): boolean {
  const small = code | 32
  return small >= 97 && small <= 122
}

/** Whether a value of this shape can contain anything at the path. A step `*` stands for any key. */
export function mayHold(shape: Shape, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined || shape.anything) return true
  if (shape.each !== null && mayHold(shape.each, rest)) return true
  return shape.values.some((value, index) => (step === '*' || step === shape.names[index]) && mayHold(value, rest))
}
