/** Operators' view of all customers' calls: rolled up once, found with every filter and page size, and refunded once. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCsv } from '../../codegen/diff/csv.ts'
import { refundCall } from '../../src/ledger/refund.ts'
import { readModelFigures } from '../../src/ledger/reports/model-figures.ts'
import { findByRequestId, type OperatorCall, readOperatorCall } from '../../src/ledger/reports/operator-call.ts'
import { type CallFilter, type CallLimits, findCalls } from '../../src/ledger/reports/operator-calls.ts'
import { exportCallsCsv } from '../../src/ledger/reports/operator-calls-csv.ts'
import { retireUsage } from '../../src/ledger/retire.ts'
import { rollUpCalls } from '../../src/ledger/roll-up.ts'
import type { SettledAttempt, Settlement } from '../../src/ledger/types.ts'
import { openDatabase } from '../../src/lib/database.ts'
import { requestIdOf, uuidv7 } from '../../src/lib/ids.ts'
import { microVnd } from '../../src/lib/money.ts'
import { plansOf } from '../support/plans.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  CALL_MICRO_VND,
  type Customer,
  createCustomer,
  expectCleanAudit,
  settlement,
  startLedger,
  type TestLedger,
} from './world.ts'

const database = await createTestDatabase()
const { sql } = database
let ledger: TestLedger
const customers: Customer[] = []
const HOUR_MS = 3_600_000
const now = Date.now()
const CALLS = 300
/** Calls younger than this are not rolled up yet. Calls are 6 minutes apart, so these are the last ten. */
const LAG_SECONDS = 57 * 60

const attempt = (change: Partial<SettledAttempt> = {}): SettledAttempt => ({
  credential: 'orchard#1',
  model: 'm',
  startedMs: 10,
  endedMs: 900,
  outcome: 'ok',
  ...change,
})

/** The nth call: every tenth fails over, every 50th fails, one is slow, and every 7th requests an alias. */
function nth(n: number): Partial<Settlement> {
  const isFailed = n % 50 === 0
  const down = attempt({ endedMs: 400, outcome: 'upstream_failed', status: 503 })
  const served = attempt({ credential: 'harbour#2', startedMs: 400 })
  return {
    callId: uuidv7(now - (CALLS - n) * (HOUR_MS / 10)),
    entryId: n % 3 === 0 ? 'model-b' : 'model-a',
    requestedName: n % 7 === 0 ? 'nickname' : null,
    attempts: isFailed ? [down] : n % 10 === 0 ? [down, served] : [attempt()],
    streamed: n % 2 === 0,
    firstByteMs: n % 2 === 0 ? 410 + n : null,
    upstreamCostMicroVnd: microVnd(BigInt(n) * 1_000_000n),
    latencyMs: n === 123 ? 70_000 : 900,
    ...(n % 20 === 0 && { requestId: `run-${n % 40}` }),
    ...(isFailed && { status: 502, errorCode: 'upstream_failed', costMicroVnd: microVnd(0n) }),
  }
}

beforeAll(async () => {
  ledger = await startLedger(database.url)
  for (let n = 0; n < 3; n++) customers.push(await createCustomer(sql, 1_000n * CALL_MICRO_VND))
  // Postgres stamps rows with its own clock; the update below moves them to the times in their call ids.
  for (let n = 1; n <= CALLS; n++) await ledger.settle(settlement(customers[n % 3] as Customer, nth(n)))
  await sql.begin(async transaction => {
    await transaction.unsafe('set local session_replication_role = replica')
    await transaction.unsafe(`update usage set opened_at = uuid_extract_timestamp(call_id),
      closed_at = uuid_extract_timestamp(call_id) + interval '1 second'`)
    await transaction.unsafe('delete from usage_daily')
    await transaction.unsafe(`insert into usage_daily select account_id, (closed_at at time zone 'Asia/Ho_Chi_Minh')::date, key_id,
      entry_id, count(*), count(*) filter (where status >= 400), sum(input_tokens), sum(output_tokens), sum(images),
      sum(cost_micro_vnd), sum(charged_micro_vnd), sum(upstream_cost_micro_vnd), count(upstream_cost_micro_vnd)
      from usage group by 1, 2, 3, 4`)
    await transaction.unsafe(`update call_roll_up set closed_before = now() - interval '3 days'`)
  })
})
afterAll(async () => {
  await ledger.close()
  await database.drop()
})

const everything: CallFilter = { from: new Date(now - 1_000 * HOUR_MS), to: new Date(now + HOUR_MS) }

async function all(filter: Partial<CallFilter>, limit: number, limits?: CallLimits): Promise<readonly OperatorCall[]> {
  const calls: OperatorCall[] = []
  let before: string | undefined
  for (let pages = 0; pages < 1_000; pages++) {
    const request = { filter: { ...everything, ...filter }, limit, ...(before !== undefined && { before }) }
    const page = await findCalls(sql, request, limits)
    calls.push(...page.calls)
    if (page.next === null) return calls
    before = page.next
  }
  throw new Error('paging does not end')
}

const FILTERS: readonly (readonly [string, () => Partial<CallFilter>, number])[] = [
  ['nothing', () => ({}), 300],
  ['a customer', () => ({ accountId: customers[1]?.accountId as number }), 100],
  ['a key', () => ({ accountId: customers[1]?.accountId as number, keyId: customers[1]?.keyId as number }), 100],
  ['another customer’s key', () => ({ accountId: customers[1]?.accountId as number, keyId: 9_999 }), 0],
  ['the model served', () => ({ entryId: 'model-b' }), 100],
  ['a model that never served', () => ({ entryId: 'model-z' }), 0],
  ['the model asked for', () => ({ requestedName: 'nickname' }), 42],
  ['an entry asked for by its own name', () => ({ requestedName: 'model-b' }), 100 - 14],
  ['an upstream', () => ({ upstreamId: 'harbour' }), 24],
  ['errors', () => ({ status: 'error' }), 6],
  ['successes', () => ({ status: 'ok' }), 294],
  ['one status', () => ({ status: 502 }), 6],
  ['a status that never was', () => ({ status: 418 }), 0],
  ['slow calls', () => ({ latencyMsMin: 60_000 }), 1],
  ['ten hours', () => ({ from: new Date(now - 10 * HOUR_MS) }), 101],
  ['errors of a customer', () => ({ accountId: customers[1]?.accountId as number, status: 'error' }), 2],
  [
    'a customer’s calls at an upstream',
    () => ({ accountId: customers[0]?.accountId as number, upstreamId: 'harbour' }),
    8,
  ],
  ['errors at an upstream that had none', () => ({ status: 'error', upstreamId: 'harbour' }), 0],
]

describe.each(['before', 'after'])('%s they are rolled up', when => {
  beforeAll(async () => {
    if (when === 'after') expect(await rollUpCalls(sql, { lagSeconds: LAG_SECONDS })).toMatchObject({ done: true })
  })

  test.each(FILTERS)(
    'calls filtered by %s: each one once, newest first, whatever the page size',
    async (_, filter, count) => {
      const found = await all(filter(), 200)
      expect(found).toHaveLength(count)
      const ids = found.map(({ callId }) => callId)
      expect(ids).toEqual(ids.toSorted().reverse())
      expect(new Set(ids).size).toBe(count)
      expect(await all(filter(), 7, { pageRowsMax: 200, windows: [3, 11] })).toEqual(found)
    },
  )
})

test('a search skips hours and finds what belongs to its calls by index, however many of them Postgres expects', async () => {
  const filter = { ...everything, to: new Date(now - 5 * HOUR_MS), status: 'error' } as const
  const plans = await plansOf(database.url, ['seqscan', 'bitmapscan', 'sort', 'nestloop'], async planned => {
    const { calls } = await findCalls(planned, { filter, limit: 1 }, { pageRowsMax: 1, windows: [20] })
    expect(calls).toHaveLength(1)
  })
  const [skip, page] = ['call_hourly', 'usage'].map(table => plans.find(plan => plan.includes(` on ${table}`)))
  expect(skip).toContain('Index Scan Backward using call_hourly_last_call')
  expect(skip).not.toContain('Sort')
  expect(page).toMatch(/-> {2}Limit\n *-> {2}Index Scan using \w+ on credit\n/)
})

test('calls are rolled up once, by hour, model, upstream and status, whoever does it and however often', async () => {
  const again = await Promise.all(Array.from({ length: 4 }, () => rollUpCalls(sql, { lagSeconds: LAG_SECONDS })))
  expect(again.every(({ done }) => done)).toBe(true)
  const [sums] = await sql`
    select sum(calls)::int as calls, sum(charged_micro_vnd)::text as charged, sum(upstream_cost_micro_vnd)::text as cost,
           sum(calls) filter (where status >= 400)::int as errors, count(distinct hour)::int as hours from call_hourly`
  const [rows] = await sql`select count(*)::int as calls, sum(charged_micro_vnd)::text as charged,
      sum(upstream_cost_micro_vnd)::text as cost, count(*) filter (where status >= 400)::int as errors,
      count(distinct date_trunc('hour', closed_at))::int as hours from usage
     where closed_at < (select closed_before from call_roll_up)`
  expect(sums).toEqual(rows)
  expect(rows).toMatchObject({ calls: 290, errors: 5 })
  const tries = await sql`select upstream_id, outcome, status, sum(attempts)::int as attempts from attempt_hourly
    group by 1, 2, 3 order by 1, 2`
  expect(tries).toEqual([
    { upstream_id: 'harbour', outcome: 'ok', status: 0, attempts: 24 },
    { upstream_id: 'orchard', outcome: 'ok', status: 0, attempts: 261 },
    { upstream_id: 'orchard', outcome: 'upstream_failed', status: 503, attempts: 29 },
  ])
  const [stepped] =
    await sql`select sum(attempts)::int as streams, min(first_byte_step)::int as least from attempt_hourly
    where first_byte_step >= 0`
  expect(stepped).toEqual({ streams: 140, least: Math.floor(8 * Math.log2(20)) })
})

test('models are judged by their share of served calls, and by how long streams kept their callers waiting', async () => {
  const figures = await readModelFigures(sql, everything.from)
  expect([...figures.keys()].sort()).toEqual(['model-a', 'model-b'])
  expect(figures.get('model-b')).toMatchObject({ calls: 96, servedShare: 95 / 96, firstByte: { calls: 47 } })
  expect(figures.get('model-a')).toMatchObject({ calls: 194, servedShare: 190 / 194, firstByte: { calls: 93 } })
  // Call n got its first byte 410 + n ms after the start of the call, not of the attempt that served it. The median n is 144.
  const median = figures.get('model-b')?.firstByte?.medianMs ?? 0
  expect(Math.abs(median / (410 + 144) - 1)).toBeLessThan(0.06)
  // Client errors and a key's own limit do not count against a model; a provider's rate limit does.
  const rows = [
    ['model-c', '', 400],
    ['model-c', 'orchard', 400],
    ['model-c', '', 402],
    ['model-c', '', 429],
    ['model-c', 'orchard', 499],
    ['model-c', 'orchard', 429],
    ['model-c', '', 503],
    ['model-c', 'orchard', 200],
    ['model-d', '', 401],
  ] as const
  for (const [entry, upstream, status] of rows) {
    await sql`insert into call_hourly select date_trunc('hour', now()), ${entry}, ${upstream}, ${status}, 5, 0, 0, 0, 0, 0, 0, 0, 0,
      ${uuidv7()}, ${uuidv7()}`
  }
  try {
    const more = await readModelFigures(sql, everything.from)
    expect(more.get('model-c')).toEqual({ calls: 15, servedShare: 1 / 3, firstByte: null })
    expect(more.get('model-d')).toEqual({ calls: 0, servedShare: 0, firstByte: null })
    expect((await readModelFigures(sql, new Date(now + 2 * HOUR_MS))).size).toBe(0)
  } finally {
    await sql`delete from call_hourly where entry_id in ('model-c', 'model-d')`
  }
})

test('a call is found by the request id that its client got, whoever made it', async () => {
  const one = (await all({ latencyMsMin: 60_000 }, 10))[0] as OperatorCall
  for (const requestId of [one.requestId, requestIdOf(one.callId), one.callId, one.requestId.slice(4).toUpperCase()]) {
    expect(await findByRequestId(sql, { requestId, limit: 10 })).toEqual([one])
  }
  const repeated = await findByRequestId(sql, { requestId: 'run-20', limit: 10 })
  expect(repeated).toHaveLength(8)
  expect(new Set(repeated.map(({ requestId }) => requestId))).toEqual(new Set(['run-20']))
  for (const requestId of ['run-2', "'", '%', '', 'req_', requestIdOf(uuidv7())]) {
    expect(await findByRequestId(sql, { requestId, limit: 10 })).toEqual([])
  }
})

test('a call shows its attempts, its cost to the operator and its owner', async () => {
  const [failedOver] = await all({ upstreamId: 'harbour' }, 1)
  expect(failedOver).toMatchObject({
    email: expect.stringContaining('@example.com'),
    upstreamId: 'harbour',
    attempts: [
      { credential: 'orchard#1', outcome: 'upstream_failed', status: 503, startedMs: 10, endedMs: 400 },
      { credential: 'harbour#2', outcome: 'ok', startedMs: 400, endedMs: 900 },
    ],
    errorCode: null,
    upstreamCostMicroVnd: 290_000_000n,
    refundedAt: null,
  })
  expect(await readOperatorCall(sql, uuidv7())).toBeNull()
})

test('the export has the same rows as the pages', async () => {
  const lines: string[][] = []
  for await (const record of readCsv(
    exportCallsCsv(sql, { filter: { ...everything, status: 'error' }, withCosts: true }),
  ))
    lines.push(record)
  const [header, ...rows] = lines as [string[], ...string[][]]
  const found = await all({ status: 'error' }, 10)
  expect(rows.map(row => row[header.indexOf('call_id')])).toEqual(found.map(({ callId }) => callId))
  expect(rows.every(row => row.length === header.length)).toBe(true)
  expect(rows[0]?.[header.indexOf('error')]).toBe('upstream_failed')
  expect(rows[0]?.[header.indexOf('upstream')]).toBe('orchard')
})

test('of parallel refunds of one call one is booked; the audit stays clean, and finds a forged refund', async () => {
  await expectCleanAudit(sql)
  const [call] = (await all({ accountId: customers[0]?.accountId as number, status: 'ok' }, 1)) as [OperatorCall]
  const { accountId, callId } = call
  const refund = () => sql.begin(transaction => refundCall(transaction, { callId, accountId, note: 'sorry' }))
  const answers = await Promise.all(Array.from({ length: 8 }, refund))
  expect(answers.map(({ outcome }) => outcome).sort()).toEqual([...Array(7).fill('already'), 'refunded'])
  expect(await sql`select amount_micro_vnd, kind, note from credit where reference = ${`call:${callId}`}`).toEqual([
    { amount_micro_vnd: String(CALL_MICRO_VND), kind: 3, note: 'sorry' },
  ])
  expect((await readOperatorCall(sql, callId))?.refundedAt).toBeInstanceOf(Date)
  await expectCleanAudit(sql)

  const [free] = await all({ accountId, status: 'error' }, 1)
  const other = customers[1]?.accountId as number
  const nothing = [
    { callId: free?.callId as string, accountId },
    { callId: uuidv7(), accountId },
    { callId, accountId: other },
  ]
  for (const given of nothing) {
    expect(await refundCall(sql, { ...given, note: '' })).toEqual({ outcome: 'nothing' })
  }
  await expectCleanAudit(sql)

  const { audit } = await import('../../src/ledger/audit.ts')
  const { credit } = await import('../../src/ledger/credit.ts')
  const forged = {
    accountId: other,
    amountMicroVnd: CALL_MICRO_VND,
    kind: 'refund',
    reference: `call:${callId}`,
  } as const
  await credit(sql, forged)
  expect(await audit(sql)).toMatchObject({ clean: false, differences: { refund: 1, balance: 0 }, accounts: [other] })
  await sql.begin(async transaction => {
    await transaction.unsafe('set local session_replication_role = replica')
    await transaction`update credit set reference = 'gone' where account_id = ${other} and kind = 3`
  })
  await expectCleanAudit(sql)
})

test('retiring calls removes the request ids that clients chose, and their refunds still add up', async () => {
  await sql.begin(async transaction => {
    await transaction.unsafe('set local session_replication_role = replica')
    await transaction.unsafe(
      `update usage set opened_at = opened_at - interval '100 days', closed_at = closed_at - interval '100 days'`,
    )
  })
  expect(await retireUsage(sql, { olderThanDays: 99 })).toMatchObject({ rows: CALLS })
  expect(await sql`select from client_request`).toHaveLength(0)
  await expectCleanAudit(sql)
})

test('rolling up may take longer than a page’s statement timeout, so that figures do not stop on a busy day', async () => {
  const pages = openDatabase({ url: database.url, name: 'test pages', connectionsMax: 1, statementTimeoutMs: 1_000 })
  await sql.unsafe(
    `create function dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(1.5); return new; end'`,
  )
  await sql.unsafe('create trigger dawdle before update on call_roll_up for each row execute function dawdle()')
  try {
    expect(await rollUpCalls(pages, { lagSeconds: 0, turnsMax: 1, secondsMin: 86_400 })).toMatchObject({ done: true })
  } finally {
    await sql.unsafe('drop trigger dawdle on call_roll_up')
    await pages.end({ timeout: 1 })
  }
})
