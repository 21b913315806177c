/** Numbers keep all their digits, whichever parser reads the text. */

import { expect, test } from 'vitest'
import { encodeText } from '../../src/lib/byte-text.ts'
import { copyJson, parseExactJson } from '../../src/lib/exact-json.ts'
import { isObject, type JsonValue } from '../../src/lib/json.ts'
import { parseScanned, scanJson } from '../../src/lib/json-parse.ts'

const scanned = async (text: string) =>
  parseScanned(Buffer.from(text), encodeText(text), await scanJson(encodeText(text), { valuesMax: 1e6 }))

const NUMBERS = [
  '12345678901234567890',
  '-12345678901234567890',
  '9007199254740993',
  '1234567890123456',
  '0.12345678901234567891',
  '1.0000000000000000000000',
  '1E400000000000000000000',
  '-0.0000000000000000000000001e+10',
  '12',
]

test.each(NUMBERS)('%s keeps its digits, wherever it is in the text', async number => {
  for (const text of [`{"a":[${number}]}`, `{"a":{"b" : ${number} ,"c":"${number}","__proto__":[ ${number}\n]}}`]) {
    const compact = text.replace(/[ \n]/g, '')
    for (const value of [parseExactJson(text) as JsonValue, await scanned(text)]) {
      expect(JSON.stringify(value)).toBe(compact)
      expect(JSON.stringify(copyJson(value))).toBe(compact)
    }
  }
})

test('a number that fits a double is a plain number, and one that does not is not mistaken for a JSON object', async () => {
  const { a } = (await scanned('{"a":[1234567890123456,0.30000000000000004,12345678901234567890]}')) as { a: unknown[] }
  expect(a.map(value => typeof value)).toEqual(['number', 'number', 'object'])
  expect(isObject(a[2])).toBe(false)
  // The gateway interprets the members of the outermost object, so their numbers become doubles.
  expect(await scanned('{"seed":12345678901234567890}')).toEqual({ seed: Number('12345678901234567890') })
})

test.each([
  '00000000000000001',
  '12345678901234567890x',
  'truetruetruetrue',
  '1.23456789012345.6',
  '-',
  '12345678901234567.',
])('refuses %s, which is not a number', async text => {
  await expect(scanned(`{"a":[${text}]}`)).rejects.toThrow(SyntaxError)
  expect(parseExactJson(`{"a":[${text}]}`)).toBeUndefined()
})
