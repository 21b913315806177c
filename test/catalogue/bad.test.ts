/** Each finding has a catalogue with that mistake under bad/<code>/, laid over the good one, and its exact text. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CODES, type Code } from '../../codegen/codes.ts'
import { formatFindings, isError } from '../../codegen/findings.ts'
import { readCatalogue, type SourceText } from '../../codegen/source.ts'
import { compiler, goodTexts, withFiles } from './support.ts'

const bad = join(import.meta.dirname, 'bad')
/** Ends of entries are judged by this day. */
const OPTIONS = { lenient: false, today: '2026-11-21' }
/** What no source file can show: see generate.test.ts and command.test.ts. */
const ELSEWHERE: readonly string[] = ['stale', 'unreadable-file']

function fixtureTexts(code: string) {
  const directory = join(bad, code)
  const changes: Record<string, string | null> = {}
  const unreadable: SourceText[] = []
  for (const source of readCatalogue(directory, 'catalogue')) {
    if (source.path.endsWith('.txt')) continue
    changes[source.path.replace('catalogue/', '')] = source.text
    if (source.parsed !== undefined) unreadable.push(source)
  }
  const absent = join(directory, 'absent.txt')
  if (existsSync(absent)) changes[readFileSync(absent, 'utf8').trim()] = null
  return withFiles(changes).map(source => unreadable.find(({ path }) => path === source.path) ?? source)
}

test('the good catalogue has no findings', () => {
  expect(formatFindings(compiler.compile(goodTexts(), OPTIONS).findings, 'text')).toBe('')
})

test('every code has a fixture, and every fixture a code', () => {
  const codes = Object.keys(CODES).filter(code => !ELSEWHERE.includes(code))
  expect(readdirSync(bad).toSorted()).toEqual(codes.toSorted())
})

test.each(readdirSync(bad))('%s is found and said in these words', code => {
  const { findings, tables } = compiler.compile(fixtureTexts(code), OPTIONS)
  const expectation = join(bad, code, 'expected.txt')
  const text = `${formatFindings(findings, 'text')}\n`
  if (process.env.UPDATE_EXPECTED === '1') writeFileSync(expectation, text)
  expect(text).toBe(readFileSync(expectation, 'utf8'))
  expect(findings.map(finding => finding.code)).toContain(code as Code)
  expect(tables === null).toBe(findings.some(isError))
})
