import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/app/embedded-postgres.ts'
import { openDatabase } from '../../src/lib/database.ts'

const folder = mkdtempSync(join(tmpdir(), 'gateway-embedded-'))
chmodSync(folder, 0o755)
const dataDir = join(folder, 'data')
const isRoot = process.getuid?.() === 0
const started: EmbeddedPostgres[] = []
afterAll(async () => {
  await Promise.all(started.map(server => server.stop()))
  rmSync(folder, { recursive: true, force: true })
})

async function start(): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, durable: false })
  started.push(server)
  return server
}

function postmasterOf(directory: string): number | null {
  const file = join(directory, 'postgres', 'data', 'postmaster.pid')
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : null
}

async function ask<Value>(url: string, statement: string): Promise<Value> {
  const sql = openDatabase({ url, name: 'test', connectionsMax: 1 })
  try {
    return [await sql.unsafe(statement)].flat(2).at(-1)!.answer
  } finally {
    await sql.end({ timeout: 1 })
  }
}

function answersSignals(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch {
    return false
  }
}

test('creates its data once, keeps it across a stop and leaves nothing running', async () => {
  const first = await start()
  expect(first.joined).toBe(false)
  const facts = `select array_to_string(array[current_setting('server_encoding'), current_setting('data_checksums'),
    current_setting('listen_addresses'), current_setting('unix_socket_directories'), current_database(),
    (select datcollate from pg_database where datname = current_database())], ' ') as answer`
  expect(await ask(first.url, facts)).toBe('UTF8 on 127.0.0.1  gateway C')
  await ask(first.url, 'create table kept as select 7 as answer; select answer from kept')
  const processId = postmasterOf(dataDir)!
  await first.stop()
  await first.stop()
  // A child that has exited stays in the process table until this process has waited for it.
  await expect.poll(() => answersSignals(processId)).toBe(false)
  const second = await start()
  expect(second.url).toBe(first.url)
  expect(await ask(second.url, 'select answer from kept')).toBe(7)
  await second.stop()
})

test('the password is readable by its owner only', async () => {
  expect(statSync(join(dataDir, 'postgres.json')).mode & 0o777).toBe(0o600)
  expect(statSync(join(dataDir, 'postgres', 'data')).mode & 0o777).toBe(0o700)
  expect(existsSync(join(dataDir, 'postgres', 'password'))).toBe(false)
})

test('callers that start at once share one server, and the last to leave stops it', async () => {
  const callers = await Promise.all(Array.from({ length: 4 }, start))
  expect(callers.map(caller => caller.joined).sort()).toEqual([false, true, true, true])
  const processId = postmasterOf(dataDir)
  for (const caller of callers.slice(0, 3)) {
    await caller.stop()
    expect(postmasterOf(dataDir)).toBe(processId)
  }
  expect(await ask(callers[3]!.url, 'select 1 as answer')).toBe(1)
  await callers[3]!.stop()
  expect(postmasterOf(dataDir)).toBeNull()
})

test('a server whose owner was killed keeps running; the next caller joins it and stops it', async () => {
  const module = new URL('../../src/app/embedded-postgres.ts', import.meta.url).href
  const program = `const { startEmbeddedPostgres } = await import(process.env.MODULE)
    const server = await startEmbeddedPostgres({ dataDir: process.env.DIRECTORY, durable: false })
    console.log(JSON.stringify(server))
    setInterval(() => {}, 1000)`
  const owner = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, MODULE: module, DIRECTORY: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise(resolve => owner.stdout.once('data', resolve))
  const processId = postmasterOf(dataDir)!
  // Ctrl-C in a terminal reaches the gateway's whole process group, so the server must be in another one.
  const groupOf = (id: number): string =>
    readFileSync(`/proc/${id}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[2]!
  expect(groupOf(processId)).not.toBe(groupOf(owner.pid!))
  owner.kill('SIGKILL')
  await new Promise(resolve => owner.once('exit', resolve))
  const next = await start()
  expect(next.joined).toBe(true)
  expect(postmasterOf(dataDir)).toBe(processId)
  await next.stop()
  expect(postmasterOf(dataDir)).toBeNull()
})

test('T6: starts again after its postmaster was killed while a statement was busy', async () => {
  const killed = await start()
  const busy = ask(killed.url, 'select count(*) as answer from generate_series(1, 100000000000)').catch(() => 'gone')
  await new Promise(resolve => setTimeout(resolve, 200))
  const postmaster = postmasterOf(dataDir)!
  process.kill(postmaster, 'SIGKILL')
  // Until the postmaster has exited, another start would join it instead of starting a new server.
  while (answersSignals(postmaster)) await new Promise(resolve => setTimeout(resolve, 5))
  const again = await start()
  expect(again.joined).toBe(false)
  expect(await ask(again.url, 'select answer from kept')).toBe(7)
  expect(await busy).toBe('gone')
  await killed.stop()
  expect(await ask(again.url, 'select answer from kept')).toBe(7)
  await again.stop()
  expect(postmasterOf(dataDir)).toBeNull()
})

test('uses another port when another program has taken its own', async () => {
  const { port } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8'))
  const squatter = createServer().listen(port, '127.0.0.1')
  await new Promise(resolve => squatter.once('listening', resolve))
  const server = await start()
  expect(new URL(server.url).port).not.toBe(String(port))
  await server.stop()
  await new Promise(resolve => squatter.close(resolve))
})

test('says so when the data is of another version', async () => {
  const file = join(dataDir, 'postgres', 'data', 'PG_VERSION')
  const { writeFileSync } = await import('node:fs')
  writeFileSync(file, '17\n')
  await expect(start()).rejects.toThrow('was made by Postgres 17; this gateway runs 18')
  writeFileSync(file, '18\n')
})

test.runIf(isRoot)('root runs it below a folder that other users may not enter', async () => {
  const closed = join(folder, 'closed')
  mkdirSync(closed, { mode: 0o700 })
  const server = await startEmbeddedPostgres({ dataDir: join(closed, 'inside'), durable: false })
  expect(await ask(server.url, 'select 1 as answer')).toBe(1)
  expect(statSync(join(closed, 'inside', 'postgres', 'data')).uid).not.toBe(0)
  await server.stop()
})

test.runIf(isRoot)('root without setpriv puts programs and data where the database user may go', async () => {
  const closed = join(folder, 'closed')
  const options = { dataDir: join(closed, 'moved'), durable: false, setpriv: null, outsideDir: join(folder, 'outside') }
  for (const joined of [false, true]) {
    const server = await startEmbeddedPostgres(options)
    expect(await ask(server.url, 'select 1 as answer'), `again: ${joined}`).toBe(1)
    await server.stop()
  }
  expect(existsSync(join(closed, 'moved', 'postgres', 'data'))).toBe(false)
})

test.runIf(isRoot)('an ordinary user runs it, and is told when the data belongs to someone else', () => {
  const own = join(folder, 'own')
  mkdirSync(own)
  chownSync(own, 65_534, 65_534)
  const module = new URL('../../src/app/embedded-postgres.ts', import.meta.url).href
  const program = `const { startEmbeddedPostgres } = await import(process.env.MODULE)
    const server = await startEmbeddedPostgres({ dataDir: process.env.DIRECTORY, durable: false })
    await server.stop()
    console.log('stopped')`
  const run = (directory: string): { stdout: string; stderr: string } =>
    spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      env: { MODULE: module, DIRECTORY: directory },
      uid: 65_534,
      gid: 65_534,
      encoding: 'utf8',
    })
  const ordinary = run(own)
  expect(ordinary.stderr).toBe('')
  expect(ordinary.stdout).toBe('stopped\n')
  chmodSync(dataDir, 0o777)
  expect(run(dataDir).stderr).toContain('belongs to user')
})
