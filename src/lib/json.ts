/**
 * JSON as data: types, and the few readers that every format needs. Objects may have any key, including `__proto__`, so copy
 * them with spread, `Object.fromEntries` or `setMember`, never by assigning computed keys.
 */

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue | undefined
}

const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): boolean }

/** Whether a value is a JSON object. False for the numbers of lib/exact-json.ts, although JavaScript sees them as objects. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value)
}

/** The value if it is an object, else null. */
export function objectOrNull(value: JsonValue | undefined): JsonObject | null {
  return isObject(value) ? value : null
}

/**
 * The member with this name; undefined if the value is not an object. For speed, arrays are not distinguished from objects, so
 * `name` must not be an index.
 */
export function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return typeof value === 'object' && value !== null ? (value as JsonObject)[name] : undefined
}

/** Sets a member with any name. Assigning `__proto__` would set the prototype, so that member is defined instead. */
export function setMember(object: JsonObject, key: string, value: JsonValue | undefined): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  } else object[key] = value
}

/** The value if it is a non-empty string, else null. */
export function textOrNull(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The value if it is a finite number, else null. */
export function numberOrNull(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** The value if it is an array, else an empty one. */
export function arrayOrEmpty(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

/**
 * JSON.parse, with a workaround for a bug in V8 14.6 (Node 26.10, as of 2026-11): V8 can misread a key that contains an escape
 * as the key at the same position in the preceding object. For example, it misreads `"\u0074ools"` (that is, `tools`) if the
 * preceding object has the key `"\\u007"`, a backslash followed by `u007`. Clients could use the bug to hide fields from the
 * gateway, but not to forge them, because the misread key always contains a backslash.
 */
export function parseText(text: string, parse: (text: string) => unknown = JSON.parse): JsonValue {
  // The original is parsed too, because spelling out the escapes could make invalid JSON valid.
  const value = parse(text) as JsonValue
  return hasEscapedKeyCharacters(text) ? (parse(unescapeKeyCharacters(text)) as JsonValue) : value
}

/** Whether the text writes characters that occur in field names as escapes, such as `\u0074` for `t`. No serializer does so. */
export function hasEscapedKeyCharacters(text: string): boolean {
  return text.includes('\\u00') && ESCAPED_KEY_CHARACTER.test(text)
}

/**
 * Whether an escape such as `\u0074` may stand for a character of a field name, judging only by the third of its four digits.
 * `digitCode`: the character code of that digit.
 */
export function mayBeKeyCharacter(digitCode: number): boolean {
  return digitCode >= DIGIT_TWO && digitCode <= DIGIT_SEVEN
}

/** The same JSON, with escapes of characters that occur in field names replaced by the characters themselves. */
export function unescapeKeyCharacters(text: string): string {
  return text.replace(ESCAPE, one =>
    ESCAPED_KEY_CHARACTER.test(one) ? String.fromCharCode(Number(`0x${one.slice(2)}`)) : one,
  )
}

const DIGIT_TWO = 0x32
const DIGIT_SEVEN = 0x37
const ESCAPED_KEY_CHARACTER = /\\u00(?:2[4de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])/i
const ESCAPE = /\\(?:u[0-9a-f]{4}|.)/gis

/** Parses text; undefined when it is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return parseText(text)
  } catch {
    return undefined
  }
}

/** The value at an RFC 6901 pointer, or undefined. `*` is not a wildcard here. */
export function atPointer(value: JsonValue | undefined, pointer: string): JsonValue | undefined {
  let current = value
  // Not split at once: a schema of a client's can have a pointer with millions of parts.
  for (let at = pointer.indexOf('/'); at >= 0; ) {
    const next = pointer.indexOf('/', at + 1)
    const key = unescapeKey(pointer.slice(at + 1, next < 0 ? pointer.length : next))
    at = next
    if (Array.isArray(current)) current = /^\d{1,9}$/.test(key) ? current[Number(key)] : undefined
    else if (isObject(current) && Object.hasOwn(current, key)) current = current[key]
    else return undefined
  }
  return current
}

/** An object with `value` at an RFC 6901 pointer; `{}` for the empty pointer. */
export function objectAtPointer(pointer: string, value: JsonValue): JsonObject {
  const keys = pointer.split('/').slice(1).map(unescapeKey)
  const nested = keys.reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), value)
  return keys.length > 0 && isObject(nested) ? nested : {}
}

export function unescapeKey(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}
