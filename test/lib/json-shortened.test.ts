import { expect, test } from 'vitest'
import { byteText, parseUndecoded } from '../../src/lib/byte-text.ts'
import type { JsonValue } from '../../src/lib/json.ts'
import { parseShortened } from '../../src/lib/json-shortened.ts'

const LONG = 'A'.repeat(700_000)

/** The value that `parseUndecoded` reads, with long strings as `x`. */
function expected(text: string): unknown {
  const shorten = (value: JsonValue | undefined): unknown => {
    if (typeof value === 'string') return value.length > 65_536 && !value.includes('\\') ? 'x' : value
    if (Array.isArray(value)) return value.map(shorten)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [shorten(key), shorten(member)]))
  }
  return shorten(parseUndecoded(byteText(Buffer.from(text))))
}

test.each([
  ['nothing', ''],
  ['a number', '12'],
  ['short strings', '{"a":"b","c":["\\"","\\\\",""],"é":"đ"}'],
  ['long strings', `{"created":1,"data":[{"b64_json":"${LONG}"},{"b64_json":"${LONG}","n":1}],"usage":{"a":1}}`],
  ['a long key', `{"${LONG}":1}`],
  ['a long string at the end of a search', `["${'A'.repeat(256 * 1024 - 1)}","${'A'.repeat(256 * 1024)}"]`],
  ['a long string with characters beyond ASCII', `["${'é'.repeat(100_000)}"]`],
  ['a long string that is cut off', `{"a":"${LONG}`],
  ['text behind the end', `["${LONG}"] "`],
  ['a long string with a control character', `["${LONG}\n${LONG}"]`],
  ['a long string with a control character at its end', `["${LONG}\u0001"]`],
  ['a long string with a wrong escape', `["${LONG}\\x"]`],
  ['thousands of strings before a long one', `[${'"a",'.repeat(5_000)}"b"]`],
])('reads %s as when it is parsed whole, with long strings shortened', (_, text) => {
  expect(parseShortened(Buffer.from(text))).toEqual(expected(text))
})

test('leaves long strings with escapes as they are', () => {
  expect(parseShortened(Buffer.from(`["${LONG}\\"${LONG}"]`))).toEqual([`${LONG}"${LONG}`])
})
