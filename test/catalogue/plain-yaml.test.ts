/** The fast reader of plain YAML reads a file exactly as the full parser does, or leaves the file to that parser. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseYaml } from '../../codegen/parse.ts'
import { readPlainYaml } from '../../codegen/plain-yaml.ts'
import { goodTexts } from './support.ts'

const folder = join(import.meta.dirname, '../../catalogue')
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.yaml'))
const texts = [
  ...names.map(name => readFileSync(join(folder, name), 'utf8')),
  ...goodTexts().map(({ text }) => text),
  'a: one\n  two\n  three\nb:\n- c: "d # e"\n  f: {}\n- []\n- g\nh: { i: [1, 2], j: \'k\' } # l\n',
]

/** Expects both parsers to agree, unless the fast reader declines. Compares JSON, too, as it shows the order of members. */
function expectSame(text: string): unknown {
  const value = readPlainYaml(text)
  if (value === undefined) return undefined
  const parsed = parseYaml('x.yaml', text)
  expect(parsed.findings, text).toEqual([])
  expect(JSON.stringify(value), text).toBe(JSON.stringify(parsed.value))
  expect(value, text).toEqual(parsed.value)
  return value
}

test.each(names)('%s is read by the fast reader', name => {
  expect(expectSame(readFileSync(join(folder, name), 'utf8'))).toBeDefined()
})

test.each([
  'a: 1\nb: -2\nc: 1.5\nd: 9007199254740991\n',
  'a: true\nb: false\nc: null\nd: trueish\n',
  'a: 2026-11-22\nb: 1m\nc: -1x\nd: 4o\n',
  'a: b:c\nd: e#f\n',
  'a: it is # a comment\n# another\n\nb: c#d\n',
  'a: <think>\nb: $x\nc: /v1\nd: Xin chào\ne: é\n',
  'a:\n  # within\n  b:\n    c: d\n  e: f\n',
  'a:\n  - b\n  - c: d\n    e: f\n  -   g: h\n      i: j\n',
  'a:\n- b\n- c\nd: e\n',
  'a: "b: c, #d"\nb: \'x "y"\'\n',
  'a: [b, c d, "e", [1, 2], { f: g, h: [] }]\nb: { c: http://x/y }\n',
  'a: [\n  b,\n  c\n ]\nd: {\n   e: f }\n',
  'a: b\n  c d\n  e, [f]\nf: g\n',
  'a: b   \nc: d',
])('%j is read by the fast reader', text => {
  expect(expectSame(text)).toBeDefined()
})

test.each([
  ...[
    '',
    '# none\n',
    'text',
    '- a\n',
    '[a]',
    '{ a: b }',
    ' a: b\n',
    '\uFEFFa: b\n',
    'a: b\r\n',
    'a:\tb\n',
    'a: \u200Bb\n',
  ],
  ...[
    'a: 50.000\n',
    'a: 1.0\n',
    'a: 1e3\n',
    'a: 010\n',
    'a: 0x1F\n',
    'a: -0\n',
    'a: 12345678901234567890\n',
    'a: .5\n',
  ],
  ...['a: True\n', 'a: NULL\n', 'a: ~\n', 'a:\n', 'a: # nothing\n', 'a:\nb: c\n', 'a: -\n', 'a: - b\n', 'a: -x\n'],
  ...[
    'a: &b c\n',
    'a: *b\n',
    'a: !!str b\n',
    'a: |\n  b\n',
    'a: >-\n  b\n',
    'a: @b\n',
    'a: `b`\n',
    'a: %b\n',
    'a: ? b\n',
  ],
  ...['<<: b\n', '? a\n: b\n', '1: a\n', '"a": b\n', '__proto__: a\n', 'a: b\na: c\n', 'a: { b: c, b: d }\n'],
  ...['a: b: c\n', 'a: b:\n', 'a: "b" c\n', 'a: "b\\n"\n', "a: 'it''s'\n", 'a: "b\n  c"\n', 'a: "b\n', 'a: "b"#c\n'],
  ...[
    'a: [b\n',
    'a: [b]]\n',
    'a: [b,]\n',
    'a: [b c: d]\n',
    'a: { b }\n',
    'a: [b, # c\n  d]\n',
    'a: [\nb]\n',
    'a: [b\n\n  , c]\n',
  ],
  ...[
    'a: b\n\n  c\n',
    'a: b # c\n  d\n',
    'a: b\n  # c\n  d\n',
    'a: b\n  c: d\n',
    'a:\n   b: c\n  d: e\n',
    'a:\n  - b\n c: d\n',
  ],
  ...[
    'a:\n  - b\n  c: d\n',
    'a: b\n- c\n',
    'a:\n  -\n    b\n',
    'a:\n  - - b\n',
    '---\na: b\n',
    'a: b\n---\nc: d\n',
    'a: b\n...\n',
  ],
  `a: ${'['.repeat(40)}${']'.repeat(40)}\n`,
  ...['%YAML 1.2\n---\na: b\n', '<<<<<<< ours\na: b\n', 'a: b\n=======\n', `${'k'.repeat(200)}: b\n`, 'a: \u00a0b\n'],
])('%j is left to the full parser', text => {
  expect(readPlainYaml(text)).toBeUndefined()
})

const piece = fc.oneof(
  fc.constantFrom(
    ...['\n', ' ', '  ', ': ', ':', ',', ' #', '#', '- ', '-', '[', ']', '{', '}', '"', "'", '\\', '?', '|', '>'],
  ),
  fc.constantFrom(
    ...['&a', '*a', '!', '%', '@', '`', '~', '<<: ', '---', '...', '\t', '\r', '\u00a0', '\uFEFF', 'é', '中'],
  ),
  fc.constantFrom(
    ...['0', '1', '-1', '.5', '1.50', '1e3', '0x1', '1_000', 'true', 'Null', 'no', '2026-11-22', '__proto__: 1'],
  ),
)

test('however a file is changed, the fast reader reads it as the full parser does, or leaves it to the full parser', () => {
  const edit = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat({ max: 6 }),
    pieces: fc.array(piece, { maxLength: 3 }),
  })
  let read = 0
  fc.assert(
    fc.property(
      fc.nat({ max: texts.length - 1 }),
      fc.nat(),
      fc.array(edit, { minLength: 1, maxLength: 3 }),
      (index, begin, edits) => {
        const lines = (texts[index] as string).split('\n')
        // Starts at a top-level key, because most excerpts that start elsewhere are rejected.
        const tops = lines.flatMap((line, at) => (/^[a-z]/.test(line) ? [at] : []))
        const from = tops[begin % tops.length] as number
        const whole = lines.slice(from, from + 30).join('\n')
        const text = edits.reduce((result, { at, length, pieces }) => {
          const offset = Math.floor(at * result.length)
          return result.slice(0, offset) + pieces.join('') + result.slice(offset + length)
        }, whole)
        if (expectSame(text) !== undefined) read++
      },
    ),
    { numRuns: 4_000, seed: 11 },
  )
  expect(read).toBeGreaterThan(300)
})
