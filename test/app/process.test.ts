/** End-to-end tests of the program as a user runs it: start, calls, CLI commands, stop, restart, and bad environments. */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TABLES } from '../../src/generated/tables.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'
import { freePort, programEnvironment } from '../support/program.ts'

const MAIN = fileURLToPath(new URL('../../src/start.js', import.meta.url))

let dataDir: string
let port: number

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gateway-process-'))
  port = await freePort()
})
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

function environment(extra: Record<string, string> = {}) {
  // `fetch` keeps its connections open, and stopping the gateway must not wait for them.
  const limits = { LIMIT_DRAIN_IDLE_MS: '0' }
  return { ...programEnvironment(), PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...limits, ...extra }
}

interface Ended {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

function run(words: readonly string[], extra: Record<string, string> = {}): Promise<Ended> {
  return new Promise(resolve => {
    execFile(process.execPath, [MAIN, ...words], { env: environment(extra) }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

interface Server {
  readonly child: ChildProcess
  readonly text: string
  readonly apiKey: string
  stop(signal: NodeJS.Signals): Promise<number | null>
}

async function start(): Promise<Server> {
  const child = spawn(process.execPath, [MAIN, 'serve'], { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  const exited = new Promise<number | null>(resolve => child.on('exit', resolve))
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('Ctrl-C')) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('exit', () => reject(new Error(text)))
  })
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exited
  }
  return { child, text, apiKey: /sk-svc-[\w-]+/.exec(text)?.[0] ?? '', stop }
}

/** Sends the request that the printed curl command would send. */
async function pasteCurl(text: string): Promise<Response> {
  const line = /curl -s (http\S+) -H 'x-api-key: ([^']+)' -H 'content-type: ([^']+)' -d '([^']+)'/.exec(text)
  const [, url, apiKey, contentType, body] = line as unknown as [string, string, string, string, string]
  return fetch(url, { method: 'POST', headers: { 'x-api-key': apiKey, 'content-type': contentType }, body })
}

/** The processes whose command line names this folder. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(pid => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)
      } catch {
        return false
      }
    })
}

test('starts, answers the printed call, works with the command line meanwhile, stops without a trace, starts again', async () => {
  const first = await start()
  const reply = await pasteCurl(first.text)
  expect(reply.status).toBe(200)
  expect(reply.headers.get('x-svc-cost-vnd')).toMatch(/^\d+(\.\d+)?$/)
  expect(await reply.json()).toMatchObject({ type: 'message' })

  const created = await run(['account', 'create', 'person@example.com', '--credit', '1000', '--json'])
  expect(created).toMatchObject({ status: 0, stderr: '' })
  const { api_key: apiKey } = JSON.parse(created.stdout) as { account_id: number; api_key: string }
  const call = (key: string) =>
    fetch(`http://127.0.0.1:${port}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'opus', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }),
    })
  expect((await call(apiKey)).status).toBe(200)
  const second = JSON.parse((await run(['key', 'create', 'person@example.com', '--json'])).stdout)
  expect((await call(second.api_key)).status).toBe(200)
  const revoked = await run(['key', 'revoke', 'person@example.com', String(second.key_id), '--json'])
  expect(JSON.parse(revoked.stdout)).toEqual({ key_id: second.key_id, revoked: true })
  expect((await call(second.api_key)).status).toBe(401)
  expect((await call(apiKey)).status).toBe(200)
  const credited = ['credit', 'person@example.com', '500', '--reason', 'goodwill', '--ref', 'r1', '--json']
  expect(JSON.parse((await run(credited)).stdout)).toMatchObject({ outcome: 'credited' })
  expect(JSON.parse((await run(credited)).stdout)).toMatchObject({ outcome: 'already' })
  expect(JSON.parse((await run(['audit', '--json'])).stdout)).toMatchObject({ clean: true })

  expect(await first.stop('SIGINT')).toBe(0)
  expect(processesOf(dataDir)).toEqual([])
  expect(statSync(join(dataDir, 'secrets', 'key-peppers')).mode & 0o777).toBe(0o600)

  const again = await start()
  expect(again.apiKey).toBe(first.apiKey)
  expect((await pasteCurl(again.text)).status).toBe(200)
  expect((await call(apiKey)).status).toBe(200)
  expect(await again.stop('SIGTERM')).toBe(0)
  expect(processesOf(dataDir)).toEqual([])

  const audited = await run(['audit'])
  expect(audited.stdout).toContain('No differences.')
  expect(processesOf(dataDir)).toEqual([])
})

test('names all faults of the environment at once, without repeating secrets', async () => {
  const ended = await run(['serve'], {
    PORT: '99999',
    LOG_LEVEL: 'loud',
    NODE_ENV: 'Production',
    TRUSTED_PROXIES: '10.0.0.5,10.0.0.0/99',
    DATABASE_URL: 'mysql://user:secret-password@host/db',
    KEY_PEPPERS: '1:c2hvcnQ=',
    UPSTREAM_NOBODY_API_KEY: 'secret-key',
    LIMIT_BODY_BYTES_MAX: '12kb',
  })
  expect(ended.status).toBe(2)
  for (const name of [
    'PORT',
    'LOG_LEVEL',
    'NODE_ENV',
    'TRUSTED_PROXIES',
    'DATABASE_URL',
    'KEY_PEPPERS',
    'UPSTREAM_NOBODY_API_KEY',
    'LIMIT_BODY_BYTES_MAX',
  ]) {
    expect(ended.stderr).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'))
  }
  expect(ended.stderr).not.toMatch(/secret-|c2hvcnQ/)
})

test('production requires its secrets, a company and a way to reach it, and refuses the sandbox', async () => {
  const ended = await run(['serve'], { NODE_ENV: 'production', SANDBOX: 'auto' })
  expect(ended.status).toBe(2)
  const secrets = ['DATABASE_URL', 'KEY_ENCRYPTION_KEYS', 'KEY_PEPPERS', 'PUBLIC_URL', 'SANDBOX']
  const company = ['COMPANY_NAME', 'COMPANY_ADDRESS', 'COMPANY_TAX_CODE', 'SUPPORT_EMAIL']
  for (const name of [...secrets, ...company]) {
    expect(ended.stderr).toContain(name)
  }
})

test('refuses to start when the database cannot be reached, and says what to check', async () => {
  const nowhere = `postgres://user:secret-password@127.0.0.1:${await freePort()}/db`
  const ended = await run(['serve'], { DATABASE_URL: nowhere })
  expect(ended.status).toBe(2)
  expect(ended.stderr).toMatch(/DATABASE_URL does not lead to a usable Postgres at 127\.0\.0\.1:\d+ .*ECONNREFUSED/)
  expect(ended.stderr).not.toContain('secret-password')
})

test.each(['SQL_ASCII', 'LATIN1'])(
  'refuses a database with the encoding %s, which some texts do not fit',
  async encoding => {
    const { sql, url, drop } = await createTestDatabase({ migrated: false })
    const name = `${new URL(url).pathname.slice(1)}_narrow`
    await sql.unsafe(`create database ${name} template template0 encoding '${encoding}' locale 'C'`)
    const ended = await run(['serve'], { DATABASE_URL: url.replace(/[^/]*$/, name) })
    await sql.unsafe(`drop database ${name} with (force)`)
    await drop()
    expect(ended.status).toBe(2)
    expect(ended.stderr).toContain(`DATABASE_URL: the encoding of the database is ${encoding}; create one with UTF8`)
  },
)

test('refuses a pooler that ignores the settings of sessions, and names the variable that bypasses it', async () => {
  const { url, drop } = await createTestDatabase({ migrated: false })
  const pooler = await startPostgresProxy(url, { listen: { host: '127.0.0.1', port: 0 }, dropsSettings: true })
  const pooled = Object.assign(new URL(url), { port: pooler.port })
  const ended = await run(['serve'], { DATABASE_URL: pooled.href })
  await pooler.close()
  await drop()
  expect(ended.status).toBe(2)
  expect(ended.stderr).toContain('DATABASE_URL leads to a connection pooler')
  expect(ended.stderr).toContain('set DATABASE_DIRECT_URL')
})

test('refuses to start when the database accepts connections but never answers, and says where and what to check', async () => {
  const sockets = new Set<Socket>()
  const silent = createServer(socket => void sockets.add(socket.on('error', () => {})))
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  const { port: silentPort } = silent.address() as AddressInfo
  const url = `postgres://user:secret-password@127.0.0.1:${silentPort}/db`
  const ways = [
    ['DATABASE_URL', {}],
    ['DATABASE_DIRECT_URL', { DATABASE_DIRECT_URL: url }],
  ] as const
  const expectRefused = async ([name, more]: (typeof ways)[number]) => {
    const ended = await run(['serve'], { DATABASE_URL: url, ...more })
    expect(ended.status).toBe(2)
    expect(ended.stderr).toContain(`${name}: Postgres at 127.0.0.1:${silentPort} did not respond in time`)
    expect(ended.stderr).toContain('firewall')
    expect(ended.stderr).not.toContain('secret-password')
  }
  await Promise.all(ways.map(expectRefused))
  for (const socket of sockets) socket.destroy()
  await new Promise(resolve => silent.close(resolve))
}, 60_000)

test.each([
  [['dance'], /^There is no command "dance". To list the commands, run: npm run -s gateway -- --help\n$/],
  [
    ['secrets', 'reset'],
    /^There is no command "secrets reset". There are: secrets status, secrets rotate, secrets trust\n$/,
  ],
  [['maintenance'], /^There is no command "maintenance". There are: maintenance on, maintenance off\n$/],
  [['account', 'create'], /Usage: account create EMAIL/],
  [['credit', 'a@b.vn', '50.000', '--reason', 'x'], /"50\.000" is not an amount|no account/],
  [['audit', '--credit', '5'], /--credit is not an option of audit/],
  [['audit', '--nonsense'], /^Unknown option .*\nUsage: audit \[--mode full\|incremental\]\n$/],
])('explains wrong use: %j', async (words, message) => {
  const ended = await run(words)
  expect(ended.status).toBe(2)
  expect(ended.stderr).toMatch(message)
})

test('runs the catalogue commands of the code generator', async () => {
  const listed = await run(['catalogue', 'list', '--channel', 'aws', '--json'])
  expect(listed.status).toBe(0)
  const onAws = TABLES.entries.filter(({ channel }) => channel === 'aws').map(({ id }) => id)
  expect(JSON.parse(listed.stdout).map(({ id }: { id: string }) => id)).toEqual(onAws.toSorted())
  expect((await run(['catalogue', 'dance'])).stderr).toContain('Usage: catalogue check|list|add|diff')
})

test('prints help', async () => {
  const ended = await run(['--help'])
  expect(ended.status).toBe(0)
  for (const command of [
    'serve',
    'account create',
    'key revoke',
    'maintenance on',
    'upstream status',
    'audit',
    'migrate',
  ])
    expect(ended.stdout).toContain(command)
  expect(Math.max(...ended.stdout.split('\n').map(line => line.length))).toBeLessThanOrEqual(100)
  const commands = async (...words: string[]) => (await run(words)).stdout.match(/^ {2}[a-z-]+( [a-z-]+)?/gm)
  expect(await commands('help', 'maintenance')).toEqual(['  maintenance on', '  maintenance off'])
  expect(await commands('key', 'set', '--help')).toEqual(['  key set'])
  expect(await commands('catalogue', '--help')).toContain('  catalogue digest')
})
