/**
 * A gateway warns operators who changed the catalogue's YAML but forgot to run `make generate`. It does so when it starts and
 * on every SIGHUP.
 */

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { freePort, killPrograms, type Program, startProgram } from '../support/program.ts'
import { copyProject, type ProjectCopy } from '../support/project-copy.ts'
import { gatewayEnvironment, newFolder } from './world.ts'

const OLDER = /the YAML in catalogue\/ is newer than the tables in use; run `make generate`/
const BROKEN = /the YAML in catalogue\/ has errors, and the tables in use are older/
const REPLACED = 'all workers have been replaced"'

let database: TestDatabase
let project: ProjectCopy
const folder = newFolder()
beforeAll(async () => {
  database = await createTestDatabase()
  project = copyProject()
})
afterAll(async () => {
  await killPrograms()
  project.remove()
  await database.drop()
  folder.remove()
})

async function start(extra: Record<string, string>): Promise<Program> {
  const environment = gatewayEnvironment({
    port: await freePort(),
    databaseUrl: database.url,
    dataDir: folder.path,
    providerUrl: 'http://127.0.0.1:9',
  })
  return startProgram({ ...environment, ...extra }, project.main)
}

const count = (program: Program, text: string | RegExp) => program.log.split(text).length - 1
const root = () => dirname(dirname(project.main))
const generate = () => execFileSync(process.execPath, [join(root(), 'codegen/main.ts'), 'generate'], { stdio: 'pipe' })
const agree = () =>
  execFileSync(process.execPath, [project.main, 'catalogue', 'digest', '--json'], { encoding: 'utf8', stdio: 'pipe' })

test('a process warns of old tables at its start', async () => {
  project.edit('catalogue/catalogue.yaml', 'hold_output_tokens: 1024', 'hold_output_tokens: 1025')
  const program = await start({})
  await program.logged(OLDER)
  program.signal('SIGINT')
  expect(await program.ended).toBe(0)
})

test('a supervisor warns of old tables at its start and at each SIGHUP, until they agree with the YAML', async () => {
  const program = await start({ WORKERS: '1' })
  await program.logged(OLDER)

  generate()
  expect(JSON.parse(agree())).toMatchObject({ agree: true })
  program.signal('SIGHUP')
  await expect.poll(() => count(program, REPLACED), { timeout: 60_000 }).toBe(1)

  // A changed comment does not affect the tables, although they are compared again.
  project.edit('catalogue/catalogue.yaml', '# How many entries', '# So many entries')
  writeFileSync(join(root(), 'catalogue/families/README.md'), 'No YAML.')
  program.signal('SIGHUP')
  await expect.poll(() => count(program, REPLACED), { timeout: 60_000 }).toBe(2)

  project.edit('catalogue/catalogue.yaml', 'hold_output_tokens: 1025', 'hold_output_tokens: none')
  program.signal('SIGHUP')
  await program.logged(BROKEN)
  expect(count(program, OLDER)).toBe(1)

  program.signal('SIGINT')
  expect(await program.ended).toBe(0)
})
