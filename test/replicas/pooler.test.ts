/** A gateway whose DATABASE_URL leads to PgBouncer in transaction mode, and whose DATABASE_DIRECT_URL bypasses it. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import { openDatabase } from '../../src/lib/database.ts'
import { setMaintenance } from '../../src/operations/maintenance.ts'
import { LOAD_MODEL, LOAD_TOKENS, startLoad, startLoadProvider } from '../support/load.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { freePort, killPrograms, type Program, startProgram } from '../support/program.ts'
import { gatewayEnvironment, newCustomer, newFolder } from './world.ts'

const PGBOUNCER = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(path => existsSync(path))
const NOBODY = 65_534

// PgBouncer comes with the system, not with npm, so there is nothing to test where it is not installed.
describe.skipIf(PGBOUNCER === undefined)('behind PgBouncer (skipped where it is not installed)', () => {
  const folder = newFolder()
  let database: TestDatabase
  let provider: Awaited<ReturnType<typeof startLoadProvider>>
  let bouncer: ChildProcess
  let pooledUrl: string
  let program: Program

  beforeAll(async () => {
    database = await createTestDatabase()
    provider = await startLoadProvider({ streamMs: 50, wholeMs: 5 })
    const direct = new URL(database.url)
    const port = await freePort()
    const name = direct.pathname.slice(1)
    const settings = [
      '[databases]',
      `${name} = host=${direct.hostname} port=${direct.port} dbname=${name} user=${direct.username} password=${direct.password}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      // The gateways get two server connections in all, so that sessions are really shared.
      'default_pool_size = 2',
      'max_client_conn = 200',
    ]
    const file = join(folder.path, 'pgbouncer.ini')
    writeFileSync(file, `${settings.join('\n')}\n`, { mode: 0o600 })
    // PgBouncer refuses to run as root.
    const asRoot = process.getuid?.() === 0
    if (asRoot) {
      chmodSync(folder.path, 0o755)
      chownSync(file, NOBODY, NOBODY)
    }
    bouncer = spawn(PGBOUNCER as string, ['-q', file], { stdio: 'ignore', ...(asRoot && { uid: NOBODY, gid: NOBODY }) })
    while (!(await answers(port))) await new Promise(resolve => setTimeout(resolve, 20))
    pooledUrl = `postgres://${direct.username}@127.0.0.1:${port}/${name}`
    const environment = gatewayEnvironment({
      port: await freePort(),
      databaseUrl: pooledUrl,
      dataDir: folder.path,
      providerUrl: provider.url,
    })
    program = await startProgram({ ...environment, DATABASE_DIRECT_URL: database.url, WORKERS: '2', LOG_LEVEL: 'warn' })
  })
  afterAll(async () => {
    await killPrograms()
    bouncer?.kill('SIGKILL')
    provider?.close()
    await database?.drop()
    folder.remove()
  })

  function answers(port: number): Promise<boolean> {
    return new Promise(resolve => {
      const socket = connect(port, '127.0.0.1')
      socket.on('connect', () => void socket.end(() => resolve(true)))
      socket.on('error', () => resolve(false))
    })
  }

  async function connectionsOf(name: string): Promise<number> {
    const [row] = await database.sql`
      select count(*)::integer as count from pg_stat_activity where datname = current_database() and application_name = ${name}`
    return row?.count
  }

  test('the pooler shares sessions between clients, so that a lock of a session means nothing', async () => {
    const version = execFileSync(PGBOUNCER as string, ['--version'], { encoding: 'utf8' })
    expect(version).toMatch(/^PgBouncer \d/)
    const clients = Array.from({ length: 4 }, () =>
      openDatabase({ url: pooledUrl, name: 'client', connectionsMax: 1, pooled: true }),
    )
    const servers = await Promise.all(
      clients.map(async sql => (await sql.unsafe('select pg_backend_pid() as id, pg_sleep(0.05)'))[0]?.id),
    )
    expect(new Set(servers).size).toBeLessThanOrEqual(2)
    await Promise.all(clients.map(sql => sql.end({ timeout: 1 })))
  })

  test('without the address that bypasses it, the pooler is refused', async () => {
    const environment = gatewayEnvironment({
      port: await freePort(),
      databaseUrl: pooledUrl,
      dataDir: join(folder.path, 'refused'),
      providerUrl: provider.url,
    })
    await expect(startProgram(environment)).rejects.toThrow('leads to a connection pooler')
  })

  test('calls are admitted, billed and logged; pages and readiness work', async () => {
    const customer = await newCustomer(database.sql, 1_000_000)
    const load = startLoad({ url: program.url, apiKey: customer.apiKey, callers: 16 })
    await expect.poll(() => load.calls(), { timeout: 120_000 }).toBeGreaterThan(200)
    const { calls, failures } = await load.stop()
    expect(failures).toEqual([])
    const [row] = await database.sql`
      select count(*)::integer as calls, sum(cost_micro_vnd)::float8 as cost, max(price_vnd)::integer as price
        from usage where account_id = ${customer.accountId}`
    expect(row).toEqual({ calls, cost: calls * (row?.price as number) * LOAD_TOKENS, price: row?.price })
    expect((await fetch(`${program.url}/readyz`)).status).toBe(200)
    expect((await fetch(`${program.url}/models`, { headers: { accept: 'text/html' } })).status).toBe(200)
    expect(await audit(database.sql)).toMatchObject({ clean: true, openHolds: 0 })
  })

  test('what belongs to a session bypasses the pooler: locks of processes, notifications, prepared statements', async () => {
    for (const name of ['gateway life', 'gateway news', 'gateway holds', 'gateway settles', 'gateway keys']) {
      expect(await connectionsOf(name), name).toBeGreaterThanOrEqual(2)
    }
    const locks = await database.sql`
      select count(*)::integer as count from pg_locks l join pg_stat_activity a using (pid)
       where l.locktype = 'advisory' and l.classid = 7 and a.application_name = 'gateway life' and a.datname = current_database()`
    expect(locks[0]?.count).toBe(2)
    // No prepared statement is left in the pooler's own sessions.
    const pooled = openDatabase({ url: pooledUrl, name: 'client', connectionsMax: 1, pooled: true })
    const prepared = await pooled.unsafe('select count(*)::integer as count from pg_prepared_statements')
    expect(prepared[0]?.count).toBe(0)
    await pooled.end({ timeout: 1 })
  })

  test('maintenance that is set through the pooler reaches the gateways', async () => {
    const customer = await newCustomer(database.sql, 1_000)
    const pooled = openDatabase({ url: pooledUrl, name: 'client', connectionsMax: 1, pooled: true })
    const status = async () =>
      (
        await fetch(`${program.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${customer.apiKey}`, connection: 'close' },
          body: JSON.stringify({ model: LOAD_MODEL, messages: [{ role: 'user', content: 'x' }] }),
        })
      ).status
    await setMaintenance(pooled, { enabled: true, retryAfterSeconds: null })
    await expect.poll(status, { timeout: 60_000 }).toBe(503)
    await setMaintenance(pooled, { enabled: false, retryAfterSeconds: null })
    await expect.poll(status, { timeout: 60_000 }).toBe(200)
    await pooled.end({ timeout: 1 })
    program.signal('SIGINT')
    expect(await program.ended).toBe(0)
    const complaints = program.log.match(/"level":"(error|warn)".*/g) ?? []
    expect(complaints.filter(line => !line.includes('real credentials are mixed with the sandbox'))).toEqual([])
  })
})
