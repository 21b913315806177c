/**
 * The operator's pages over HTTP with the calls of a thousand customers, as a gateway in a process of its own answers them.
 * Prints the first and the median time of each; asserts nothing. Run: npm exec node bench/desk.ts [thousands of calls]
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccount } from '../src/accounts/accounts.ts'
import { PEOPLE_LIMITS } from '../src/accounts/limits.ts'
import { openSession } from '../src/accounts/sessions.ts'
import { startEmbeddedPostgres } from '../src/app/embedded-postgres.ts'
import { migrate } from '../src/ledger/migrate.ts'
import { addDays, dayOf } from '../src/ledger/reports/days.ts'
import { openDatabase } from '../src/lib/database.ts'
import { fillDesk } from './desk-rows.ts'
import { listening } from './listening.ts'

const TURNS = 15
const ACCOUNTS = 1_000

const calls = Number(process.argv[2] ?? 1_000) * 1_000
const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
const postgres = await startEmbeddedPostgres({ dataDir: folder, durable: false })
const sql = openDatabase({ url: postgres.url, name: 'bench', connectionsMax: 1, statementTimeoutMs: 3_600_000 })
let gateway: ChildProcess | undefined
try {
  await migrate(sql)
  const filling = performance.now()
  await fillDesk(sql, { calls, accounts: ACCOUNTS })
  console.log(
    `${calls} calls of ${ACCOUNTS} accounts, filled in ${((performance.now() - filling) / 1_000).toFixed(0)} s`,
  )
  const { accountId } = await createAccount(sql, 'operator@example.com')
  await sql.unsafe('update account set is_operator = true where account_id = $1::text::bigint', [String(accountId)])
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
  await load('/openapi.json')
  const [one] = await sql.unsafe('select call_id from usage where account_id = 77 order by seq limit 1')
  const [middle] = await sql.unsafe(
    `select call_id from usage where call_id >= uuidv7(interval '-45 days') order by call_id limit 1`,
  )
  const days = `from=${addDays(dayOf(new Date()), -89)}`
  const log = [
    ...['', days, `${days}&before=${middle?.call_id}`],
    ...[
      'account=customer-77@example.com',
      'account=customer-1@example.com',
      `${days}&account=customer-1@example.com&status=502`,
    ],
    ...['key=77', 'asked=vendor/model-4', 'model=model-4', 'model=model-z', 'upstream=first', `${days}&upstream=rare`],
    ...['status=error', 'status=502', 'status=418', 'slow=60', `${days}&slow=61`, 'slow=600', `${days}&asked=nothing`],
    ...[`${days}&status=error&upstream=second&model=model-3`, `${days}&status=502&upstream=rare`],
  ]
  const paths = [...log.map(query => `/operator/calls?${query}`), `/operator/calls/${one?.call_id}`, '/operator']
  for (const path of [...paths, ...process.argv.slice(3)]) {
    const times: number[] = []
    for (let turn = 0; turn < TURNS; turn++) {
      const started = performance.now()
      await load(path)
      times.push(performance.now() - started)
    }
    const [first = 0] = times
    const median = times.toSorted((left, right) => left - right)[(TURNS - 1) / 2] ?? 0
    console.log(`${path}: first ${first.toFixed(0)} ms, median ${median.toFixed(0)} ms`)
  }
} finally {
  gateway?.kill('SIGTERM')
  if (gateway?.exitCode === null) await once(gateway, 'exit')
  await sql.end({ timeout: 5 })
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}
