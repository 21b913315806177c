/**
 * The outline reader, which finds the members of an object without parsing their values, accepts only what JSON.parse accepts,
 * finds the same members, and detects values of an expected shape (such as a list of objects with certain keys).
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { byteText } from '../../src/lib/byte-text.ts'
import { isObject, unescapeKeyCharacters } from '../../src/lib/json.ts'
import { OUTLINE_BYTES_MAX, readOutline } from '../../src/lib/json-outline.ts'
import { JsonScan } from '../../src/lib/json-scan.ts'
import { mayHold, Shape } from '../../src/lib/json-shape.ts'
import { RUN_BYTES_MAX, runEnd, searched } from '../../src/lib/text-run.ts'

const NO_SHAPE = new Shape({ members: {} })

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

/**
 * Whether the outline reader should accept the bytes: an object whose own keys are ASCII without escapes, and in which long
 * numbers occur only at the top level.
 */
function isSimple(bytes: Buffer): boolean {
  const scan = new JsonScan(byteText(bytes), { valuesMax: 1e9 })
  try {
    scan.run(Number.POSITIVE_INFINITY)
  } catch {
    return false
  }
  const keys = scan.members.map(({ keyStart, keyEnd }) => bytes.toString('latin1', keyStart, keyEnd))
  return scan.longNumbers.length === 0 && isObject(parsed(bytes)) && keys.every(key => !/[\\\x7f-\xff]/.test(key))
}

function expectSame(bytes: Buffer): void {
  const outline = readOutline(bytes, NO_SHAPE)
  expect(outline !== null, bytes.toString('latin1')).toBe(isSimple(bytes))
  if (outline === null) return
  const scan = new JsonScan(byteText(bytes), { valuesMax: 1e9 })
  scan.run(Number.POSITIVE_INFINITY)
  expect(outline.members).toEqual(scan.members)
  const text = bytes.toString('utf8')
  if (unescapeKeyCharacters(text) !== text) expect(outline.mayEscapeKeyCharacters, text).toBe(true)
}

/** Fragments of JSON, and of text that is almost JSON. */
const PIECES = [
  ...['{', '}', '[', ']', ',', ':', '"', '\\', ' ', '\t', '\n', '\r', '\f', '\u00a0', '\ufeff', '\0', '\x1f', '\x7f'],
  ...['true', 'false', 'null', 'tru', 'nul', 'True', 'NaN', '0', '1', '-', '+', '.', 'e', 'E', '00', '1e5', '-0.0'],
  ...['12345678901234567890', '0.1234567890123456', '1e400', '"a"', '"b":', '{"a":', '[1,', '\\u00e', '\\u00e9', '\\"'],
  ...[
    '\\\\',
    '\\/',
    '\\b',
    '\\x',
    '\\ud83d',
    '\\u0074',
    'ế',
    '😀',
    'x'.repeat(15),
    'x'.repeat(16),
    'x'.repeat(40),
    '"__proto__":',
  ],
]

test('accepts a text exactly where JSON.parse does, and finds the same members', () => {
  const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map(pieces => pieces.join(''))
  const wrapped = fc.tuple(
    fc.constantFrom('', '{"k":', '{"k":"', '{"k":[', '{"k":{"l":'),
    text,
    fc.constantFrom('', '}', '"}', ']}', '}}'),
  )
  fc.assert(
    fc.property(wrapped, parts => expectSame(Buffer.from(parts.join('')))),
    { numRuns: 20_000 },
  )
})

test('accepts any JSON object however it is written, and with a byte changed refuses it if JSON.parse does', () => {
  const body = fc.dictionary(fc.constantFrom('a', 'messages', '__proto__', ''), fc.jsonValue(), { maxKeys: 4 })
  const space = fc.constantFrom(undefined, 1, '\t')
  fc.assert(
    fc.property(body, space, fc.nat(), fc.nat(255), (object, indent, place, byte) => {
      const bytes = Buffer.from(JSON.stringify(object, null, indent))
      expectSame(bytes)
      bytes[place % bytes.length] = byte
      expectSame(bytes)
    }),
    { numRuns: 5_000 },
  )
})

test.each<[string, boolean]>([
  ['{"a":"\\u0074ools"}', true],
  ['{"a":{"\\u005f":1}}', true],
  ['{"a":["\\u002D"]}', true],
  ['{"a":"\\u001b[31m \\u00e9 \\u1074"}', false],
  ['{"a":"\\\\u0074ools"}', false],
])('knows whether %s may have characters of names written as escapes', (text, mayEscapeKeyCharacters) => {
  expect(readOutline(Buffer.from(text), NO_SHAPE)?.mayEscapeKeyCharacters).toBe(mayEscapeKeyCharacters)
})

test('does not read leftovers of the text before', () => {
  readOutline(Buffer.from(`{"a":"${'\\u00e9'.repeat(100)}"}`), NO_SHAPE)
  for (const text of ['{"a":"', '{"a":"\\', '{"a":"\\u', '{"a":"\\u00', '{"a":tru', '{"a":1.', '{"a"', '{', '']) {
    expect(readOutline(Buffer.from(text), NO_SHAPE), text).toBeNull()
  }
})

test('leaves long texts, deep nesting and long keys to other readers', () => {
  const long = (length: number) => Buffer.from(`{"a":"${'x'.repeat(length - 8)}"}`)
  expect(readOutline(long(OUTLINE_BYTES_MAX), NO_SHAPE)).not.toBeNull()
  expect(readOutline(long(OUTLINE_BYTES_MAX + 1), NO_SHAPE)).toBeNull()
  const deep = (levels: number) => Buffer.from(`{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`)
  expect(readOutline(deep(500), NO_SHAPE)).not.toBeNull()
  expect(readOutline(deep(501), NO_SHAPE)).toBeNull()
  const keyed = (length: number) => Buffer.from(`{"a":{"${'k'.repeat(length - 2)}":1}}`)
  expect(readOutline(keyed(65_536), NO_SHAPE)).not.toBeNull()
  expect(readOutline(keyed(65_537), NO_SHAPE)).toBeNull()
})

describe('shapes', () => {
  const TEXT = new Shape({ text: true })
  const item = new Shape({
    members: {
      kind: new Shape({ words: ['one', 'two', 'three'], note: 0, noteLast: 1 }),
      name: new Shape({ token: true, note: 2 }),
      text: new Shape({ text: true, none: true, each: TEXT }),
      rest: new Shape({ anything: true, note: 3 }),
      state: new Shape({ words: ['open', 'sealed'], requiring: 'sealed' }),
      seal: new Shape({ base64: true }),
    },
    needs: ['kind', 'name'],
    required: 'seal',
  })
  const root = new Shape({ members: { items: new Shape({ each: item }), text: TEXT } })
  const read = (text: string) => readOutline(Buffer.from(text), root)

  test.each([
    '{}',
    '{"other":[{"kind":"four"}]}',
    '{"items":[{"kind":"one"}],"text":"\\u00e9"}',
    '{ "items" : [ { "name" : "a-1_B" , "text" : null } , { "kind" : "two", "text" : [ "" ] } ] }',
    '{"items":[{"kind":"one","state":"sealed","seal":"aZ09+/=_-"},{"kind":"one","state":"open"},{"kind":"one"}]}',
    '{"items":[{"kind":"one","rest":{"kind":"four","items":[]}},{"kind":"two","rest":7}]}',
  ])('%s is plain', text => {
    expect(read(text)?.plain).toBe(true)
  })

  test.each([
    ['an unknown key', '{"items":[{"kind":"one","more":1}]}'],
    ['a key in another case', '{"items":[{"kind":"one","Text":""}]}'],
    ['a key with an escape', '{"items":[{"kind":"one","t\\u0065xt":""}]}'],
    ['an unknown word', '{"items":[{"kind":"four"}]}'],
    ['a word with an escape', '{"items":[{"kind":"\\u006fne"}]}'],
    ['a second, unknown word of the same key', '{"items":[{"kind":"one","kind":"four"}]}'],
    ['a needed key missing', '{"items":[{"text":""}]}'],
    ['a needed key missing in an empty object', '{"items":[{}]}'],
    ['a needed key in the object before', '{"items":[{"kind":"one"},{"text":""}]}'],
    ['a needed key further inside', '{"items":[{"text":"","rest":{"kind":"one"}},{"text":""}]}'],
    ['a required key missing', '{"items":[{"kind":"one","state":"sealed"}]}'],
    ['a required key in the object before', '{"items":[{"kind":"one","seal":"a"},{"kind":"one","state":"sealed"}]}'],
    ['a required key, of another shape', '{"items":[{"kind":"one","state":"sealed","seal":"a.b"}]}'],
    ['a required key with an empty text', '{"items":[{"kind":"one","state":"sealed","seal":""}]}'],
    ['an empty list', '{"items":[]}'],
    ['an object for a list', '{"items":{"kind":"one"}}'],
    ['a list for an object', '{"items":[[{"kind":"one"}]]}'],
    ['a text for a list', '{"items":"one"}'],
    ['a number for a text', '{"text":7}'],
    ['null for a text', '{"text":null}'],
    ['false where null may be', '{"items":[{"kind":"one","text":false}]}'],
    ['an object where text or a list may be', '{"items":[{"kind":"one","text":{}}]}'],
    ['a name that begins with a digit', '{"items":[{"name":"1a"}]}'],
    ['a name of other characters', '{"items":[{"name":"a.b"}]}'],
    ['an empty name', '{"items":[{"name":""}]}'],
    ['__proto__', '{"items":[{"kind":"one","__proto__":{}}]}'],
    ['something odd before what is plain', '{"items":[{"kind":"four"},{"kind":"one"}],"text":""}'],
  ])('%s is not plain', (_what, text) => {
    expect(parsed(Buffer.from(text))).toBeDefined()
    expect(read(text)?.plain).toBe(false)
  })

  test('notes which words occur and which comes last, the longest name, and how many values there are', () => {
    const text = '{"items":[{"kind":"three","rest":[]},{"kind":"one","name":"abc","rest":1},{"name":"ab"}]}'
    expect(read(text)?.notes.slice(0, 4)).toEqual([0b101, 0, 3, 2])
  })

  test('know at which paths a value is possible', () => {
    const paths = ['items', 'items/*/kind', 'items/0/rest/deep/down', '*/*/name', 'text', 'items/*/text/3']
    for (const path of paths) expect(mayHold(root, path.split('/')), path).toBe(true)
    const others = ['other', 'items/*/more', 'items/*/kind/x', 'text/x', '*/*/more']
    for (const path of others) expect(mayHold(root, path.split('/')), path).toBe(false)
  })
})

test('a stretch of text ends at the first quote, backslash or control character, wherever that is', () => {
  const codes = Array.from({ length: 256 }, (_, code) => code)
  const ends = codes.filter(code => code < 32 || code === 34 || code === 92)
  for (let start = 0; start < 40; start++) {
    for (let length = 0; length < 40; length++) {
      const end = ends[(start * 40 + length) % ends.length] as number
      searched.fill(120, 0, 100)
      searched[start + length] = end
      expect(runEnd(start)).toBe(start + length)
    }
  }
  for (const code of codes) {
    searched.set([code, 0])
    expect(runEnd(0)).toBe(ends.includes(code) ? 0 : 1)
  }
  searched.fill(120, 0, RUN_BYTES_MAX - 1)
  searched[RUN_BYTES_MAX - 1] = 0
  expect(runEnd(0)).toBe(RUN_BYTES_MAX - 1)
})
