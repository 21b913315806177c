import { fork } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { uuidv7 } from '../../src/lib/ids.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  CALL_MICRO_VND,
  type Customer,
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

const database = await createTestDatabase()
const folders: string[] = []
afterEach(() => expectCleanAudit(database.sql))
afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  await database.drop()
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-crash-'))
  folders.push(folder)
  return folder
}

/** Runs a process that holds 60 calls and settles 40 of them, and kills it before any settlement has reached the database. */
async function runAndKill(customer: Customer, name: string, spoolDir: string): Promise<string[]> {
  const child = fork(new URL('./crash-child.ts', import.meta.url), [
    database.url,
    name,
    spoolDir,
    customer.keyHash.toString('hex'),
  ])
  const calls: string[] = []
  await new Promise<void>((resolve, reject) => {
    child.on('message', message => {
      calls.push(...(message as string[]))
      resolve()
    })
    child.once('exit', code => reject(new Error(`the child exited with ${code}`)))
  })
  child.kill('SIGKILL')
  await new Promise(resolve => child.once('exit', resolve))
  return calls
}

test('calls that a killed process had finished are charged once by its successor, and the others freed uncharged', async () => {
  const customer = await createCustomer(database.sql, 1_000n * CALL_MICRO_VND)
  const spoolDir = newFolder()
  // The child's settlements wait for this transaction's lock, so all of them are under way when it dies.
  let calls: string[] = []
  await database.sql.begin(async transaction => {
    await transaction.unsafe('lock table usage in access exclusive mode')
    calls = await runAndKill(customer, 'killed', spoolDir)
    // Terminates the dead process's database sessions, so that only the spool knows of the 40 calls.
    await transaction.unsafe(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and application_name = 'gateway settles'`)
  })
  expect(calls).toHaveLength(60)
  const successor = await startLedger(database.url, { name: 'killed', spoolDir })
  const rows = await usageOf(database.sql, customer)
  const finished = rows.filter(row => row.status === 200)
  expect(finished.map(row => row.call_id).sort()).toEqual(calls.slice(0, 40).sort())
  expect(finished.every(row => row.charged_micro_vnd === String(CALL_MICRO_VND))).toBe(true)
  const interrupted = rows.filter(row => row.status === 599)
  expect(interrupted.map(row => row.call_id).sort()).toEqual(calls.slice(40).sort())
  expect(interrupted.every(row => row.charged_micro_vnd === '0')).toBe(true)
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 960n * CALL_MICRO_VND, held: 0n })
  // A late settlement finds the row that the sweep wrote: the call stays uncharged and has one row.
  const late = await successor.settle(settlement(customer, { callId: calls[50]! }))
  expect(late).toMatchObject({ outcome: 'settled', chargedMicroVnd: 0n })
  await successor.close()
})

test('a sibling settles the spool of a process that died beside it, and then frees its holds', async () => {
  const customer = await createCustomer(database.sql, 1_000n * CALL_MICRO_VND)
  const spoolDir = newFolder()
  const sibling = await startLedger(database.url, { name: 'sibling', spoolDir, limits: { sweepMs: 20 } })
  await database.sql.begin(async transaction => {
    await transaction.unsafe('lock table usage in access exclusive mode')
    await runAndKill(customer, 'dead/1', spoolDir)
    // Terminates the dead process's database sessions, so that only the spool knows of its 40 calls.
    await transaction.unsafe(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and application_name = 'gateway settles' and state <> 'idle'`)
  })
  await eventually(
    async () => walletOf(database.sql, customer),
    ({ balance, held }) => held === 0n && balance === 960n * CALL_MICRO_VND,
  )
  const statuses = (await usageOf(database.sql, customer)).map(row => row.status)
  expect([...Map.groupBy(statuses, status => status)].map(([status, rows]) => [status, rows.length]).sort()).toEqual([
    [200, 40],
    [599, 20],
  ])
  // A new process with the dead one's name has nothing left to do.
  const successor = await startLedger(database.url, { name: 'dead/1', spoolDir })
  expect(successor.events).toEqual([])
  await Promise.all([sibling.close(), successor.close()])
})

test('the finished spool of a dead sibling is kept for its retention, then its folder is removed', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const spoolDir = newFolder()
  const gone = await startLedger(database.url, { name: 'gone', spoolDir })
  await gone.settle(settlement(customer))
  await gone.close()
  const start = (spoolRetentionMs: number) =>
    startLedger(database.url, { name: 'heir', spoolDir, limits: { spoolRetentionMs } })
  await (await start(600_000)).close()
  expect(readdirSync(join(spoolDir, 'gone'))).toContain('00000001.done.jsonl')
  await (await start(0)).close()
  expect(readdirSync(spoolDir)).toEqual(['heir'])
})

test('processes take turns at the sweep: more of them do not sweep more often', async () => {
  const limits = { sweepMs: 100 }
  const state = async () =>
    (
      await database.sql.unsafe(
        `select runs::integer as runs, extract(epoch from ran_at)::float8 as at from housekeeping where task = 'ledger sweep'`,
      )
    )[0] as { runs: number; at: number } | undefined
  const ledgers = await Promise.all(Array.from({ length: 4 }, () => startLedger(database.url, { limits })))
  const before = (await eventually(state, row => row !== undefined))!
  // The ledgers of other tests are closed, so only these four sweep from here on.
  const after = (await eventually(state, row => row!.runs >= before.runs + 5))!
  expect(after.runs - before.runs).toBeLessThanOrEqual(Math.floor((after.at - before.at) / 0.1 + 1e-3))
  await Promise.all(ledgers.map(ledger => ledger.close()))
})

test('another process frees the holds of a process that was lost with its disk', async () => {
  const customer = await createCustomer(database.sql, 1_000n * CALL_MICRO_VND)
  const spoolDir = newFolder()
  let calls: string[] = []
  await database.sql.begin(async transaction => {
    await transaction.unsafe('lock table usage in access exclusive mode')
    calls = await runAndKill(customer, 'lost', spoolDir)
    await transaction.unsafe(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and application_name = 'gateway settles' and state <> 'idle'`)
  })
  const other = await startLedger(database.url, { name: 'other', limits: { sweepMs: 20, restartGraceMs: 0 } })
  expect((await walletOf(database.sql, customer)).held).toBe(60n * CALL_MICRO_VND)
  await database.sql.unsafe(`update gateway_instance set last_seen = now() - interval '17 minutes' where name = 'lost'`)
  const wallet = await eventually(
    async () => walletOf(database.sql, customer),
    ({ held }) => held === 0n,
  )
  expect(wallet.balance).toBe(1_000n * CALL_MICRO_VND)
  expect(calls).toHaveLength(60)
  await other.close()
})

test('holds of a living process are left alone, however old they are', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const living = await startLedger(database.url, { name: 'living' })
  await living.admit(holdRequest(customer), patient)
  await database.sql.unsafe(`update gateway_instance set last_seen = now() - interval '2 hours' where name = 'living'`)
  await database.sql.unsafe(
    `update hold set opened_at = now() - interval '2 hours' where account_id = ${customer.accountId}`,
  )
  const other = await startLedger(database.url, { limits: { sweepMs: 10, restartGraceMs: 0 } })
  await new Promise(resolve => setTimeout(resolve, 100))
  expect((await walletOf(database.sql, customer)).held).toBe(CALL_MICRO_VND)
  await Promise.all([living.close(), other.close()])
})

test('a process frees its holds that no call owns, without a second row for a call that has one', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const ledger = await startLedger(database.url, { name: 'forgetful', limits: { sweepMs: 10, orphanMs: 0 } })
  const kept = holdRequest(customer)
  await ledger.admit(kept, patient)
  const finished = settlement(customer)
  await ledger.settle(finished)
  const unknown = uuidv7()
  // Inserts holds like those of a statement that Postgres ran after the process had given up on it.
  for (const callId of [unknown, finished.callId]) {
    await database.sql.unsafe(
      `with w as (update wallet set held_micro_vnd = held_micro_vnd + 5 where account_id = ${customer.accountId})
       insert into hold (account_id, call_id, key_id, entry_id, endpoint, amount_micro_vnd, instance_id)
       select ${customer.accountId}, '${callId}', 1, 'model-a', 1, 5, max(instance_id) from gateway_instance where name = 'forgetful'`,
    )
  }
  await eventually(
    async () => walletOf(database.sql, customer),
    ({ held }) => held === CALL_MICRO_VND,
  )
  const rows = await usageOf(database.sql, customer)
  expect(rows.map(row => [row.call_id, row.status])).toEqual([
    [finished.callId, 200],
    [unknown, 599],
  ])
  await ledger.close()
})

test('a process whose old holds come back with a restore first repeats its charges, and only then frees holds', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const limits = { sweepMs: 5, orphanMs: 0, heartbeatMs: 200 }
  const ledger = await startLedger(database.url, { name: 'restored', limits })
  const request = holdRequest(customer)
  await ledger.admit(request, patient)
  const tables = ['wallet', 'hold', 'usage', 'usage_daily'].map(table => [table, `saved_${table}`] as const)
  for (const [table, saved] of tables)
    await database.sql.unsafe(
      `create table ${saved} as select * from ${table} where account_id = ${customer.accountId}`,
    )
  await ledger.settle(settlement(customer, { callId: request.callId }))
  // Sets the database back by a few seconds in one transaction, like a restore that connected processes do not notice.
  await database.sql.begin(async transaction => {
    await transaction.unsafe('set local session_replication_role = replica')
    for (const [table, saved] of tables) {
      await transaction.unsafe(`delete from ${table} where account_id = ${customer.accountId}`)
      await transaction.unsafe(`insert into ${table} select * from ${saved}`)
    }
    await transaction.unsafe('delete from database_timeline')
  })
  const rows = await eventually(
    async () => usageOf(database.sql, customer),
    ({ length }) => length > 0,
  )
  expect(rows).toMatchObject([{ status: 200, charged_micro_vnd: String(CALL_MICRO_VND) }])
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 9n * CALL_MICRO_VND, held: 0n })
  for (const [, saved] of tables) await database.sql.unsafe(`drop table ${saved}`)
  await ledger.close()
})

test('the hold of a call with an impossible settlement is freed', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const ledger = await startLedger(database.url, { limits: { sweepMs: 10, orphanMs: 0 } })
  const request = holdRequest(customer)
  await ledger.admit(request, patient)
  await expect(ledger.settle(settlement(customer, { callId: request.callId, inputTokens: -1 }))).rejects.toThrow(
    'inputTokens',
  )
  await eventually(
    async () => walletOf(database.sql, customer),
    ({ held }) => held === 0n,
  )
  expect(await usageOf(database.sql, customer)).toMatchObject([
    { call_id: request.callId, status: 599, charged_micro_vnd: '0' },
  ])
  await ledger.close()
})

test.each([
  ['frees its hold', 0],
  ['keeps its hold over a shutdown', 60_000],
])('a charge that Postgres rejects %s, and is made after a restart once Postgres accepts it', async (_, orphanMs) => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const spoolDir = newFolder()
  const limits = { sweepMs: 10, orphanMs, spoolRetentionMs: 0 }
  const start = () => startLedger(database.url, { name: `rejected ${orphanMs}`, spoolDir, limits })
  const held = orphanMs === 0 ? 0n : CALL_MICRO_VND
  const closeWhenSwept = async (ledger: TestLedger) => {
    await eventually(
      async () => walletOf(database.sql, customer),
      wallet => wallet.held === held,
    )
    expect(ledger.events.map(event => event.code)).toContain('settlement_refused')
    await ledger.close()
  }
  await database.sql.unsafe(`create or replace function reject() returns trigger language plpgsql as
    'begin raise exception using errcode = ''22023''; end'`)
  await database.sql.unsafe(`create trigger reject before insert on usage for each row
    when (new.account_id = ${customer.accountId} and new.cost_micro_vnd > 0) execute function reject()`)
  const first = await start()
  const request = holdRequest(customer)
  await first.admit(request, patient)
  const refused = await first.settle(settlement(customer, { callId: request.callId }))
  expect(refused).toMatchObject({ outcome: 'spooled' })
  await closeWhenSwept(first)
  // A process on another disk must not free the hold with a row of its own.
  await (await startLedger(database.url)).close()
  if (orphanMs === 0) await closeWhenSwept(await start())
  await database.sql.unsafe('drop trigger reject on usage')
  await (await start()).close()
  expect(await usageOf(database.sql, customer)).toMatchObject([
    { call_id: request.callId, status: 200, charged_micro_vnd: String(CALL_MICRO_VND) },
  ])
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 9n * CALL_MICRO_VND, held: 0n })
})

test('two processes of one name on one spool cannot run together', async () => {
  const spoolDir = newFolder()
  const first = await startLedger(database.url, { name: 'twin', spoolDir })
  await expect(startLedger(database.url, { name: 'twin', spoolDir })).rejects.toThrow(
    'A gateway named twin is already running',
  )
  await first.close()
  await (await startLedger(database.url, { name: 'twin', spoolDir })).close()
})

test('a spool that is removed under a running process is made again, with what it owes, and is its own again', async () => {
  const customer = await createCustomer(database.sql, 100n * CALL_MICRO_VND)
  const spoolDir = newFolder()
  const options = { name: 'removed', spoolDir, limits: { heartbeatMs: 50, sweepMs: 50, settleWaitMs: 50 } }
  const ledger = await startLedger(database.url, options)
  const file = join(spoolDir, 'removed', '00000002.jsonl')
  const request = holdRequest(customer)
  await ledger.admit(request, patient)
  await database.sql.begin(async transaction => {
    await transaction.unsafe('select 1 from wallet where account_id = $1::text::bigint for update', [
      String(customer.accountId),
    ])
    await ledger.settle(settlement(customer, { callId: request.callId }))
    rmSync(spoolDir, { recursive: true })
    await eventually(
      async () => existsSync(file) && readFileSync(file, 'utf8').includes(request.callId),
      isThere => isThere,
    )
    await expect(startLedger(database.url, options)).rejects.toThrow('A gateway named removed is already running')
  })
  await eventually(
    () => usageOf(database.sql, customer),
    ({ length }) => length === 1,
  )
  const faults = ledger.events.filter(({ level }) => level !== 'info')
  expect(faults.map(({ code }) => code)).toEqual(['spool_failed'])
  await ledger.close()
})

test('a process that was declared dead by mistake registers again, keeps its calls and continues', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const ledger = await startLedger(database.url, { name: 'fenced', limits: { heartbeatMs: 50, sweepMs: 10 } })
  const before = holdRequest(customer)
  await ledger.admit(before, patient)
  await database.sql.unsafe(`update gateway_instance set ended_at = now() where name = 'fenced'`)
  await eventually(
    async () => ledger.events.map(event => event.code),
    codes => codes.includes('fenced'),
  )
  const owner = await database.sql.unsafe(
    `select g.ended_at from hold h join gateway_instance g using (instance_id) where call_id = $1::text::uuid`,
    [before.callId],
  )
  expect(owner).toEqual([{ ended_at: null }])
  const after = holdRequest(customer)
  expect(await ledger.admit(after, patient)).toMatchObject({ outcome: 'admitted' })
  for (const { callId } of [before, after]) {
    const settled = { outcome: 'settled', chargedMicroVnd: CALL_MICRO_VND }
    expect(await ledger.settle(settlement(customer, { callId }))).toMatchObject(settled)
  }
  await ledger.close()
})

test('a hold placed after its process was declared dead by mistake is not freed, and moves to the new registration', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const late = await startLedger(database.url, { name: 'late', limits: { heartbeatMs: 400, sweepMs: 20 } })
  const [ended] = await database.sql.unsafe(
    `update gateway_instance set ended_at = now() where name = 'late' and ended_at is null returning instance_id`,
  )
  const request = holdRequest(customer)
  await late.admit(request, patient)
  const other = await startLedger(database.url, { name: 'other', limits: { sweepMs: 10 } })
  const ownerOf = async () =>
    (await database.sql.unsafe('select instance_id from hold where call_id = $1::text::uuid', [request.callId]))[0]
  await eventually(ownerOf, owner => owner !== undefined && owner.instance_id !== ended?.instance_id)
  // Moves the hold back to the instance declared dead, as a statement that was already running would.
  await database.sql.unsafe(`update hold set instance_id = ${ended?.instance_id} where call_id = '${request.callId}'`)
  await eventually(ownerOf, owner => owner !== undefined && owner.instance_id !== ended?.instance_id)
  const settled = { outcome: 'settled', chargedMicroVnd: CALL_MICRO_VND }
  expect(await late.settle(settlement(customer, { callId: request.callId }))).toMatchObject(settled)
  await Promise.all([late.close(), other.close()])
})

test('holds from before the clock of Postgres was set back are freed if their process is dead, or their call is over', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const silent = { heartbeatMs: 3_600_000, sweepMs: 3_600_000 }
  const gone = await startLedger(database.url, { name: 'gone before', limits: silent })
  const [dead, over, running] = [holdRequest(customer), holdRequest(customer), holdRequest(customer)]
  for (const request of [dead, over]) await gone.admit(request, patient)
  const other = await startLedger(database.url, { name: 'there after', limits: { ...silent, sweepMs: 20 } })
  await other.admit(running, patient)
  await database.sql.unsafe(`update gateway_instance set ended_at = now() where name = 'gone before'`)
  await database.sql.unsafe(`update hold set opened_at = now() + interval '1 year'`)
  await database.sql.unsafe(
    `update hold set instance_id = (select instance_id from gateway_instance where name = 'there after')
      where call_id = '${over.callId}'`,
  )
  const held = async () => (await database.sql.unsafe('select call_id from hold')).map(row => row.call_id)
  expect(await eventually(held, left => left.length <= 1)).toEqual([running.callId])
  const settled = { outcome: 'settled', chargedMicroVnd: CALL_MICRO_VND }
  expect(await other.settle(settlement(customer, { callId: running.callId }))).toMatchObject(settled)
  await Promise.all([gone.close(), other.close()])
})

test('the spool survives a line that a crash cut off, and contains no prompt, no reply and no key', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const spoolDir = newFolder()
  const earlier = await startLedger(database.url, { name: 'cut', spoolDir })
  const requests = [holdRequest(customer), holdRequest(customer)]
  for (const request of requests) await earlier.admit(request, patient)
  await earlier.close()
  // Lines in the format of a version without checksums.
  const [whole, cut] = requests.map(({ callId }) => {
    const line = settlement(customer, { callId })
    return JSON.stringify({ ...line, costMicroVnd: String(line.costMicroVnd) })
  })
  writeFileSync(join(spoolDir, 'cut', '00000007.jsonl'), `${whole}\n{"broken\n${cut!.slice(0, 100)}`)
  const ledger = await startLedger(database.url, { name: 'cut', spoolDir })
  const statuses = (await usageOf(database.sql, customer)).map(row => row.status)
  expect(statuses).toEqual([200, 599])
  expect(ledger.events.map(event => event.code)).toEqual(['spool_set_aside', 'spool_replayed', 'holds_swept'])
  await ledger.settle(settlement(customer))
  await ledger.close()
  const text = readdirSync(join(spoolDir, 'cut'))
    .map(name => readFileSync(join(spoolDir, 'cut', name), 'utf8'))
    .join('')
  expect(text).not.toContain(customer.key)
  expect(text).not.toContain(customer.keyHash.toString('hex'))
})

test('a hold that was abandoned for longer than settlements are accepted is freed all the same', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const ledger = await startLedger(database.url, { name: 'long-gone' })
  const request = holdRequest(customer)
  await ledger.admit(request, patient)
  await ledger.close()
  await database.sql`update hold set opened_at = now() - interval '200 days' where call_id = ${request.callId}`
  const successor = await startLedger(database.url, { name: 'much-later' })
  await successor.close()
  expect(await walletOf(database.sql, customer)).toMatchObject({ held: 0n })
  expect(await usageOf(database.sql, customer)).toMatchObject([
    { call_id: request.callId, status: 599, charged_micro_vnd: '0' },
  ])
})
