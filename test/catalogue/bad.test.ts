/**
 * Every finding code has a fixture: a folder bad/<code>/ or mistakes in a file bad/<topic>.txt. A folder has faulty files,
 * which replace those of the good catalogue, and the exact text that must be printed. A topic's file lists many small mistakes
 * of a few lines each.
 */

import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { CODES, type Code } from '../../codegen/codes.ts'
import { formatFindings, isError } from '../../codegen/findings.ts'
import { readCatalogue, type SourceText } from '../../codegen/source.ts'
import { type Mistake, makeMistake, parseMistakes, printMistakes } from './mistakes.ts'
import { compiler, goodTexts, withFiles } from './support.ts'

const bad = join(import.meta.dirname, 'bad')
const names = readdirSync(bad, { withFileTypes: true })
const folders = names.filter(name => name.isDirectory()).map(({ name }) => name)
const topics = names.filter(name => name.isFile()).map(({ name }) => name)
const isUpdate = process.env.UPDATE_EXPECTED === '1'
/** Options for checking. `today` decides which entries retire soon or have retired. */
const OPTIONS = { lenient: false, today: '2026-11-21' }
/** Codes of findings that no source file can cause; generate.test.ts and command.test.ts test them. */
const ELSEWHERE: readonly string[] = ['stale', 'unreadable-file']

const scratch = mkdtempSync(join(tmpdir(), 'catalogue-mistakes-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

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

test('every code has a fixture, and every fixture has a code', () => {
  const codes = Object.keys(CODES).filter(code => !ELSEWHERE.includes(code))
  expect(folders.filter(folder => !codes.includes(folder))).toEqual([])
  const found = topics.flatMap(topic => [...readFileSync(join(bad, topic), 'utf8').matchAll(/^> .*\[(.+)\]$/gm)])
  const shown = new Set([...folders, ...found.map(([, code]) => code)])
  expect(codes.filter(code => !shown.has(code))).toEqual([])
})

test.each(folders)('%s is reported with exactly the expected text', code => {
  const { findings, tables } = compiler.compile(fixtureTexts(code), OPTIONS)
  const expectation = join(bad, code, 'expected.txt')
  const text = `${formatFindings(findings, 'text')}\n`
  if (isUpdate) writeFileSync(expectation, text)
  expect(text).toBe(readFileSync(expectation, 'utf8'))
  expect(findings.map(finding => finding.code)).toContain(code as Code)
  expect(tables === null).toBe(findings.some(isError))
})

/** Returns what `check` finds in a copy of the good catalogue with this mistake. */
function findingsOf(mistake: Mistake) {
  const directory = mkdtempSync(join(scratch, 'copy-'))
  cpSync(join(import.meta.dirname, 'good'), directory, { recursive: true })
  makeMistake(directory, mistake)
  const compiled = compiler.compile(readCatalogue(directory, 'catalogue'), OPTIONS)
  return { ...compiled, text: formatFindings(compiled.findings, 'text') }
}

describe.each(topics)('mistakes of %s', topic => {
  const file = join(bad, topic)
  const { head, mistakes } = parseMistakes(readFileSync(file, 'utf8'))
  if (isUpdate) {
    const updated = mistakes.map(mistake => ({ ...mistake, expected: findingsOf(mistake).text }))
    writeFileSync(file, printMistakes(head, updated))
  }

  test('no two mistakes have the same title', () => {
    expect(mistakes.filter(({ title }, index) => mistakes[index - 1]?.title === title)).toEqual([])
    expect(new Set(mistakes.map(({ title }) => title)).size).toBe(mistakes.length)
  })

  test.each(parseMistakes(readFileSync(file, 'utf8')).mistakes)('$title', mistake => {
    const { findings, tables, text } = findingsOf(mistake)
    expect(text).toBe(mistake.expected)
    expect(tables === null).toBe(findings.some(isError))
  })
})
