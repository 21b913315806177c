/** Every test that docs/security.md names exists, and every table there has rows. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const text = readFileSync(join(ROOT, 'docs/security.md'), 'utf8')
const rows = text.split('\n').filter(line => line.startsWith('| '))
const named = rows.flatMap(line =>
  [...line.matchAll(/\| `(test\/\S+\.ts)`: (.+?) \|$/g)].map(([, file, title]) => [file, title] as [string, string]),
)

/** Whether a file has this text as the title of a test or group, or as part of a title in a template string. */
function hasTitle(source: string, title: string): boolean {
  return (
    [`'${title}'`, `"${title}"`].some(written => source.includes(written)) ||
    new RegExp(`\`[^\`]*${RegExp.escape(title)}\``).test(source)
  )
}

test('each row of docs/security.md names a test that exists', () => {
  const heads = rows.filter(line => / test \|$/.test(line))
  expect(named.length).toBeGreaterThan(80)
  expect(named.length).toBe(rows.length - heads.length)
  const missing = named.filter(([file, title]) => !hasTitle(readFileSync(join(ROOT, file), 'utf8'), title))
  expect(missing).toEqual([])
})

test('each test of this folder is named there', () => {
  const files = new Set(named.map(([file]) => file))
  const tests = globSync('test/security/*.test.ts', { cwd: ROOT }).filter(file => !file.endsWith('promises.test.ts'))
  expect(tests.filter(file => !files.has(file))).toEqual([])
})

test('a title that does not exist is detected', () => {
  expect(hasTitle("test('one thing', () => {})", 'one thing')).toBe(true)
  expect(hasTitle("test('one thing', () => {})", 'one')).toBe(false)
  expect(hasTitle('test(`$COUNT of one thing`, () => {})', 'of one thing')).toBe(true)
})
