/** The JSON scanner and parser, which can pause anywhere, agree with JSON.parse. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ByteText, encodeText } from '../../src/lib/byte-text.ts'
import type { JsonValue } from '../../src/lib/json.ts'
import { parseScanned, scanJson } from '../../src/lib/json-parse.ts'
import { JsonScan } from '../../src/lib/json-scan.ts'
import { decodeKey, membersOf } from '../../src/lib/json-text.ts'

const MANY = { valuesMax: 1_000_000 }

function countValues(value: JsonValue): number {
  if (value === null || typeof value !== 'object') return 1
  return 1 + Object.values(value).reduce<number>((sum, inner) => sum + countValues(inner as JsonValue), 0)
}

/** Scans the text in batches of this many steps, and returns the finished scan. */
function scanBySteps(text: ByteText, steps: number): JsonScan {
  const scan = new JsonScan(text, MANY)
  while (!scan.run(steps));
  return scan
}

test('counts the values and finds the members of any object, wherever it stops in between', () => {
  const body = fc.dictionary(fc.constantFrom('a', 'b"', '\\', '__proto__', 'ế', ''), fc.jsonValue(), { maxKeys: 5 })
  const space = fc.constantFrom(undefined, 1, '\t')
  fc.assert(
    fc.property(body, space, fc.integer({ min: 1, max: 9 }), (object, indent, steps) => {
      const text = encodeText(JSON.stringify(object, null, indent))
      const scan = scanBySteps(text, steps)
      const members = scan.members.map(({ keyStart, keyEnd, valueStart, valueEnd }) => {
        return { key: decodeKey(text.slice(keyStart + 1, keyEnd - 1)), keyStart, valueStart, valueEnd }
      })
      expect(members).toEqual(membersOf(text))
      const values = countValues(object as JsonValue)
      const exact = { valuesMax: values }
      expect(() => new JsonScan(text, exact).run(1e9)).not.toThrow()
      if (values > 1) expect(() => new JsonScan(text, { valuesMax: values - 1 }).run(1e9)).toThrow('more than')
    }),
    { numRuns: 500 },
  )
})

test('finds the same in any text, JSON or not, wherever it stops in between', () => {
  const unit = fc.constantFrom('"', '"', '\\', '{', '}', '[', ']', ',', ':', ' ', 'a', '1', '1234567890123456', '"k":')
  const text = fc.string({ unit, maxLength: 60 })
  const found = ({ members, longTexts, longNumbers }: JsonScan) => ({ members, longTexts, longNumbers })
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 5 }), (any, steps) => {
      const bytes = encodeText(any)
      const whole = new JsonScan(bytes, MANY)
      expect(whole.run(1e9)).toBe(true)
      expect(found(scanBySteps(bytes, steps))).toEqual(found(whole))
    }),
    { numRuns: 2_000 },
  )
})

const ESCAPES = ['\\n', '\\"', '\\\\', '\\u0041', '\\ud83d\\ude00', 'ế', '😀', 'a', '\\\\u0041']

async function parse(text: string) {
  const bytes = encodeText(text)
  return parseScanned(Buffer.from(text), bytes, await scanJson(bytes, MANY))
}

test('decodes long texts full of escapes as JSON.parse does, wherever they are cut', async () => {
  for (const [index, written] of ESCAPES.entries()) {
    for (let shift = 0; shift < Buffer.byteLength(written); shift++) {
      const long = 'x'.repeat(shift) + written.repeat(Math.ceil((1.2 * 1024 * 1024) / written.length))
      const text = `{"__proto__":["${long}",{"a":"${long}"}],"b":${index},"\\u0062":"${written}"}`
      expect(JSON.stringify(await parse(text))).toBe(JSON.stringify(JSON.parse(text)))
    }
  }
})

test('spells out millions of escaped letters of names in many turns of the event loop', async () => {
  for (const shift of [0, 1, 2, 3, 4, 5]) {
    const text = `["${'x'.repeat(shift)}",${Array(6)
      .fill(`{"\\u0061":"${'\\u0061ế\\\\😀'.repeat(10_000)}"}`)
      .join(',')}]`
    let turns = 0
    let isParsed = false
    const count = () => {
      turns++
      if (!isParsed) setImmediate(count)
    }
    setImmediate(count)
    const value = await parse(text)
    isParsed = true
    expect(value).toEqual(JSON.parse(text))
    expect(turns).toBeGreaterThan(8)
  }
})

test.each([
  ['an invalid escape', 'bad \\x escape'],
  ['a line end', 'line \n end'],
  ['half an escape', '\\u00'],
])('refuses a long text with %s', async (_name, fault) => {
  const text = `{"a":"${'\\n'.repeat(700_000)}${fault}${'\\n'.repeat(700_000)}"}`
  await expect(parse(text)).rejects.toThrow(SyntaxError)
})
