/**
 * JSON as data: types, and the few readers that every format needs. Objects may have any key, including `__proto__`, so
 * copy them by spread or `Object.fromEntries`, never by assigning computed keys.
 */

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue | undefined
}

const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): boolean }

/** False for the opaque numbers of lib/exact-json.ts. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value)
}

/** The object itself, or null for anything else. */
export function objectOrNull(value: JsonValue | undefined): JsonObject | null {
  return isObject(value) ? value : null
}

/** A member by a non-numeric name; undefined for anything but an object. Fast, for code that looks at many. */
export function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return typeof value === 'object' && value !== null ? (value as JsonObject)[name] : undefined
}

/** The string itself, or null for anything else and for ''. */
export function textOrNull(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The number itself, or null for anything else (NaN and infinities too). */
export function numberOrNull(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** The array itself, or an empty one for anything else. */
export function arrayOrEmpty(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

/** The parsed text, or undefined when it is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** The value at an RFC 6901 pointer, or undefined. `*` has no special meaning here. */
export function atPointer(value: JsonValue | undefined, pointer: string): JsonValue | undefined {
  let current = value
  for (const part of pointer.split('/').slice(1)) {
    const key = unescapeKey(part)
    if (Array.isArray(current)) current = /^\d{1,9}$/.test(key) ? current[Number(key)] : undefined
    else if (isObject(current) && Object.hasOwn(current, key)) current = current[key]
    else return undefined
  }
  return current
}

/** An object with `value` at an RFC 6901 pointer; empty for the empty pointer. */
export function objectAtPointer(pointer: string, value: JsonValue): JsonObject {
  const keys = pointer.split('/').slice(1).map(unescapeKey)
  const nested = keys.reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), value)
  return keys.length > 0 && isObject(nested) ? nested : {}
}

export function unescapeKey(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}
