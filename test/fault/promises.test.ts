/** Every promise in docs/reliability.md names a test, which must exist under that title. */

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const text = readFileSync(`${ROOT}docs/reliability.md`, 'utf8')
const named = [...text.matchAll(/`(test\/[\w/.-]+)`: “([^”]+)”/g)].map(([, file, title]) => [file, title] as const)

test('every test that the promises name exists', () => {
  const missing = named.filter(([file, title]) => {
    const path = `${ROOT}${file}`
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(title as string)
  })
  expect(missing).toEqual([])
})

test('every promise and every fault names its test', () => {
  const rows = text
    .split('\n')
    .filter(line => /^\| (\d+|[a-z0-9])[^|]* \|.*\|/.test(line) && line.split('|').length === 5)
  const bare = rows.filter(line => !/`test\/[\w/.-]+`: “/.test(line) && !/^\| (fault|what) /.test(line))
  expect(rows.length).toBeGreaterThan(25)
  expect(bare).toEqual([])
})
