/** Runs a gateway in its own process on a fresh embedded Postgres, with a signed-in session for its pages. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PEOPLE_LIMITS } from '../src/accounts/limits.ts'
import { openSession } from '../src/accounts/sessions.ts'
import { startEmbeddedPostgres } from '../src/app/embedded-postgres.ts'
import { migrate } from '../src/ledger/migrate.ts'
import { openDatabase, type Sql } from '../src/lib/database.ts'
import { listening } from './listening.ts'

const TURNS = 15

export interface SignedIn {
  readonly sql: Sql
  readonly baseUrl: string
  /** Value of the session cookie. */
  readonly token: string
  /** Request headers with the session cookie, as a browser sends them. */
  readonly headers: Readonly<Record<string, string>>
  readonly gatewayProcessId: number
  /** Loads a page to its last byte. Rejects unless its status is 200. */
  load(path: string): Promise<void>
}

/**
 * Runs `work` with a new gateway, then removes everything. `fill` fills the migrated database and returns the account that signs
 * in.
 */
export async function whileSignedIn(
  fill: (sql: Sql) => Promise<number>,
  work: (signedIn: SignedIn) => Promise<void>,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  const postgres = await startEmbeddedPostgres({ dataDir: folder, durable: false })
  const sql = openDatabase({ url: postgres.url, name: 'bench', connectionsMax: 1, statementTimeoutMs: 3_600_000 })
  try {
    await migrate(sql)
    await withGateway({ sql, url: postgres.url, folder, accountId: await fill(sql), environment }, work)
  } finally {
    await sql.end({ timeout: 5 })
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs `work` with a new gateway on an existing database. The gateway keeps its files below `folder`. */
export async function withGateway(
  given: {
    readonly sql: Sql
    readonly url: string
    readonly folder: string
    /** The account that signs in. */
    readonly accountId: number
    readonly environment?: Readonly<Record<string, string>>
  },
  work: (signedIn: SignedIn) => Promise<void>,
): Promise<void> {
  const { sql, url, folder, accountId, environment } = given
  const visitor = { ipAddress: '127.0.0.1', userAgent: 'bench', language: 'en' } as const
  const { token } = await openSession(sql, PEOPLE_LIMITS, { accountId, visitor })
  const own = { DATABASE_URL: url, DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'info' }
  const gateway = spawn(process.execPath, ['src/start.js', 'serve'], {
    env: { ...process.env, ...own, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    const baseUrl = await listening(gateway)
    const headers = { cookie: `session=${token}`, accept: 'text/html', 'accept-encoding': 'br' }
    const load = async (path: string): Promise<void> => {
      const response = await fetch(baseUrl + path, { headers, redirect: 'error' })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`${path} is ${response.status}`)
    }
    // A client's first request also loads the client's own HTTP code, which must not count as the gateway's time.
    await load('/openapi.json')
    await work({ sql, baseUrl, token, headers, gatewayProcessId: gateway.pid as number, load })
  } finally {
    gateway.kill('SIGTERM')
    if (gateway.exitCode === null) await once(gateway, 'exit')
  }
}

/** Loads a page several times. Returns the first and the median load time in ms, and both as text. */
export async function timesOf(
  { load }: Pick<SignedIn, 'load'>,
  path: string,
  turns = TURNS,
): Promise<{ readonly text: string; readonly turns: number; readonly first: number; readonly median: number }> {
  const times: number[] = []
  for (let turn = 0; turn < turns; turn++) {
    const started = performance.now()
    await load(path)
    times.push(performance.now() - started)
  }
  const [first = 0] = times
  const median = times.toSorted((left, right) => left - right)[turns >> 1] ?? 0
  return { text: `first ${first.toFixed(0)} ms, median ${median.toFixed(0)} ms`, turns, first, median }
}
