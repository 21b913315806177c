/**
 * JSON whose numbers keep their digits. A number that does not fit a double becomes an opaque value made by `JSON.rawJSON`, which
 * `JSON.stringify` writes unchanged. `isObject` is false for such a value, and no code calculates with it.
 */

import { isObject, type JsonObject, type JsonValue, parseJson, parseText } from './json.ts'

const { rawJSON } = JSON as unknown as { rawJSON(source: string): JsonValue }
type ExactReviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown
const parse = JSON.parse as (text: string, reviver: ExactReviver) => JsonValue

/** Length in characters of the shortest numbers that can lose digits as a double. */
export const EXACT_NUMBER_LENGTH_MIN = 16
/** Finds where a long number may be. It also matches inside strings, which costs time but does no harm. */
const MAY_HOLD_LONG_NUMBER = /[[:,\s]-?\d[\d.eE+-]{14}/

/** Parses a number. If a plain number would lose digits, returns an opaque value that keeps them. */
export function exactNumber(source: string): JsonValue {
  const value = Number(source)
  return String(value) === source ? value : rawJSON(source)
}

/** Like `parseJson`, but numbers keep every digit; just as fast when no number is long. */
export function parseExactJson(text: string): JsonValue | undefined {
  if (!MAY_HOLD_LONG_NUMBER.test(text)) return parseJson(text)
  try {
    return parseText(text, given =>
      parse(given, (_key, value, { source }) =>
        typeof value === 'number' && source !== undefined && source.length >= EXACT_NUMBER_LENGTH_MIN
          ? exactNumber(source)
          : value,
      ),
    )
  } catch {
    return undefined
  }
}

/** Makes a deep copy; `structuredClone` cannot copy exact numbers. */
export function copyJson<Value extends JsonValue | undefined>(value: Value): Value
export function copyJson(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map(copyJson)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyJson(member)])) as JsonObject
}
