/** Four gateway processes that share only a Postgres. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { limitKey } from '../../src/accounts/key-rate.ts'
import { revokeKey } from '../../src/accounts/keys.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { audit } from '../../src/ledger/audit.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import { setMaintenance } from '../../src/operations/maintenance.ts'
import { LOAD_MODEL, startLoadProvider } from '../support/load.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { freePort, killPrograms, type Program, startProgram } from '../support/program.ts'
import { gatewayEnvironment, newCustomer, newFolder } from './world.ts'

const REPLICAS = 4
const PER_VND = 1_000_000n
/** 700 tokens at 2,400 VND per million, in µVND. */
const COST = 1_680_000n

let database: TestDatabase
let provider: Awaited<ReturnType<typeof startLoadProvider>>
let replicas: Program[] = []
const folders = Array.from({ length: REPLICAS }, newFolder)

beforeAll(async () => {
  database = await createTestDatabase({ migrated: false })
  provider = await startLoadProvider({ wholeMs: 5 })
  // All processes start together on an empty database, and one of them creates the schema.
  replicas = await Promise.all(
    folders.map(async ({ path: dataDir }) => {
      const given = { port: await freePort(), databaseUrl: database.url, dataDir, providerUrl: provider.url }
      return startProgram({ ...gatewayEnvironment(given), LIMIT_DATABASE_WAIT_MS: '60000', LOG_LEVEL: 'warn' })
    }),
  )
})
afterAll(async () => {
  await killPrograms()
  provider.close()
  await database.drop()
  for (const folder of folders) folder.remove()
})

async function call(replica: number, apiKey: string): Promise<number> {
  const reply = await fetch(`${replicas[replica % REPLICAS]?.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model: LOAD_MODEL, messages: [{ role: 'user', content: 'x' }] }),
  })
  await reply.text()
  return reply.status
}

async function callsAtOnce(apiKey: string, count: number): Promise<Record<string, number>> {
  const statuses = await Promise.all(Array.from({ length: count }, (_, index) => call(index, apiKey)))
  return Object.fromEntries(
    [...Map.groupBy(statuses, status => status)].map(([status, calls]) => [status, calls.length]),
  )
}

async function chargedOf(accountId: number): Promise<{ balance: bigint; charged: bigint }> {
  const [row] = await database.sql`
    select (select balance_micro_vnd from wallet where account_id = ${accountId})::text as balance,
           (select coalesce(sum(charged_micro_vnd), 0) from usage where account_id = ${accountId})::text as charged`
  return { balance: BigInt(row?.balance), charged: BigInt(row?.charged) }
}

test('the database is migrated once, by whichever process came first', async () => {
  expect(await migrate(database.sql)).toEqual([])
  const rows = await database.sql`select number from migration`
  expect(new Set(rows.map(row => row.number)).size).toBe(rows.length)
})

test('1,000 calls at once on a wallet for six: it ends at exactly zero, and nobody is refused while money is left', async () => {
  const { accountId, apiKey } = await newCustomer(database.sql, 10)
  const answers = await callsAtOnce(apiKey, 1000)
  expect(Object.keys(answers).sort()).toEqual(['200', '402'])
  expect(answers['200']).toBeGreaterThanOrEqual(6)
  expect(await chargedOf(accountId)).toEqual({ balance: 0n, charged: 10n * PER_VND })
})

test('1,000 calls at once on a wallet that has the money are all served', async () => {
  const { accountId, apiKey } = await newCustomer(database.sql, 2_000)
  expect(await callsAtOnce(apiKey, 1000)).toEqual({ 200: 1000 })
  expect(await chargedOf(accountId)).toEqual({ balance: 320n * PER_VND, charged: 1000n * COST })
  expect(await audit(database.sql)).toMatchObject({ clean: true, openHolds: 0 })
})

test('a revoked key fails at its next call in every process', async () => {
  const { accountId, keyId, apiKey } = await newCustomer(database.sql, 1_000)
  const everywhere = () => Promise.all(replicas.map((_, index) => call(index, apiKey)))
  expect(await everywhere()).toEqual(Array(REPLICAS).fill(200))
  await revokeKey(database.sql, { accountId, keyId })
  expect(await everywhere()).toEqual(Array(REPLICAS).fill(401))
})

test('the limit of a key counts its calls in all processes', async () => {
  const { accountId, keyId, apiKey } = await newCustomer(database.sql, 1_000)
  await limitKey(database.sql, { accountId, keyId, by: COMMAND_LINE }, 6)
  expect(await callsAtOnce(apiKey, 24)).toEqual({ 200: 6, 429: 18 })
})

test('maintenance that is turned on or off reaches every process', async () => {
  const { apiKey } = await newCustomer(database.sql, 1_000)
  for (const [enabled, status] of [
    [true, 503],
    [false, 200],
  ] as const) {
    await setMaintenance(database.sql, { enabled, retryAfterSeconds: null })
    for (const index of replicas.keys()) await expect.poll(() => call(index, apiKey), { timeout: 60_000 }).toBe(status)
  }
})

test('the processes share one sweep: by the clock of Postgres, it runs no more often than with one process', async () => {
  const SWEEP_SECONDS = 5
  const read = async () => {
    const [row] = await database.sql`
      select runs::integer as runs, extract(epoch from ran_at)::float8 as at from housekeeping where task = 'ledger sweep'`
    return row as unknown as { runs: number; at: number } | undefined
  }
  await expect.poll(read, { timeout: 60_000 }).toBeDefined()
  const before = (await read()) as { runs: number; at: number }
  await expect.poll(async () => (await read())?.runs, { timeout: 120_000 }).toBeGreaterThanOrEqual(before.runs + 2)
  const after = (await read()) as { runs: number; at: number }
  expect(after.runs - before.runs).toBeLessThanOrEqual((after.at - before.at) / SWEEP_SECONDS + 1e-3)
})

test('work that one process does for all was done once at the start, not once per process', async () => {
  const rows =
    await database.sql`select task, runs::integer as runs from housekeeping where task <> 'ledger sweep' order by task`
  expect(rows.map(row => row.task)).toEqual([
    'counted keys',
    'expired people data',
    'found alerts',
    'found daily alerts',
    'posted alerts',
    'rolled up accounts',
    'rolled up calls',
    'sent alerts',
    'summed days',
    'undecided transfers',
  ])
  expect(rows[0]?.runs).toBe(1)
})

test('all processes exit with status 0 and log no error', async () => {
  for (const replica of replicas) replica.signal('SIGINT')
  expect(await Promise.all(replicas.map(replica => replica.ended))).toEqual(Array(REPLICAS).fill(0))
  expect(replicas.map(replica => replica.log.match(/"level":"error".*/g))).toEqual(Array(REPLICAS).fill(null))
})
