/**
 * The pages of one account with many calls, over HTTP, as a gateway in a process of its own answers them, and its memory
 * while it sends them all as CSV to a reader in a hurry and to one that takes its time. Prints; asserts nothing.
 * Run: npm exec node bench/pages.ts [thousands of calls]
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAccount } from '../src/accounts/accounts.ts'
import { PEOPLE_LIMITS } from '../src/accounts/limits.ts'
import { openSession } from '../src/accounts/sessions.ts'
import { startEmbeddedPostgres } from '../src/app/embedded-postgres.ts'
import { migrate } from '../src/ledger/migrate.ts'
import { addDays, dayOf } from '../src/ledger/reports/days.ts'
import { openDatabase } from '../src/lib/database.ts'
import { listening } from './listening.ts'
import { fillUsage } from './usage-rows.ts'

const TURNS = 15
const SAMPLE_MS = 100
/** For each chunk that the slow reader is given. */
const PAUSE_MS = 5

const calls = Number(process.argv[2] ?? 1_000) * 1_000
const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
const postgres = await startEmbeddedPostgres({ dataDir: folder, durable: false })
const sql = openDatabase({ url: postgres.url, name: 'bench', connectionsMax: 1, statementTimeoutMs: 600_000 })
let gateway: ChildProcess | undefined
try {
  await migrate(sql)
  const { accountId } = await createAccount(sql, 'bench@example.com')
  await fillUsage(sql, { accountId, calls })
  await sql.unsafe('update account set is_operator = true')
  const visitor = { ipAddress: '127.0.0.1', userAgent: 'bench', language: 'en' } as const
  const { token } = await openSession(sql, PEOPLE_LIMITS, { accountId, visitor })
  gateway = spawn(process.execPath, ['src/start.js', 'serve'], {
    env: { ...process.env, DATABASE_URL: postgres.url, DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const base = await listening(gateway)
  const headers = { cookie: `session=${token}`, accept: 'text/html', 'accept-encoding': 'br' }
  const load = async (path: string): Promise<void> => {
    const response = await fetch(base + path, { headers, redirect: 'error' })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`${path} is ${response.status}`)
  }
  // The first request of a client loads its own HTTP, which is not the gateway's time.
  await load('/openapi.json')
  const today = dayOf(new Date())
  const paths = [
    ...['/', '/models', '/overview', '/keys', '/keys/1', '/topup', '/usage', '/usage?by=key&measure=tokens'],
    `/usage?from=${addDays(today, -89)}`,
    `/usage?from=${addDays(today, -89)}&before=${calls / 2}`,
    `/usage?from=${addDays(today, -89)}&key=3`,
    `/usage?from=${addDays(today, -89)}&status=error`,
    ...['/operator', '/operator/accounts', '/operator/business'],
  ]
  for (const path of paths) {
    const times: number[] = []
    const cpuBefore = cpuMilliseconds()
    for (let turn = 0; turn < TURNS; turn++) {
      const started = performance.now()
      await load(path)
      times.push(performance.now() - started)
    }
    const [first = 0] = times
    const median = times.toSorted((left, right) => left - right)[(TURNS - 1) / 2] ?? 0
    const cpu = ((cpuMilliseconds() - cpuBefore) / TURNS).toFixed(0)
    console.log(`${path}: first ${first.toFixed(0)} ms, median ${median.toFixed(0)} ms; CPU of the gateway ${cpu} ms`)
  }
  for (const pauseMs of [0, PAUSE_MS])
    await exportAll(`${base}/usage.csv?from=${addDays(today, -89)}`, headers, pauseMs)
} finally {
  gateway?.kill('SIGTERM')
  if (gateway?.exitCode === null) await once(gateway, 'exit')
  await sql.end({ timeout: 5 })
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function exportAll(url: string, headers: Record<string, string>, pauseMs: number): Promise<void> {
  const before = memoryMebibytes()
  let peak = before
  const sampling = setInterval(() => {
    peak = Math.max(peak, memoryMebibytes())
  }, SAMPLE_MS)
  const started = performance.now()
  const response = await fetch(url, { headers })
  let bytes = 0
  let rows = -1
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    for (const byte of chunk) if (byte === 10) rows++
    if (pauseMs > 0) await sleep(pauseMs)
  }
  clearInterval(sampling)
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  const size = (bytes / 2 ** 20).toFixed(0)
  const reader = pauseMs === 0 ? 'in a hurry' : 'slow'
  console.log(
    `CSV, reader ${reader}: ${rows} rows, ${size} MB, ${seconds} s, memory ${before} MB before, ${peak} MB at most`,
  )
}

/** CPU that the gateway has used so far; ticks are of 10 ms. */
function cpuMilliseconds(): number {
  const fields = readFileSync(`/proc/${gateway?.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** What the gateway holds in memory now. */
function memoryMebibytes(): number {
  const status = readFileSync(`/proc/${gateway?.pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
}
