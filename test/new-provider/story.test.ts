/** Follows docs/new-provider.md: adds its YAML to a copy of the project, and runs its commands there unchanged. */

import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newFolder } from '../replicas/world.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { freePort, killPrograms, programEnvironment, startProgram } from '../support/program.ts'
import { copyProject, type ProjectCopy } from '../support/project-copy.ts'
import { added } from './catalogue.ts'
import type { Double } from './double.ts'
import { ANSWER, USED } from './double.ts'
import { startOrchard } from './orchard.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/new-provider.md'), 'utf8')
/** Fenced blocks of the documentation page, in order. */
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, kind, text = '']) => ({ kind, text }))
const blockWith = (words: string) => blocks.find(({ text }) => text.includes(words))?.text ?? ''
const yaml = blocks.filter(({ kind }) => kind === 'yaml').map(({ text }) => text)

let database: TestDatabase
let project: ProjectCopy
let orchard: Double
const folder = newFolder()

beforeAll(async () => {
  database = await createTestDatabase()
  project = copyProject()
  orchard = await startOrchard()
})
afterAll(async () => {
  await killPrograms()
  await orchard.close()
  project.remove()
  await database.drop()
  folder.remove()
})

const root = () => dirname(dirname(project.main))
/** What `make generate` runs. */
const generateArguments = () => [join(root(), 'codegen/main.ts'), 'generate']

/** Runs the lines of a block in the copy with a shell, as a reader would paste them. */
async function paste(lines: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const options = { cwd: root(), env: { ...programEnvironment(), ...environment } }
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', lines], options)
  return stdout
}

test('the families on the page are the ones tested here', () => {
  expect(yaml).toContain(added('orchard.yaml'))
  expect(yaml).toContain(added('harbour.yaml'))
  const blocks = added('upstreams.yaml').split(/\n(?= {2}harbour:)/)
  expect(yaml).toEqual(expect.arrayContaining(blocks))
})

test('leads from the provider’s first line to a priced call', async () => {
  const provider = {
    ORCHARD_KEY: 'orchard-secret',
    UPSTREAM_ORCHARD_BASE_URL: `${orchard.url}/api`,
    GATEWAY: '',
    KEY: '',
  }
  const line = blockWith('https://api.orchard.example').replace('https://api.orchard.example', orchard.url)
  expect(await paste(line, provider)).toContain(ANSWER)

  appendFileSync(join(root(), 'catalogue/upstreams.yaml'), `\n${yaml[0]}`)
  writeFileSync(join(root(), 'catalogue/families/orchard.yaml'), yaml[1] ?? '')
  const refused = spawnSync(process.execPath, generateArguments(), { encoding: 'utf8' })
  expect(refused.stdout).toMatch(/found entries (\d+), expected \d+; .*write `entries: \1`/)
  const counts = readFileSync(join(root(), 'catalogue/catalogue.yaml'), 'utf8')
  const entries = Number(/^counts: \{ entries: (\d+)/m.exec(counts)?.[1])
  project.edit('catalogue/catalogue.yaml', `entries: ${entries}`, `entries: ${entries + 1}`)
  execFileSync(process.execPath, generateArguments(), { stdio: 'pipe' })
  const listed = await paste(blockWith('catalogue add'), provider)
  expect(listed).toContain('req/orchard-large-2')
  expect(listed).toContain('all in order')

  const surroundings = { DATABASE_URL: database.url, DATA_DIR: folder.path, LOG_LEVEL: 'info' }
  const key = { ...surroundings, ...provider, UPSTREAM_ORCHARD_API_KEY: provider.ORCHARD_KEY }
  /** Starts a gateway, makes the calls that the page shows, and returns their output. */
  const call = async () => {
    const program = await startProgram({ ...key, PORT: String(await freePort()) }, project.main)
    const email = `person-${program.url.slice(-5)}@example.com`
    const made = await paste(`npm run -s gateway -- account create ${email} --credit 1000 --json`, surroundings)
    const customer = { GATEWAY: program.url, KEY: (JSON.parse(made) as { api_key: string }).api_key }
    const answer = await paste(blockWith('curl -i $GATEWAY'), { ...provider, ...customer })
    program.signal('SIGINT')
    expect(await program.ended).toBe(0)
    return answer
  }
  const first = await call()
  expect(first).toMatch(/"id":"orchard-large-2"/)
  expect(first.split(ANSWER)).toHaveLength(3)
  expect(first.match(/x-svc-cost-vnd: 0\.\d+/g)).toHaveLength(2)

  // Switches to the page's last versions of both files, which also state where the provider reports usage and errors.
  project.edit('catalogue/upstreams.yaml', yaml[0] ?? '', yaml.find(text => text.includes('errors:')) ?? '')
  writeFileSync(join(root(), 'catalogue/families/orchard.yaml'), yaml.find(text => text.includes('/meter/')) ?? '')
  execFileSync(process.execPath, generateArguments(), { stdio: 'pipe' })
  const cost = ((USED.input + USED.output) * 3000) / 1_000_000
  expect((await call()).match(new RegExp(`x-svc-cost-vnd: ${cost}\\b`, 'g'))).toHaveLength(2)
})
