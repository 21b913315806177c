/** JSON from outside is read correctly even if the runtime's JSON.parse mistakes a key with an escape for another key. */

import { expect, test, vi } from 'vitest'
import { encodeText } from '../../src/lib/byte-text.ts'
import { parseExactJson } from '../../src/lib/exact-json.ts'
import { atPointer, type JsonValue, parseJson, unescapeKeyCharacters } from '../../src/lib/json.ts'
import { parseScanned, scanJson } from '../../src/lib/json-parse.ts'

async function parseBody(text: string): Promise<JsonValue> {
  const bytes = encodeText(text)
  return parseScanned(Buffer.from(text), bytes, await scanJson(bytes, { valuesMax: 1_000 }))
}

/** Parsing this text triggers a V8 bug: when `AFTER` is parsed next, V8 mistakes its keys for keys of this text. */
const BEFORE = '{"model":"m","inner":[{"a":1,"\\\\u007":1},{"a":1,"\\\\u007":1}],"\\\\u007":1}'
const AFTER = '{"model":"m","inner":[{"a":1,"\\u0074ypes":1},{"a":1,"\\u0074ypes":2}],"\\u0074ools":[]}'
const LONG = `,"long":"${'x'.repeat(20_000)}"}`
const EXACT = ',"deep":[12345678901234567890]}'

test.each<[string, string, (text: string) => unknown]>([
  ['parseJson', AFTER, parseJson],
  ['parseExactJson', AFTER, parseExactJson],
  ['parseExactJson, with a long number', AFTER.replace(/}$/, EXACT), parseExactJson],
  ['a body', AFTER, parseBody],
  ['a large body', AFTER.replace(/}$/, LONG), parseBody],
  ['a body with a long number', AFTER.replace(/}$/, EXACT), parseBody],
])('%s reads keys with escapes whatever keys there were before', async (_what, text, parse) => {
  const kept = JSON.parse(BEFORE) as object
  const { inner, tools } = (await parse(text)) as { inner: object[]; tools: unknown }
  expect(tools).toEqual([])
  expect(inner).toEqual([
    { a: 1, types: 1 },
    { a: 1, types: 2 },
  ])
  expect(Object.keys(kept)).toEqual(['model', 'inner', '\\u007'])
})

test('escapes outside of strings stay errors', async () => {
  for (const text of ['{"a":\\u0031}', '{"a":tru\\u0065}', '[\\u0031,"\\u0061"]']) {
    expect(parseJson(text), text).toBeUndefined()
    expect(parseExactJson(text), text).toBeUndefined()
    await expect(parseBody(text)).rejects.toThrow(SyntaxError)
  }
})

test('unescapes letters, digits and other characters of names, and nothing else', () => {
  const written = '"\\u0061\\u005F\\u0039\\u002d \\u0022\\u005c\\u003c\\u00e9\\u1ebf\\n \\\\u0061 \\\\\\u0061"'
  expect(unescapeKeyCharacters(written)).toBe('"a_9- \\u0022\\u005c\\u003c\\u00e9\\u1ebf\\n \\\\u0061 \\\\a"')
  expect(JSON.parse(unescapeKeyCharacters(written))).toBe(JSON.parse(written))
})

test.each<[string, unknown]>([
  ['', { a: [{ 'b/~': 1 }] }],
  ['/a/0/b~1~0', 1],
  ['/a', [{ 'b/~': 1 }]],
  ['/a/1', undefined],
  ['/a/x', undefined],
  ['/a/0/b~1~0/c', undefined],
  ['/', undefined],
  ['/toString', undefined],
])('the value at %j', (pointer, value) => {
  expect(atPointer({ a: [{ 'b/~': 1 }] }, pointer)).toEqual(value)
})

test('a pointer is read no further than the value goes: one of 15 MB would take 0.3 s', () => {
  const split = vi.spyOn(String.prototype, 'split')
  const slice = vi.spyOn(String.prototype, 'slice')
  expect(atPointer({ a: 1 }, '/a'.repeat(10_000))).toBeUndefined()
  const pieces = split.mock.results.map(({ value }) => (value as string[]).length)
  const looked = slice.mock.calls.length
  vi.restoreAllMocks()
  expect(Math.max(0, ...pieces) + looked).toBeLessThan(10)
})
