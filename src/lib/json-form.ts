/** Describes forms that JSON values may have, to be checked on the bytes of their text. */

/** What a value may be: any one of the kinds that are set. */
export interface FormFacts {
  /** Any value, whatever it contains. The form's `note` counts such values. */
  readonly anything?: true
  /** The value `null`. */
  readonly none?: true
  /** Any string. */
  readonly text?: true
  /**
   * One of these strings, written without escapes. In the form's note, one bit per string says whether it occurred; the first
   * string has the lowest bit.
   */
  readonly words?: readonly string[]
  /** A string of letters, digits, `_` and `-` that begins with a letter. The form's note is the length of the longest one. */
  readonly token?: true
  /** A non-empty string of letters, digits and `+/=_-`. */
  readonly base64?: true
  /** One of `words`. If a member of an object has this value, the object must also have the key `required`. */
  readonly requiring?: string
  /** A non-empty list of values of this form. */
  readonly each?: Form
  /** An object with no keys but these, written without escapes; any of them may be missing. */
  readonly members?: Readonly<Record<string, Form>>
  /** Keys of which an object must have at least one. */
  readonly needs?: readonly string[]
  /**
   * Index of this form's note. A note is a number about all values that were read with the form; the kinds above say what it
   * counts.
   */
  readonly required?: string
  /** With `words`, index of the note that says which word occurred last. */
  readonly note?: number
  /** With `words`, index of the note that says which word occurred last. */
  readonly noteLast?: number
}

/** Flag in the same number as the bits of an object's keys: some member's value is a `requiring` word. */
export const REQUIRES = 1 << 30

const NO_WORDS: readonly Uint8Array[] = []

export class Form {
  readonly anything: boolean
  readonly none: boolean
  readonly text: boolean
  readonly token: boolean
  readonly base64: boolean
  readonly words: readonly Uint8Array[]
  /** Index in `words` of the word that requires a key; -1 when none does. */
  readonly requiring: number
  readonly each: Form | null
  readonly isObject: boolean
  readonly names: readonly string[]
  /** The object's keys as bytes. */
  readonly keys: readonly Uint8Array[]
  readonly values: readonly Form[]
  /** Bits of the keys of which the object needs at least one; 0 when it needs none. */
  readonly needs: number
  /** Bit of the key that a `requiring` word asks for; 0 when there is none. */
  readonly required: number
  /** Index of the note; -1 when the form has none. */
  readonly note: number
  readonly noteLast: number

  constructor(facts: FormFacts) {
    const { anything = false, none = false, text = false, token = false, words = [], each = null, needs = [] } = facts
    const names = Object.keys(facts.members ?? {})
    this.anything = anything
    this.none = none
    this.text = text
    this.token = token
    this.base64 = facts.base64 ?? false
    this.requiring = words.indexOf(facts.requiring ?? '')
    this.words = words.length === 0 ? NO_WORDS : words.map(bytesOf)
    this.each = each
    this.isObject = facts.members !== undefined
    this.names = names
    this.keys = names.map(bytesOf)
    this.values = Object.values(facts.members ?? {})
    this.needs = needs.reduce((bits, key) => bits | (1 << names.indexOf(key)), 0)
    this.required = facts.required === undefined ? 0 : 1 << names.indexOf(facts.required)
    this.note = facts.note ?? -1
    this.noteLast = facts.noteLast ?? -1
  }

  /** Whether an object of this form has all keys that it must have. `seen`: the bits of its keys, plus REQUIRES if it was set. */
  isComplete(seen: number): boolean {
    if (this.needs !== 0 && (seen & this.needs) === 0) return false
    return (seen & REQUIRES) === 0 || (seen & this.required) !== 0
  }
}

export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'))
}

/** Index of the text that equals the bytes from `start` up to `end` (exclusive); -1 when none does. */
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
 * Checks whether a string has the form, and updates the form's notes. The string's content, without quotes, is from `start` up to
 * `end`. Returns -1 if it does not have the form, REQUIRES for a `requiring` word, else 0.
 */
export function takeText(form: Form, bytes: Uint8Array, start: number, end: number, notes: number[]): number {
  if (form.text) return 0
  if (form.base64) return isBase64(bytes, start, end) ? 0 : -1
  if (form.token) {
    if (!isToken(bytes, start, end)) return -1
    if (form.note >= 0 && end - start > (notes[form.note] as number)) notes[form.note] = end - start
    return 0
  }
  const word = indexOfText(form.words, bytes, start, end)
  if (word < 0) return -1
  if (form.note >= 0) notes[form.note] = (notes[form.note] as number) | (1 << word)
  if (form.noteLast >= 0) notes[form.noteLast] = word
  return word === form.requiring ? REQUIRES : 0
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

/** Whether a value of this form can contain anything at the path. A step `*` stands for any key. */
export function mayHold(form: Form, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined || form.anything) return true
  if (form.each !== null && mayHold(form.each, rest)) return true
  return form.values.some((value, index) => (step === '*' || step === form.names[index]) && mayHold(value, rest))
}
