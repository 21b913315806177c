import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { Closing } from '../../src/app/closing.ts'
import { spoolFolder } from '../../src/ledger/adopt.ts'
import { writeSettlement } from '../../src/ledger/spool-line.ts'
import { createLog } from '../../src/lib/log.ts'
import { generateSecretSet } from '../../src/lib/secrets.ts'
import { childrenOf } from '../fault/support/child.ts'
import { createCustomer, settlement } from '../ledger/world.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { freePort, killPrograms, programEnvironment, startProgram } from '../support/program.ts'

const MAIN = fileURLToPath(new URL('../../src/start.js', import.meta.url))
const PORT = '18999'
const SECRETS = { KEY_PEPPERS: generateSecretSet(), KEY_ENCRYPTION_KEYS: generateSecretSet() }

const database = await createTestDatabase()
const dataDir = mkdtempSync(join(tmpdir(), 'gateway-stop-'))
afterAll(async () => {
  await killPrograms()
  rmSync(dataDir, { recursive: true, force: true })
  await database.drop()
})

test.each([
  ['a gateway', {}, ''],
  ['a gateway with workers', { WORKERS: '2' }, '-1'],
])('%s that is settling its spool at start-up still exits at SIGTERM', async (_, workers, seat) => {
  const customer = await createCustomer(database.sql, 1_000_000_000n)
  // createCustomer encrypts the key with secrets that the program does not have, so the program would refuse to start.
  await database.sql`update api_key set encryption_id = null, encryption_iv = null, ciphertext = null`
  const [row] = await database.sql`select database_id from database_identity`
  const folder = spoolFolder({ spoolDir: join(dataDir, 'spool') }, `${hostname()}-${PORT}${seat}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, '00000001.jsonl'), writeSettlement(settlement(customer), row?.database_id))
  const environment = {
    ...programEnvironment(),
    ...SECRETS,
    PORT,
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'warn',
    ...workers,
  }
  const child = spawn(process.execPath, [MAIN, 'serve', '--json'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  const exited = new Promise<number | null>(resolve => child.once('exit', resolve))
  await database.sql.begin(async transaction => {
    await transaction.unsafe('lock table usage in access exclusive mode')
    const waiting = `select count(*)::integer as count from pg_locks where relation = 'usage'::regclass and not granted`
    while ((await transaction.unsafe(waiting))[0]?.count === 0) await sleep(50)
    const processes = [child.pid as number, ...childrenOf(child.pid as number)]
    child.kill('SIGTERM')
    expect(await Promise.race([exited, sleep(30_000, 'still there')])).toBe(130)
    expect(processes.filter(isAlive)).toEqual([])
  })
  expect(output).not.toContain('"ready":true')
})

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`)
}

/** Environment variables that make every process of a program run this source first. */
function preload(source: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(source)}` }
}

test('a process kept alive by a leftover connection exits in time all the same, and the log names the connection', async () => {
  const server = createServer(socket => void socket.resume().on('error', () => {}))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const program = await startProgram({
    ...SECRETS,
    PORT: String(await freePort()),
    DATA_DIR: join(dataDir, 'kept'),
    DATABASE_URL: database.url,
    LIMIT_DRAIN_IDLE_MS: '0',
    LIMIT_CLOSE_MS: '3000',
    ...preload(`import { connect } from 'node:net'; connect(${port}, '127.0.0.1')`),
  })
  program.signal('SIGTERM')
  expect(await program.ended).toBe(1)
  const line = program.log.split('\n').find(text => text.includes('LIMIT_CLOSE_MS')) ?? '{}'
  const { open, ...logged } = JSON.parse(line)
  expect(logged).toMatchObject({
    level: 'fatal',
    waitsFor: expect.stringContaining('nothing: all parts are closed'),
  })
  expect(open).toContainEqual(expect.stringMatching(new RegExp(`^tcp 127.0.0.1:\\d+ → 127.0.0.1:${port}$`)))
  // The gateway leaves no timer that keeps the process alive.
  expect(open).not.toContain('timer')
  server.close()
})

test('a part that does not close is named', async () => {
  const lines: string[] = []
  const log = createLog('fatal', { to: { write: line => void lines.push(line) } })
  const status = await new Promise(resolve => {
    const closing = new Closing({ log, limitMs: 1, exit: resolve })
    closing.begin('HTTP server')
    closing.begin('ledger')
  })
  expect(status).toBe(1)
  expect(lines.map(line => JSON.parse(line).waitsFor)).toEqual(['ledger'])
})

test('a worker that reports that it cannot start, but does not exit, is killed, and the next one serves', async () => {
  const marker = join(dataDir, 'fails')
  const program = await startProgram({
    ...SECRETS,
    PORT: String(await freePort()),
    DATA_DIR: join(dataDir, 'workers'),
    DATABASE_URL: database.url,
    WORKERS: '1',
    LIMIT_CLOSE_MS: '500',
    ...preload(`
      import { existsSync, rmSync } from 'node:fs'
      if (process.env.GATEWAY_WORKER !== undefined && existsSync('${marker}')) {
        rmSync('${marker}')
        process.send({ kind: 'failed', reason: 'not today', isEnvironment: false })
        await new Promise(() => setInterval(() => {}, 1000))
      }`),
  })
  writeFileSync(marker, '')
  const [worker] = childrenOf(program.child.pid as number) as [number]
  process.kill(worker, 'SIGKILL')
  await program.logged(/a worker did not exit in time; killing it/)
  await program.logged(/"cause":"not today".*a worker did not start/)
  const answers = () =>
    fetch(`${program.url}/healthz`).then(
      ({ status }) => status === 200,
      () => false,
    )
  while (!(await answers())) await sleep(50)
})
