/**
 * Tests the checker that the fault tests rely on. It must find every fault that is planted here; otherwise, a clean result
 * would prove nothing.
 */

import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Findings, judge, type Verdict, type Witnesses } from './support/check.ts'
import type { ClientCall } from './support/client.ts'
import { type Customer, type Transfer, VND } from './support/customers.ts'
import type { GatewayProcess, ProcessRun } from './support/gateways.ts'
import type { Outage } from './support/missing.ts'
import { eventually } from './support/wait.ts'
import { createWorld, settled, type World } from './support/world.ts'

const CALLS = 20
let world: World
let gateway: GatewayProcess
let customer: Customer
const transfers: (Transfer & { acknowledged: boolean })[] = []
/** The checker's findings before a test tampers with anything. */
let known: Findings

beforeAll(async () => {
  world = await createWorld({ gateways: 1 })
  gateway = world.gateways[0] as GatewayProcess
  customer = await world.customers.create(world.sql, 1_000_000n * VND)
  await callAll()
  const transfer = await world.customers.transfer(world.sql, customer.accountId, 60_000)
  expect(await world.customers.notify(gateway.url, transfer)).toBe(200)
  transfers.push({ ...transfer, acknowledged: true })
  known = (await look()).findings
  await save()
})
afterAll(() => world.close())

/** Makes concurrent calls, and checks that every client gets its whole reply. */
async function callAll(): Promise<void> {
  const plan = { url: gateway.url, gateway: gateway.name, ...customer, entryId: 'gpt-5.5', secret: world.secret }
  const calls = await Promise.all(
    Array.from({ length: CALLS }, (_, index) =>
      world.client.call({ ...plan, format: 'chat_completions', streamed: index % 2 === 0 }),
    ),
  )
  expect(calls.filter(call => !call.complete)).toEqual([])
}

function look(other: Partial<Witnesses> = {}): Promise<Verdict> {
  return judge({
    sql: world.sql,
    replies: world.oracle.replies,
    calls: world.client.calls,
    transfers,
    runs: new Map([[gateway.name, gateway.runs]]),
    ...other,
  })
}

/** Names of the lists of findings that are longer now than before the tampering. */
async function news(other: Partial<Witnesses> = {}): Promise<string[]> {
  const { findings } = await look(other)
  return (Object.keys(findings) as (keyof Findings)[]).filter(name => findings[name].length > known[name].length)
}

const MONEY = ['usage', 'credit', 'wallet', 'hold'] as const

/** Runs a statement while the database's triggers and checks, which would prevent it, are disabled. */
async function tamper(statement: string): Promise<void> {
  await world.sql.begin(async transaction => {
    await transaction.unsafe("set local session_replication_role = 'replica'")
    await transaction.unsafe(statement)
  })
}

async function save(): Promise<void> {
  await tamper(MONEY.map(table => `create table saved_${table} as table ${table}`).join(';'))
}

/** Restores all money tables from the copies saved before. */
async function mend(): Promise<void> {
  await tamper(MONEY.map(table => `delete from ${table}; insert into ${table} select * from saved_${table}`).join(';'))
}

/** Kills the gateway while all its work is unfinished, including statements that Postgres has not executed yet. */
async function killWith(before: () => Promise<void>, between: () => void): Promise<void> {
  await world.sql.begin(async transaction => {
    await transaction.unsafe('lock table usage in access exclusive mode')
    await before()
    await gateway.signal('SIGKILL')
    await transaction.unsafe(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name like 'gateway %'`,
    )
  })
  between()
  expect(await gateway.start()).toBe(true)
  await settled(world)
}

test('a run without tampering is clean', () => {
  expect(Object.values(known).flat()).toEqual([])
})

/** Selects the last streamed call. Only clients of non-streamed calls are told the cost. */
const SERVED = `(select max(seq) from usage where status = 200 and streamed)`

test.each<[string, string, (keyof Findings)[]]>([
  [
    'an estimated charge, although its client stayed',
    `update usage set estimated = true where seq = ${SERVED}`,
    ['lost'],
  ],
  [
    'a usage row without its charge',
    `update usage set cost_micro_vnd = 0, charged_micro_vnd = 0 where seq = ${SERVED}`,
    ['lost', 'ledger'],
  ],
  [
    'a charge that is a micro-dong too high',
    `update usage set cost_micro_vnd = cost_micro_vnd + 1, charged_micro_vnd = charged_micro_vnd + 1 where seq = ${SERVED}`,
    ['wrong', 'ledger'],
  ],
  ['another model in a usage row', `update usage set entry_id = 'gpt-5.4' where seq = ${SERVED}`, ['wrong']],
  [
    'a charge without a reply',
    `update usage set input_tokens = input_tokens + 1000000 where seq = ${SERVED}`,
    ['lost', 'wrong', 'unfounded', 'ledger'],
  ],
  ['a call without its row', `delete from usage where seq = ${SERVED}`, ['lost', 'missing', 'ledger']],
  ['a balance that was raised', 'update wallet set balance_micro_vnd = balance_micro_vnd + 1', ['ledger']],
  [
    'a hold that is never released',
    `insert into hold (account_id, call_id, key_id, entry_id, endpoint, amount_micro_vnd, instance_id)
       select account_id, gen_random_uuid(), 1, 'gpt-5.5', 2, 5, 0 from wallet`,
    ['ledger'],
  ],
  ['a transfer without its credit', 'delete from credit where kind = 1', ['credits', 'ledger']],
  [
    'a transfer of another amount',
    'update credit set amount_micro_vnd = amount_micro_vnd + 1 where kind = 1',
    ['credits', 'ledger'],
  ],
])('%s is found', async (_name, statement, expected) => {
  await tamper('alter table usage drop constraint if exists usage_cost_is_price_times_units_and_extras')
  await tamper(statement)
  expect(await news()).toEqual(expected)
  await mend()
  expect(await news()).toEqual([])
})

test('a short stream that is cut because it has emptied its wallet is not a finding', async () => {
  const poor = await world.customers.create(world.sql, VND / 20n)
  const { options } = world.oracle
  world.oracle.options = { ...options, events: 20, pauseMsMax: 20 }
  const plan = { url: gateway.url, gateway: gateway.name, ...poor, entryId: 'claude-opus-5', secret: world.secret }
  const { callId, fault } = await world.client.call({ ...plan, format: 'messages', streamed: true })
  world.oracle.options = options
  await settled(world)
  const [row] = await world.sql`select status, charged_micro_vnd as charged from usage where call_id = ${callId}`
  expect([fault, row]).toEqual(['error event', { status: 402, charged: String(VND / 20n) }])
  expect(await news()).toEqual([])
})

test('a 402 while money is left is found', async () => {
  const refused = { ...(world.client.calls[0] as ClientCall), status: 402, complete: false }
  world.client.calls.push(refused)
  expect(await news()).toEqual(['refused'])
  world.client.calls.pop()
})

/**
 * Two simultaneous faults during a call that takes 600 ms: Postgres is killed 2 ms after the call starts, and the gateway after
 * 300 ms.
 */
interface DoubleFault {
  readonly call: ClientCall
  readonly databaseAway: readonly Outage[]
  readonly run: ProcessRun
  /** Name of the gateway that was killed. */
  readonly of: string
}

function doubleFault(): DoubleFault {
  const startedAt = Date.now()
  const call = { ...(world.client.calls[0] as ClientCall), callId: randomUUID(), costMicroVnd: null, complete: false }
  const outage = { from: startedAt - 1, to: startedAt + 3_000, killedAt: startedAt + 2 }
  const killedAt = startedAt + 300
  return {
    call: { ...call, startedAt, endedAt: startedAt + 600 },
    databaseAway: [outage],
    run: { ...(gateway.lastRun as ProcessRun), killedAt, endedAt: killedAt, wanted: true },
    of: gateway.name,
  }
}

function witnessesOf({ call, databaseAway, run, of }: DoubleFault): Partial<Witnesses> {
  const runs = new Map([[gateway.name, [...gateway.runs]]])
  runs.set(of, [...(runs.get(of) ?? []), run])
  return { calls: [...world.client.calls, call], databaseAway, runs }
}

test('a call that two faults left without a trace is counted, but is not a finding', async () => {
  const witnesses = witnessesOf(doubleFault())
  expect(await news(witnesses)).toEqual([])
  expect(await look(witnesses)).toMatchObject({ traceless: 1, tracelessMax: 1 })
  expect((await look()).traceless).toBe(0)
})

test('more than one call in 1,000 without a trace is a finding', async () => {
  const { calls = [], ...rest } = witnessesOf(doubleFault())
  const twice = [...calls, { ...doubleFault().call }]
  expect(await news({ ...rest, calls: twice })).toEqual(['missing'])
  const many = Array.from({ length: 1_000 }, () => ({ ...(world.client.calls[0] as ClientCall), callId: null }))
  const among = many.map(call => ({ ...call, complete: false }))
  expect(await news({ ...rest, calls: [...twice, ...among] })).toEqual([])
})

test.each<[string, (fault: DoubleFault) => Partial<DoubleFault>, (keyof Findings)[]]>([
  ['whose client has the whole reply', ({ call }) => ({ call: { ...call, complete: true } }), ['lost', 'missing']],
  ['while Postgres was healthy', () => ({ databaseAway: [] }), ['missing']],
  ['while Postgres was paused', fault => outageOf(fault, null), ['missing']],
  ['that started after Postgres was killed', fault => outageOf(fault, -1), ['missing']],
  ['whose hold had a second to reach the disk', fault => outageOf(fault, 1_001), ['missing']],
  ['whose gateway survived', fault => killOf(fault, null), ['missing']],
  ['whose gateway was killed before', fault => killOf(fault, -1), ['missing']],
  ['whose gateway was killed after the end', fault => killOf(fault, 601), ['missing']],
  ['while another gateway was killed', () => ({ of: 'another' }), ['missing']],
])('a call without its row %s is found', async (_name, change, expected) => {
  const fault = doubleFault()
  const witnesses = witnessesOf({ ...fault, ...change(fault) })
  expect(await news(witnesses)).toEqual(expected)
  expect((await look(witnesses)).traceless).toBe(0)
})

/** The same outages, but with Postgres killed `afterMs` after the call starts, or not at all if null. */
function outageOf({ call, databaseAway }: DoubleFault, afterMs: number | null): Partial<DoubleFault> {
  const killedAt = afterMs === null ? null : call.startedAt + afterMs
  return { databaseAway: databaseAway.map(outage => ({ ...outage, killedAt })) }
}

/** The same run of the gateway, but with the gateway killed `afterMs` after the call starts, or not at all if null. */
function killOf({ call, run }: DoubleFault, afterMs: number | null): Partial<DoubleFault> {
  return { run: { ...run, killedAt: afterMs === null ? null : call.startedAt + afterMs } }
}

test('what a killed gateway had finished is charged by its successor, once', async () => {
  const before = (await look()).charged
  await killWith(callAll, () => {})
  const after = await look()
  expect(await news()).toEqual([])
  expect(after.charged - before).toBe(CALLS)
})

test('a missing spool is found: its calls are lost', async () => {
  await killWith(callAll, () => rmSync(join(gateway.dataDir, 'spool'), { recursive: true }))
  known = (await look()).findings
  expect(known.lost.length).toBeGreaterThanOrEqual(CALLS)
})

test('a journal that accepts a call twice is found: a call settled again is charged again', async () => {
  await world.sql.unsafe('drop index usage_call')
  await callAll()
  await settled(world)
  await gateway.signal('SIGKILL')
  unrecordSettled()
  expect(await gateway.start()).toBe(true)
  await eventually(news, names => names.includes('doubled'))
})

/** Leaves the spool as if the gateway had been killed before it could record that its charges are settled. */
function unrecordSettled(): void {
  const folder = join(gateway.dataDir, 'spool')
  const paths = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter(name => name.endsWith('.jsonl'))
  expect(paths).not.toEqual([])
  for (const path of paths.map(name => join(folder, name))) {
    const lines = readFileSync(path, 'utf8').split('\n')
    writeFileSync(path, lines.filter(line => !line.startsWith('{"done":')).join('\n'))
    renameSync(path, path.replace('.done.jsonl', '.jsonl'))
  }
}
