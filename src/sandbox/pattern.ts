/** Generates a short string that matches a simple regular expression: literals, classes, groups, alternatives, quantifiers. */

interface Lengths {
  readonly lengthMin: number
  readonly lengthMax: number
}

/**
 * Maximum number of repetitions for a quantifier without an upper bound, such as `*`. It repeats that often only to reach
 * `lengthMin`.
 */
const REPEATS_MAX = 4_096
const DEPTH_MAX = 50

class Reader {
  readonly source: string
  position = 0
  /** How many more characters quantifiers must add so that the string reaches `lengthMin`. */
  missing: number

  constructor(source: string, missing: number) {
    this.source = source
    this.missing = missing
  }

  get next(): string {
    return this.source[this.position] ?? ''
  }

  take(): string {
    const character = this.next
    this.position += 1
    return character
  }
}

/**
 * Returns a string that matches the pattern. Ignores look-around and back-references, so the string may not match a pattern
 * with these.
 */
export function patternString(pattern: string, lengths: Lengths): string {
  const shortest = readAlternatives(new Reader(pattern, 0), 0)
  const missing = Math.min(lengths.lengthMin - shortest.length, REPEATS_MAX)
  const text = missing > 0 ? readAlternatives(new Reader(pattern, missing), 0) : shortest
  return text.length > lengths.lengthMax ? text.slice(0, lengths.lengthMax) : text
}

function readAlternatives(reader: Reader, depth: number): string {
  let chosen: string | null = null
  while (true) {
    const sequence = readSequence(reader, depth)
    chosen ??= sequence
    if (reader.next !== '|') return chosen
    reader.take()
  }
}

function readSequence(reader: Reader, depth: number): string {
  let text = ''
  while (reader.position < reader.source.length && reader.next !== '|' && reader.next !== ')') {
    const unit = readUnit(reader, depth)
    const { least, most } = readQuantifier(reader)
    const room = unit === '' ? 0 : Math.floor(Math.max(0, reader.missing) / unit.length)
    const times = Math.min(most, least + room, Math.ceil(REPEATS_MAX / Math.max(1, unit.length)))
    reader.missing -= (times - least) * unit.length
    text += unit.repeat(times)
    if (text.length > REPEATS_MAX) return text.slice(0, REPEATS_MAX)
  }
  return text
}

function readUnit(reader: Reader, depth: number): string {
  const character = reader.take()
  if (character === '^' || character === '$') return ''
  if (character === '.') return 'a'
  if (character === '[') return readClass(reader)
  if (character === '\\') return readEscape(reader)
  if (character !== '(') return character
  const skipped = readGroupHead(reader)
  const inner = depth > DEPTH_MAX ? '' : readAlternatives(reader, depth + 1)
  if (reader.next === ')') reader.take()
  return skipped ? '' : inner
}

/**
 * Skips the `?…` after a group's opening parenthesis, if any. Returns true for look-around, which adds nothing to the string.
 */
function readGroupHead(reader: Reader): boolean {
  if (reader.next !== '?') return false
  const head =
    /^\?(?::|<?[=!]|<[A-Za-z_]\w*>)/.exec(reader.source.slice(reader.position, reader.position + 80))?.[0] ?? '?'
  reader.position += head.length
  return head.includes('=') || head.includes('!')
}

function readEscape(reader: Reader): string {
  const character = reader.take()
  const simple: Readonly<Record<string, string>> = {
    d: '1',
    w: 'a',
    s: ' ',
    D: 'a',
    W: '-',
    S: 'a',
    b: '',
    B: '',
    n: '\n',
    t: '\t',
    r: '\r',
  }
  if (Object.hasOwn(simple, character)) return simple[character]!
  if (character === 'p' || character === 'P') {
    const property = /^\{[^}]*\}/.exec(reader.source.slice(reader.position, reader.position + 60))?.[0] ?? ''
    reader.position += property.length
    return property.startsWith('{N') ? '1' : property.startsWith('{Lu') ? 'A' : 'a'
  }
  const digits = character === 'u' ? 4 : character === 'x' ? 2 : 0
  const hex = reader.source.slice(reader.position, reader.position + digits)
  if (digits > 0 && /^[0-9a-fA-F]+$/.test(hex) && hex.length === digits) {
    reader.position += digits
    return String.fromCharCode(Number.parseInt(hex, 16))
  }
  return character
}

function readClass(reader: Reader): string {
  const start = reader.position
  if (reader.next === '^') reader.take()
  let first = ''
  while (reader.position < reader.source.length && reader.next !== ']') {
    const unit = reader.take() === '\\' ? readEscape(reader) : reader.source[reader.position - 1]!
    if (first === '') first = unit
  }
  reader.take()
  const body = reader.source.slice(start, reader.position)
  if (!body.startsWith('^')) return first
  try {
    const test = new RegExp(`^[${body}$`)
    return [...'a1A -_.~'].find(candidate => test.test(candidate)) ?? 'a'
  } catch {
    return 'a'
  }
}

function readQuantifier(reader: Reader): { least: number; most: number } {
  const match = /^(?:[*+?]|\{(\d{1,6})(,?)(\d{0,6})\})\??/.exec(
    reader.source.slice(reader.position, reader.position + 20),
  )
  if (match === null) return { least: 1, most: 1 }
  reader.position += match[0].length
  if (match[1] === undefined) {
    const symbol = match[0][0]
    return { least: symbol === '+' ? 1 : 0, most: symbol === '?' ? 1 : REPEATS_MAX }
  }
  const least = Math.min(Number(match[1]), REPEATS_MAX)
  const most = match[2] === '' ? least : match[3] === '' ? REPEATS_MAX : Math.min(Number(match[3]), REPEATS_MAX)
  return { least, most: Math.max(least, most) }
}
