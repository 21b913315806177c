/**
 * Checks the structure of the project: each folder of src/ imports only from lower floors (layers, see `FLOORS`), no import is
 * circular, files are short, each folder has a README, no two migrations have the same number, and tests do not mock modules.
 */

import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LINES_MAX = 350
/** Tests that share a gateway may be in one long file, because every further file would have to start another gateway. */
const TEST_LINES_MAX = 700

const FLOORS: Readonly<Record<string, number>> = {
  start: 8,
  main: 8,
  app: 8,
  cli: 8,
  http: 7,
  dashboard: 7,
  sandbox: 7,
  telemetry: 7,
  endpoints: 6,
  pipeline: 5,
  audit: 5,
  translate: 4,
  dialect: 3,
  alerts: 3,
  formats: 2,
  upstream: 2,
  ledger: 2,
  accounts: 2,
  payments: 2,
  operations: 2,
  catalogue: 1,
  conversation: 1,
  lib: 0,
  generated: 0,
  errors: 0,
}
/** Floors on which folders may import from each other. */
const OPEN_FLOORS: ReadonlySet<number> = new Set([0, 8])

/** The folders that contain code. Each may import only from those after it in this list. */
const TREES = ['bench', 'test', 'codegen', '.ci', 'src']

const sources = globSync(['src/**/*.ts', 'src/*.js'], { cwd: ROOT }).sort()
const files = TREES.flatMap(tree => globSync([`${tree}/**/*.ts`, `${tree}/*.js`], { cwd: ROOT }).sort())
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

function roomOf(file: string): string {
  return (file.split('/')[1] as string).replace(/\.(ts|js)$/, '')
}

function importsOf(file: string): string[] {
  const specifiers = [...read(file).matchAll(/(?:from|import\(|import)\s*'(\.[^']+)'/g)].map(
    match => match[1] as string,
  )
  return specifiers.map(specifier => relative(ROOT, resolve(ROOT, dirname(file), specifier)))
}

const imports = new Map(files.map(file => [file, importsOf(file)]))

test('every room has a floor', () => {
  expect([...new Set(sources.map(roomOf))].filter(room => !(room in FLOORS))).toEqual([])
})

test('a file imports its own room and lower floors only', () => {
  const wrong: string[] = []
  for (const file of sources) {
    for (const target of imports.get(file) ?? []) {
      if (!target.startsWith('src/')) {
        if (!target.endsWith('package.json')) wrong.push(`${file} leaves src: ${target}`)
        continue
      }
      const [from, to] = [FLOORS[roomOf(file)] as number, FLOORS[roomOf(target)] as number]
      const allowed = roomOf(file) === roomOf(target) || to < from || (to === from && OPEN_FLOORS.has(to))
      if (!allowed) wrong.push(`${file} (floor ${from}) imports ${target} (floor ${to})`)
    }
  }
  expect(wrong).toEqual([])
})

test('the engine imports no tools or tests, and those import each other in one direction only', () => {
  const treeOf = (file: string) => TREES.indexOf(file.split('/')[0] as string)
  const wrong = [...imports].flatMap(([file, targets]) =>
    targets
      .filter(target => treeOf(target) >= 0 && treeOf(target) < treeOf(file))
      .map(target => `${file} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('no imports are circular', () => {
  const circles: string[] = []
  const state = new Map<string, 'open' | 'done'>()
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
      return
    }
    state.set(file, 'open')
    for (const target of imports.get(file) ?? []) visit(target, [...path, file])
    state.set(file, 'done')
  }
  for (const file of files) visit(file, [])
  expect(circles).toEqual([])
})

test(`no file has more than ${LINES_MAX} lines, and no file of tests more than ${TEST_LINES_MAX}`, () => {
  const long = files
    .filter(file => roomOf(file) !== 'generated')
    .map(file => [file, read(file).split('\n').length - 1] as const)
    .filter(([file, lines]) => lines > (file.endsWith('.test.ts') ? TEST_LINES_MAX : LINES_MAX))
  expect(long).toEqual([])
})

test('each folder of the engine has a README', () => {
  const folders = [...new Set(sources.map(dirname))].filter(folder => roomOf(`${folder}/`) !== 'generated')
  const readmes = new Set(globSync('src/**/README.md', { cwd: ROOT }))
  expect(folders.filter(folder => !readmes.has(`${folder}/README.md`))).toEqual([])
})

test('no two migrations have the same number', () => {
  const numbers = globSync('src/ledger/migrations/*.sql', { cwd: ROOT }).map(file => basename(file).slice(0, 4))
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([])
})

test('no test mocks a module, because other tests of its worker may have loaded it', () => {
  const mocks = /\bvi\.(do)?[mM]ock\(/
  expect(files.filter(file => mocks.test(read(file)))).toEqual([])
})
