/**
 * CPU of the gateway per call and per stream event, against "bare" (Fastify and undici, nothing else) in the same run.
 * Gateway, bare, upstream and Postgres are processes of their own; the slices of the contenders rotate, so that a busy
 * machine slows all alike; ratios are what counts. Prints a Markdown table.
 * Run: npm exec node bench/proxy.ts [rounds] [case]
 * `PROFILE=folder` writes a CPU profile of the gateway there. `WITH='NAME=value …'` compares the gateway with one that
 * has these variables too, such as METRICS_PORT=0.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import type { Pool } from 'undici'
import { createAccount } from '../src/accounts/accounts.ts'
import { createKey } from '../src/accounts/keys.ts'
import { startEmbeddedPostgres } from '../src/app/embedded-postgres.ts'
import { credit } from '../src/ledger/credit.ts'
import { migrate } from '../src/ledger/migrate.ts'
import { openDatabase } from '../src/lib/database.ts'
import { vndToMicro } from '../src/lib/money.ts'
import { generateSecretSet, parseSecretSet } from '../src/lib/secrets.ts'
import { drive, openPool, type Target } from './proxy/load.ts'
import { type Role, startRole } from './proxy/role.ts'

const SLICE_MS = 700
/** Ticks per second of /proc/<pid>/stat. */
const CLOCK_TICKS = 100
const rounds = Number(process.argv[2] ?? 6)
const only = process.argv[3] ?? ''

interface Case {
  readonly name: string
  /** What the CPU is divided by. */
  readonly per: 'call' | 'event'
  readonly bytes: number
  readonly streamed: boolean
  readonly concurrency: number
  readonly pace: { readonly events: number; readonly pauseMs: number }
}

const NO_STREAM = { events: 1, pauseMs: 0 }
const CASES: readonly Case[] = [
  { name: '1 kB call', per: 'call', bytes: 1_000, streamed: false, concurrency: 256, pace: NO_STREAM },
  { name: '200 kB call', per: 'call', bytes: 200_000, streamed: false, concurrency: 16, pace: NO_STREAM },
  {
    name: 'paced event',
    per: 'event',
    bytes: 1_000,
    streamed: true,
    concurrency: 100,
    pace: { events: 80, pauseMs: 25 },
  },
  {
    name: 'burst event',
    per: 'event',
    bytes: 1_000,
    streamed: true,
    concurrency: 16,
    pace: { events: 1_000, pauseMs: 0 },
  },
]

interface Contender {
  readonly name: string
  readonly role: Role
  readonly pool: Pool
  readonly target: (streamed: boolean, bytes: number) => Target
}

interface Sum {
  cpu: number
  postgres: number
  units: number
  seconds: number
}

const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
const postgres = await startEmbeddedPostgres({ dataDir: folder })
const roles: Role[] = []
try {
  const { apiKey, environment } = await prepareDatabase()
  const upstream = await start('upstream')
  const bare = await start('bare', { UPSTREAM_URL: upstream.url })
  const profile = process.env.PROFILE
  const ofGateway = {
    ...environment,
    UPSTREAM_ANTHROPIC_BASE_URL: upstream.url,
    UPSTREAM_ANTHROPIC_API_KEY: 'key',
    UPSTREAM_OPENAI_BASE_URL: `${upstream.url}/v1`,
    UPSTREAM_OPENAI_API_KEY: 'key',
  }
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const gateway = await start('gateway', ofGateway, flags)
  const contender = (name: string, role: Role, path: string, model: string): Contender => ({
    name,
    role,
    pool: openPool(role.url),
    target: (streamed, bytes) => ({ url: role.url, path, apiKey, body: requestBody(model, streamed, bytes) }),
  })
  const contenders = [
    contender('bare, messages', bare, '/v1/messages', 'claude-opus-5'),
    contender('bare, chat', bare, '/v1/chat/completions', 'gpt-5.5'),
    contender('messages', gateway, '/v1/messages', 'claude-opus-5'),
    contender('chat', gateway, '/v1/chat/completions', 'gpt-5.5'),
    contender('chat client, messages upstream', gateway, '/v1/chat/completions', 'claude-opus-5'),
    contender('messages client, chat upstream', gateway, '/v1/messages', 'gpt-5.5'),
  ]
  const extra = process.env.WITH ?? ''
  if (extra !== '') {
    const other = await start('gateway', { ...ofGateway, ...parseEnv(extra.replaceAll(' ', '\n')), INSTANCE: 'other' })
    const [bareMessages, , messages] = contenders as [Contender, Contender, Contender]
    const changed = contender(`messages, ${extra}`, other, '/v1/messages', 'claude-opus-5')
    // As much work for the one as for the other: what has run more is faster.
    contenders.splice(0, contenders.length, bareMessages, messages, changed)
  }
  console.log('| case | contender | CPU µs | of bare | Postgres µs | per second |')
  console.log('|---|---|--:|--:|--:|--:|')
  for (const one of CASES.filter(({ name }) => name.startsWith(only))) await run(one, contenders, upstream)
  for (const { pool } of contenders) await pool.destroy()
} finally {
  for (const role of roles.reverse()) await role.stop()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function run(one: Case, contenders: readonly Contender[], upstream: Role): Promise<void> {
  await upstream.tell(one.pace)
  const sums = new Map<Contender, Sum>(
    contenders.map(contender => [contender, { cpu: 0, postgres: 0, units: 0, seconds: 0 }]),
  )
  // The first rounds warm up.
  for (let round = -2; round < rounds; round++) {
    for (const [contender, sum] of sums) {
      const figures = await slice(contender, one)
      if (round < 0) continue
      sum.cpu += figures.cpu
      sum.postgres += figures.postgres
      sum.units += figures.units
      sum.seconds += figures.seconds
    }
  }
  const perUnit = (name: string) => {
    const found = [...sums].find(([contender]) => contender.name === name)?.[1]
    return found === undefined ? Number.NaN : found.cpu / found.units
  }
  // Each against bare with the bytes that it has to do with upstream.
  const bareOf: Readonly<Record<string, string>> = {
    'bare, chat': 'bare, chat',
    chat: 'bare, chat',
    'messages client, chat upstream': 'bare, chat',
  }
  for (const [{ name }, sum] of sums) {
    const own = sum.cpu / sum.units
    const figures = [
      own.toFixed(1),
      (own / perUnit(bareOf[name] ?? 'bare, messages')).toFixed(2),
      (sum.postgres / sum.units).toFixed(1),
      (sum.units / sum.seconds).toFixed(0),
    ]
    console.log(`| ${one.name} | ${name} | ${figures.join(' | ')} |`)
  }
}

async function slice({ role, pool, target }: Contender, { per, bytes, streamed, concurrency }: Case): Promise<Sum> {
  const before = { cpu: await role.cpuMicroseconds(), postgres: postgresMicroseconds() }
  const start = performance.now()
  const { calls, events } = await drive(pool, target(streamed, bytes), { concurrency, milliseconds: SLICE_MS })
  const seconds = (performance.now() - start) / 1000
  return {
    cpu: (await role.cpuMicroseconds()) - before.cpu,
    postgres: postgresMicroseconds() - before.postgres,
    units: per === 'call' ? calls : events,
    seconds,
  }
}

function requestBody(model: string, streamed: boolean, bytes: number): Buffer {
  const content = 'Tell me about the old quarter of the city. '.repeat(Math.ceil(bytes / 43)).slice(0, bytes - 120)
  return Buffer.from(
    JSON.stringify({ model, max_tokens: 1000, stream: streamed, messages: [{ role: 'user', content }] }),
  )
}

async function start(name: string, environment: Record<string, string> = {}, flags: string[] = []): Promise<Role> {
  const role = await startRole(name, { environment, flags, logFile: join(folder, `${name}.log`) })
  roles.push(role)
  return role
}

async function prepareDatabase(): Promise<{ apiKey: string; environment: Record<string, string> }> {
  const secrets = { service: 'svc', peppers: generateSecretSet(), encryption: generateSecretSet() }
  const sql = openDatabase({ url: postgres.url, name: 'bench', connectionsMax: 2 })
  await migrate(sql)
  const { accountId } = await createAccount(sql, 'bench@example.com')
  const { key } = await createKey(
    sql,
    {
      service: secrets.service,
      peppers: parseSecretSet('KEY_PEPPERS', secrets.peppers),
      encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', secrets.encryption),
    },
    { accountId },
  )
  await credit(sql, { accountId, amountMicroVnd: vndToMicro(1_000_000_000), kind: 'adjustment', reference: 'bench' })
  await sql.end()
  return {
    apiKey: key,
    environment: { PORT: '0', DATA_DIR: folder, DATABASE_URL: postgres.url, KEY_PEPPERS: secrets.peppers },
  }
}

/** CPU of the server and of its children, in microseconds; 0 where /proc is not there. */
function postgresMicroseconds(): number {
  const server = serverProcessId()
  let ticks = 0
  for (const pid of processIds()) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      if (pid === server || fields[1] === server) ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // The process has ended meanwhile.
    }
  }
  return (ticks / CLOCK_TICKS) * 1_000_000
}

function serverProcessId(): string {
  return readFileSync(join(folder, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0] as string
}

function processIds(): string[] {
  try {
    return readdirSync('/proc').filter(name => /^\d+$/.test(name))
  } catch {
    return []
  }
}
