/**
 * JSON whose numbers keep their digits. A number that a double cannot hold is parsed as an opaque value, made by
 * `JSON.rawJSON`: `JSON.stringify` writes it as it was read, `isObject` is false for it, and nobody computes with it.
 */

import { isObject, type JsonObject, type JsonValue, parseJson } from './json.ts'

const { rawJSON } = JSON as unknown as { rawJSON(source: string): JsonValue }
type ExactReviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown
const parse = JSON.parse as (text: string, reviver: ExactReviver) => JsonValue

/** Fewer characters than this hold no number that a double cannot. */
export const EXACT_NUMBER_LENGTH_MIN = 16
/** Where a number may stand that is so long; texts are looked through as well, which costs time and does no harm. */
const MAY_HOLD_LONG_NUMBER = /[[:,\s]-?\d[\d.eE+-]{14}/

/** A number as it was written; a plain one where that says the same. */
export function exactNumber(source: string): JsonValue {
  const value = Number(source)
  return String(value) === source ? value : rawJSON(source)
}

/** As `parseJson`, with every digit of every number; as fast where no number is long. */
export function parseExactJson(text: string): JsonValue | undefined {
  if (!MAY_HOLD_LONG_NUMBER.test(text)) return parseJson(text)
  try {
    return parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined && source.length >= EXACT_NUMBER_LENGTH_MIN
        ? exactNumber(source)
        : value,
    )
  } catch {
    return undefined
  }
}

/** A copy that shares nothing that can be changed; `structuredClone` does not know exact numbers. */
export function copyJson<Value extends JsonValue | undefined>(value: Value): Value
export function copyJson(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map(copyJson)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyJson(member)])) as JsonObject
}
