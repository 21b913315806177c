import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { spoolFolder } from '../../src/ledger/adopt.ts'
import { writeSettlement } from '../../src/ledger/spool-line.ts'
import { createCustomer, eventually, settlement } from '../ledger/world.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { programEnvironment } from '../support/program.ts'

const MAIN = fileURLToPath(new URL('../../src/start.js', import.meta.url))
const PORT = '18999'

const database = await createTestDatabase()
const dataDir = mkdtempSync(join(tmpdir(), 'gateway-stop-'))
afterAll(async () => {
  rmSync(dataDir, { recursive: true, force: true })
  await database.drop()
})

test('a start that waits to settle its spool still ends at SIGTERM', async () => {
  const customer = await createCustomer(database.sql, 1_000_000_000n)
  // The program has secrets of its own, and would refuse a key that was stored under others.
  await database.sql`update api_key set encryption_id = null, encryption_iv = null, ciphertext = null`
  const [row] = await database.sql`select database_id from database_identity`
  const folder = spoolFolder({ spoolDir: join(dataDir, 'spool') }, `${hostname()}-${PORT}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, '00000001.jsonl'), writeSettlement(settlement(customer), row?.database_id))
  const environment = {
    ...programEnvironment(),
    PORT,
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'warn',
  }
  const child = spawn(process.execPath, [MAIN, 'serve', '--json'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  const exited = new Promise<number | null>(resolve => child.once('exit', resolve))
  await database.sql.begin(async transaction => {
    await transaction.unsafe('lock table usage in access exclusive mode')
    await eventually(
      async () =>
        (
          await transaction.unsafe(
            `select count(*)::integer as count from pg_locks where relation = 'usage'::regclass and not granted`,
          )
        )[0]?.count,
      count => count > 0,
    )
    child.kill('SIGTERM')
    expect(await Promise.race([exited, sleep(60_000, 'still there')])).toBe(130)
  })
  expect(output).not.toContain('"ready":true')
})
