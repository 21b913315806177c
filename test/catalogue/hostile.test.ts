/** However broken the files are, the compiler never throws and reports findings with line numbers. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isError } from '../../codegen/findings.ts'
import { compiler, goodTexts } from './support.ts'

const sources = goodTexts()

/** Fragments with a meaning in YAML or in the schemas. */
const piece = fc.constantFrom(
  ...[
    '{',
    '}',
    '[',
    ']',
    ': ',
    '- ',
    '\n',
    '\t',
    '  ',
    '#',
    '"',
    "'",
    '&a ',
    '*a',
    '<<: ',
    '!!',
    '? ',
    '| ',
    '%',
    '\0',
    '\r',
  ],
  ...[
    '0',
    '-1',
    '1e9',
    '.5',
    '50.000',
    '~',
    'null',
    'true',
    '__proto__',
    'constructor',
    'price',
    'alpha-1',
    'north',
    '/a/*',
  ],
)

test('no edit of the files makes the compiler throw, and every finding names a line that exists', () => {
  const edit = fc.record({
    file: fc.nat({ max: sources.length - 1 }),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat({ max: 40 }),
    text: fc.array(piece, { maxLength: 4 }).map(pieces => pieces.join('')),
  })
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), edits => {
      const texts = sources.map(({ path, text }, index) => {
        const edited = edits
          .filter(({ file }) => file === index)
          .reduce((result, { at, length, text: inserted }) => {
            const offset = Math.floor(at * result.length)
            return result.slice(0, offset) + inserted + result.slice(offset + length)
          }, text)
        return { path, text: edited }
      })
      const { findings, tables } = compiler.compile(texts)
      expect(tables === null).toBe(findings.some(isError))
      for (const { file, line, column, message, fix } of findings) {
        const source = texts.find(({ path }) => path === file)?.text ?? ''
        expect(line).toBeGreaterThanOrEqual(1)
        expect(line).toBeLessThanOrEqual(source.split('\n').length)
        expect(column).toBeGreaterThanOrEqual(1)
        expect([message, fix].join('; ')).not.toMatch(/undefined|\[object/)
      }
    }),
    { numRuns: 150, seed: 7 },
  )
})

test('keys named like parts of Object.prototype are unknown keys', () => {
  const texts = sources.map(({ path, text }) => ({
    path,
    text: path.endsWith('beta.yaml')
      ? text.replace('vendor:', '__proto__: { family: x }\nconstructor: 1\nvendor:')
      : text,
  }))
  expect(compiler.compile(texts).findings.map(finding => finding.message)).toEqual([
    'unknown key "__proto__"',
    'unknown key "constructor"',
  ])
})

test.each([
  ['brackets that do not close', `a: ${'['.repeat(20_000)}`],
  ['braces', `a: ${'{ a: '.repeat(3_000)}1${' }'.repeat(3_000)}`],
  ['indentation', Array.from({ length: 2_000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')],
  ['what YAML can still read', `a: ${'['.repeat(80)}${']'.repeat(80)}`],
])('endless nesting is one finding: %s', (_, text) => {
  const texts = [...sources, { path: 'catalogue/families/deep.yaml', text }]
  const { findings } = compiler.compile(texts)
  expect(findings).toMatchObject([
    { file: 'catalogue/families/deep.yaml', message: 'nested deeper than 64 levels', code: 'yaml-syntax' },
  ])
})
