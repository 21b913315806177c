import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKeyFinder, type KeyFinder } from '../../src/accounts/find-key.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/app/embedded-postgres.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import { openDatabase, type Sql } from '../../src/lib/database.ts'
import { childrenOf, sendSignal } from '../fault/support/child.ts'
import {
  CALL_MICRO_VND,
  type Customer,
  call,
  createCustomer,
  eventually,
  expectCleanAudit,
  holdRequest,
  patient,
  settlement,
  startLedger,
  type TestLedger,
  usageOf,
  walletOf,
} from './world.ts'

/** These tests stop Postgres, so they need a server of their own. */
const folder = mkdtempSync(join(tmpdir(), 'gateway-outage-'))
const start = (): Promise<EmbeddedPostgres> => startEmbeddedPostgres({ dataDir: folder, durable: false })
let server: EmbeddedPostgres
let sql: Sql
let ledger: TestLedger
let finder: KeyFinder
let customer: Customer

beforeAll(async () => {
  server = await start()
  sql = openDatabase({ url: server.url, name: 'test', connectionsMax: 4 })
  await migrate(sql)
  customer = await createCustomer(sql, 10_000n * CALL_MICRO_VND)
  const limits = {
    // Generous, because the calls before the fault must not time out on a busy machine.
    holdRetryMs: 2_000,
    statementTimeoutMs: 1_000,
    heartbeatMs: 50,
    settleWaitMs: 100,
    sweepMs: 50,
    orphanMs: 200,
  }
  ledger = await startLedger(server.url, { limits })
  finder = createKeyFinder({ url: server.url, retryMs: 300 })
})
afterAll(async () => {
  await Promise.all([ledger.close(), finder.close()])
  await sql.end({ timeout: 5 })
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Process ids of the postmaster and its children. */
function processes(): number[] {
  const file = join(folder, 'postgres', 'data', 'postmaster.pid')
  const postmaster = Number(readFileSync(file, 'utf8').split('\n')[0])
  return [postmaster, ...childrenOf(postmaster)]
}

async function expectUnavailable(): Promise<void> {
  const refused = { code: 'ledger_unavailable', status: 503, type: 'service_unavailable' }
  await expect(ledger.admit(holdRequest(customer), patient)).rejects.toMatchObject(refused)
  await expect(finder.find([customer.keyHash])).rejects.toMatchObject(refused)
  await eventually(
    async () => ledger.available,
    available => !available,
  )
}

async function expectRecovered(calls: number): Promise<void> {
  await eventually(
    async () => ledger.available,
    available => available,
  )
  const { held } = await call(ledger, customer)
  expect(held).toMatchObject({ outcome: 'admitted' })
  // Retry: the key finder's time limit is short, and a busy machine may need longer for a new connection.
  const found = await eventually(
    async () => finder.find([customer.keyHash]).catch(() => null),
    key => key !== null,
  )
  expect(found).toMatchObject({ state: 'active' })
  await eventually(
    async () => ledger.metrics().owed,
    owed => owed === 0,
  )
  const charged = (await usageOf(sql, customer)).filter(row => row.charged_micro_vnd === String(CALL_MICRO_VND))
  expect(charged).toHaveLength(calls)
  // A call refused as unavailable may still have placed its hold; the sweep releases it.
  const wallet = await eventually(
    async () => walletOf(sql, customer),
    ({ held }) => held === 0n,
  )
  expect(wallet.balance).toBe((10_000n - BigInt(calls)) * CALL_MICRO_VND)
  await expectCleanAudit(sql)
}

/** Admits twenty calls, causes the fault, and settles the calls before the fault is repaired. */
async function finishDuring(fault: () => Promise<void>): Promise<void> {
  const requests = Array.from({ length: 20 }, () => holdRequest(customer))
  await Promise.all(requests.map(request => ledger.admit(request, patient)))
  await fault()
  const answers = await Promise.all(requests.map(({ callId }) => ledger.settle(settlement(customer, { callId }))))
  expect(answers.every(answer => answer.outcome === 'spooled' && answer.chargedMicroVnd === null)).toBe(true)
}

test('Postgres stopped: calls in flight finish, new ones are refused as unavailable; started: all is charged, without a restart', async () => {
  await finishDuring(() => server.stop())
  await expectUnavailable()
  server = await start()
  await expectRecovered(21)
})

test('Postgres killed and started again: nothing is lost', async () => {
  await finishDuring(async () => {
    for (const processId of processes()) sendSignal(processId, 'SIGKILL')
    await server.stop()
  })
  await expectUnavailable()
  server = await start()
  await expectRecovered(42)
})

test('Postgres stops answering while its connections stay open: calls are refused in time, and later all recovers', async () => {
  const frozen = processes()
  await finishDuring(async () => {
    for (const processId of frozen) sendSignal(processId, 'SIGSTOP')
  })
  await expectUnavailable()
  for (const processId of frozen) sendSignal(processId, 'SIGCONT')
  await expectRecovered(63)
})

test('a start without a database is refused', async () => {
  const spoolDir = join(folder, 'spool')
  await expect(startLedger('postgres://postgres:x@127.0.0.1:1/gateway', { spoolDir })).rejects.toThrow('ECONNREFUSED')
})

test('reports once that Postgres fails, although it answers short statements that have nothing to do', async () => {
  const watched = await startLedger(server.url)
  await sql.unsafe(`create sequence tries; create function full_disk() returns trigger language plpgsql as
    $$ begin perform nextval('tries'); raise exception 'no space left' using errcode = '53100'; end $$`)
  const whileFull = async <Answer>(table: string, start: () => Promise<Answer>): Promise<Answer> => {
    await sql.unsafe(`alter sequence tries restart`)
    await sql.unsafe(`create trigger full_disk before insert on ${table} for each row execute function full_disk()`)
    const answer = start()
    await eventually(
      () => sql`select last_value::integer as tries from tries`,
      ([row]) => row?.tries > 4,
    )
    await sql.unsafe(`drop trigger full_disk on ${table}`)
    return answer
  }
  const poor = await createCustomer(sql, 5n)
  const request = holdRequest(poor)
  expect((await whileFull('hold', () => watched.admit(request, patient))).outcome).toBe('admitted')
  const { callId } = request
  expect((await whileFull('usage', () => watched.settle(settlement(poor, { callId })))).outcome).toBe('settled')
  const codes = watched.events.map(({ code }) => code)
  expect(codes).toEqual(['database_unavailable', 'database_back', 'database_unavailable'])
  await watched.close()
})
