/** Faults of earlier designs of this ledger; each test shows that one of them cannot happen. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { extendHolds } from '../../src/ledger/extend.ts'
import { type HoldResult, type HoldRow, placeHolds } from '../../src/ledger/hold.ts'
import { placeCoveredHolds } from '../../src/ledger/hold-covered.ts'
import { findLockedAccounts, findLockedKeys } from '../../src/ledger/locked.ts'
import { lookUpCalls, releaseHolds, settleCalls } from '../../src/ledger/settle.ts'
import { type HeldSettlement, settleCoveredCalls } from '../../src/ledger/settle-covered.ts'
import type { Settlement } from '../../src/ledger/types.ts'
import { openDatabase, openStatementPool, plainArray, type StatementPool, textArray } from '../../src/lib/database.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { type MicroVnd, microVnd } from '../../src/lib/money.ts'
import { packedRows } from '../../src/lib/packed-rows.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import {
  CALL_MICRO_VND,
  type Customer,
  createCustomer,
  expectCleanAudit,
  poolOf,
  settlement,
  startLedger,
  walletOf,
} from './world.ts'

const database = await createTestDatabase()
/** The session settings that the ledger uses for its connections. */
const SESSION = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_bitmapscan: 'off',
  jit: 'off',
}
/** Opens a single connection with the ledger's settings. */
function openTrap(url: string): StatementPool {
  return openStatementPool({ url, name: 'trap', connectionsMax: 1, deadlineMs: 30_000, session: SESSION })
}

const pools = Array.from({ length: 4 }, () => openTrap(database.url))
afterEach(() => expectCleanAudit(database.sql))
afterAll(async () => {
  await Promise.all(pools.map(pool => pool.close()))
  await database.drop()
})

const VND = 1_000_000n

function holdsMoney(answer: HoldResult | undefined): boolean {
  return answer?.active === true && answer.heldMicroVnd !== null
}

function holdRow(customer: Customer): HoldRow {
  const keyHashHex = customer.keyHash.toString('hex')
  const wants = { holdMinMicroVnd: CALL_MICRO_VND, holdMaxMicroVnd: CALL_MICRO_VND }
  const price = { priceVnd: 1_500, pricePer: 'mtok' } as const
  return {
    keyHashHex,
    access: customer.access,
    callId: uuidv7(),
    ...wants,
    entryId: 'm',
    requestedName: null,
    endpoint: 1,
    family: 'f',
    formerName: null,
    ...price,
  }
}

/** Places holds as the ledger does: the short way where it can. Returns what each call holds. */
async function hold(pool: StatementPool, rows: readonly HoldRow[]): Promise<(MicroVnd | null)[]> {
  const covered = await placeCoveredHolds(pool, rows, '1')
  const left = rows.filter((_, index) => covered[index] === null)
  const answers = left.length === 0 ? [] : await placeHolds(pool, left, '1')
  return rows.map((row, index) => {
    const answer = covered[index] ?? answers[left.indexOf(row)]
    return answer?.active === true ? answer.heldMicroVnd : null
  })
}

/** Settles calls as the ledger does: the short way where it can. */
async function settle(pool: StatementPool, calls: readonly HeldSettlement[]): Promise<void> {
  const covered = await settleCoveredCalls(pool, calls)
  const left = calls.filter((_, index) => covered.calls[index] === null).map(call => call.settlement)
  if (left.length > 0) await settleCalls(pool, left)
}

function asHeld(settlement: Settlement): HeldSettlement {
  return { settlement, heldMicroVnd: CALL_MICRO_VND }
}

test('T1: holds and settlements that race for one wallet never fail a CHECK because of a stale figure', async () => {
  const customer = await createCustomer(database.sql, 30n * CALL_MICRO_VND)
  const worker = async (pool: StatementPool): Promise<void> => {
    for (let round = 0; round < 40; round++) {
      const rows = Array.from({ length: 1 + (round % 7) }, () => holdRow(customer))
      const held = await hold(pool, rows)
      const costs = rows.flatMap(({ callId }, index) => {
        const heldMicroVnd = held[index]
        if (heldMicroVnd === null || heldMicroVnd === undefined) return []
        // Half of the calls cost more than their hold, so holds exceed the balance for a while.
        const cost = index % 2 ? { inputTokens: 3_880, costMicroVnd: microVnd(6_000_000n) } : {}
        return [{ settlement: settlement(customer, { callId, ...cost }), heldMicroVnd }]
      })
      if (costs.length > 0) await settle(pool, costs)
    }
  }
  await Promise.all(pools.map(worker))
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 0n, held: 0n })
})

test('T1: statements that lock the same wallets, given in any order, never wait for each other in a circle', async () => {
  const customers = await Promise.all(Array.from({ length: 24 }, () => createCustomer(database.sql, 1_000n * VND)))
  const worker = async (pool: StatementPool, index: number): Promise<void> => {
    for (let round = 0; round < 30; round++) {
      const isShort = (index + round) % 3 > 0
      // Each batch takes the customers from another place, forwards or backwards.
      const start = (7 * round + 5 * index) % customers.length
      const turned = [...customers.slice(start), ...customers.slice(0, start)]
      const batch = round % 2 ? turned : turned.toReversed()
      const rows = batch.map(holdRow)
      if (isShort) expect((await placeCoveredHolds(pool, rows, '1')).every(answer => answer !== null)).toBe(true)
      else expect((await placeHolds(pool, rows, '1')).every(holdsMoney)).toBe(true)
      const calls = batch.map((customer, place) => ({ ...customer, callId: rows[place]!.callId }))
      await extendHolds(
        pool,
        calls.map(held => ({ ...held, wantMicroVnd: CALL_MICRO_VND })),
      )
      const settlements = calls.map(({ callId }, place) => settlement(batch[place]!, { callId }))
      if (isShort) await settle(pool, settlements.map(asHeld))
      else await settleCalls(pool, settlements)
    }
  }
  await Promise.all(pools.map(worker))
  for (const customer of customers) {
    expect(await walletOf(database.sql, customer)).toEqual({ balance: 1_000n * VND - 120n * CALL_MICRO_VND, held: 0n })
  }
})

test('T1: a hold that grows while its settlement waits for the wallet is freed whole', async () => {
  const customer = await createCustomer(database.sql, 100n * CALL_MICRO_VND)
  const [first, second] = [holdRow(customer), holdRow(customer)]
  await hold(pools[0]!, [first, second])
  const calls = [first, second].map(({ callId }) => asHeld(settlement(customer, { callId })))
  const { settling } = await database.sql.begin(async transaction => {
    await transaction`select from wallet where account_id = ${customer.accountId} for no key update`
    const settling = settleCoveredCalls(pools[1]!, calls).then(
      () => 'settled',
      error => error.code,
    )
    await expect.poll(waitingForLocks, { timeout: 20_000 }).toBe(1)
    const grown = { accountId: customer.accountId, callId: first.callId, wantMicroVnd: microVnd(2n * CALL_MICRO_VND) }
    await extendHolds(poolOf(transaction), [grown])
    return { settling }
  })
  // What the short way knew was no longer true, so it has done nothing.
  expect(await settling).toBe('GW001')
  expect((await walletOf(database.sql, customer)).held).toBe(3n * CALL_MICRO_VND)
  await settleCalls(
    pools[1]!,
    calls.map(call => call.settlement),
  )
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 98n * CALL_MICRO_VND, held: 0n })
})

async function waitingForLocks(): Promise<number> {
  const [row] = await database.sql`select count(*)::integer as sessions from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return row?.sessions
}

test('T1: wallets are found by account only, so that HOLD locks them in this order in any plan', async () => {
  const indexes = await database.sql`
    select indexname from pg_indexes where schemaname = current_schema() and tablename = 'wallet'`
  expect(indexes.map(({ indexname }) => indexname)).toEqual(['wallet_pkey'])
})

/** Fills the tables: for every ten usage rows, one wallet with a key, a hold and a daily sum. */
const FILL = `
with w as (insert into wallet (account_id) select n from generate_series(1, $1::text::integer / 10) n returning account_id),
k as (insert into api_key (account_id, key_hash, pepper_id)
  select account_id, sha256(account_id::text::bytea), 1 from w returning account_id, key_id),
h as (insert into hold (account_id, call_id, key_id, entry_id, endpoint, amount_micro_vnd, instance_id)
  select account_id, gen_random_uuid(), key_id, 'm', 1, 1, 1 from k),
d as (insert into usage_daily select account_id, '2026-01-01', key_id, 'm', 1, 0, 1, 1, 0, 0, 0 from k)
insert into usage (account_id, seq, call_id, key_id, entry_id, endpoint, status, input_tokens, output_tokens, cached_input_tokens,
  reasoning_tokens, images, price_vnd, price_per, cost_micro_vnd, charged_micro_vnd, balance_after_micro_vnd, latency_ms, streamed,
  estimated, opened_at)
select 1 + n % greatest(1, $1::text::integer / 10), 1 + n, gen_random_uuid(), 1, 'm', 1, 200, 1, 1, 0, 0, 0, 1, 1, 2, 2, 0, 1, false, false, now()
  from generate_series(1, $1::text::integer) n`

describe.each([0, 20_000])('T2: the statements are look-ups by index, with %i rows and no statistics', count => {
  let own: TestDatabase
  beforeAll(async () => {
    own = await createTestDatabase()
    for (const table of ['wallet', 'usage', 'hold', 'api_key', 'usage_daily']) {
      await own.sql.unsafe(`alter table ${table} set (autovacuum_enabled = off)`)
    }
    await own.sql.unsafe(FILL, [String(count)])
    const analyzed = await own.sql.unsafe(
      `select 1 from pg_stats where tablename in ('usage', 'hold', 'wallet', 'api_key')`,
    )
    expect(analyzed).toHaveLength(0)
  })
  afterAll(() => own.drop())

  const ids = { accountId: 1, keyId: 1 }
  const customer = { ...ids, key: '', keyHash: Buffer.alloc(32), access: { ...ids, keysVersion: 0 } }
  const statements: Record<string, (pool: StatementPool) => Promise<unknown>> = {
    hold: pool => placeHolds(pool, [holdRow(customer)], '1'),
    'hold within limits': pool => placeHolds(pool, [holdRow(customer)], '1', { withinLimits: true }),
    'hold, covered': pool => placeCoveredHolds(pool, [holdRow(customer)], '1'),
    extend: pool => extendHolds(pool, [{ ...customer, callId: uuidv7(), wantMicroVnd: CALL_MICRO_VND }]),
    settle: pool => settleCalls(pool, [settlement(customer)]),
    'settle, covered': pool => settleCoveredCalls(pool, [asHeld(settlement(customer))]),
    lookup: pool => lookUpCalls(pool, [settlement(customer)]),
    release: pool => releaseHolds(pool, [settlement(customer)]),
    'locked wallets': pool => findLockedAccounts(pool, [customer.accountId]),
    'locked wallets of keys': pool => findLockedKeys(pool, [Buffer.alloc(32).toString('hex')]),
  }
  test.each(Object.keys(statements))('%s', async name => {
    const plan = await planOf(statements[name]!)
    const isScan = (line: string): boolean => / on (wallet|usage|hold|api_key|usage_daily)\b/.test(line)
    // A scan by places reads only rows that the statement has found before.
    const scans = plan.filter(line => /Scan/.test(line) && isScan(line) && !/Tid Scan/.test(line))
    expect(scans.length).toBeGreaterThan(0)
    expect(scans.filter(line => !/Index( Only)? Scan using/.test(line))).toEqual([])
    expect(plan.filter(line => /Hash Join|Merge Join|Hash Left Join/.test(line))).toEqual([])
    // Every index scan has a condition, and no join compares two intermediate results row by row.
    const conditions = plan.filter(line => /Index Cond:/.test(line))
    expect(conditions.length).toBe(scans.length)
    expect(plan.filter(line => /Join Filter/.test(line))).toEqual([])
    // The unique indexes on call ids are searched by call id, not only by account.
    const ofCalls = plan.flatMap((line, index) =>
      / using (usage_call|hold_pkey) /.test(line) ? [plan[index + 1]] : [],
    )
    for (const condition of ofCalls) expect(condition).toMatch(/Index Cond:.*call_id/)
  })

  async function planOf(run: (pool: StatementPool) => Promise<unknown>): Promise<string[]> {
    let plan: string[] = []
    const sql = openDatabase({ url: own.url, name: 'plan', connectionsMax: 1, session: SESSION })
    await run({
      async query<Row>(statement: string) {
        const count = new Set(statement.match(/\$\d+/g)).size
        await sql.unsafe(`prepare examined as ${statement}`)
        const rows = await sql.unsafe(`explain (costs off) execute examined(${Array(count).fill('null').join(', ')})`)
        plan = rows.map(row => row['QUERY PLAN'])
        return [] as unknown as readonly Row[]
      },
      load: { name: 'plan', statements: 0, connectionsMax: 1 },
      close: () => sql.end(),
    })
    await sql.end()
    return plan
  }
})

describe('T2: as Postgres counts what it reads', () => {
  // Only these tests use this database: a session adds its counts to everyone's only once it has been idle for ten seconds.
  let own: TestDatabase
  beforeAll(async () => {
    own = await createTestDatabase()
  })
  afterAll(async () => {
    await expectCleanAudit(own.sql)
    await own.drop()
  })

  test('holds are grown, settled and freed by index even if no calls were in flight when holds were last analyzed', async () => {
    const customer = await createCustomer(own.sql, 100_000n * CALL_MICRO_VND)
    const pool = openTrap(own.url)
    const hold = async () => {
      const rows = Array.from({ length: 300 }, () => holdRow(customer))
      await placeHolds(pool, rows, '1')
      return rows.map(({ callId }) => settlement(customer, { callId }))
    }
    await settleCalls(pool, await hold())
    // Keeps the empty pages, as autovacuum does when it cannot get the lock to shorten the file.
    await own.sql.unsafe('vacuum (analyze, truncate false) hold')
    const entries = async (): Promise<number> => {
      await pool.query('select pg_stat_force_next_flush()', [])
      const [row] = await pool.query<{ read: number }>(
        `select idx_tup_read::integer as read from pg_stat_user_indexes where indexrelname = 'hold_pkey'`,
        [],
      )
      return Number(row?.read)
    }
    const [first, second, third, ...others] = await hold()
    const { accountId, callId } = first!
    for (const change of [
      () => settleCoveredCalls(pool, [asHeld(third!)]),
      () => extendHolds(pool, [{ accountId, callId, wantMicroVnd: microVnd(2n * CALL_MICRO_VND) }]),
      () => settleCalls(pool, [first!]),
      () => releaseHolds(pool, [second!]),
    ]) {
      const before = await entries()
      await change()
      expect((await entries()) - before).toBeLessThan(10)
    }
    await settleCalls(pool, others)
    await pool.close()
    expect(await walletOf(own.sql, customer)).toMatchObject({ held: 0n })
  })

  test('a batch of 500 reads no more rows than it has calls, however many rows the tables have', async () => {
    const customer = await createCustomer(own.sql, 100_000n * CALL_MICRO_VND)
    const reads = async (): Promise<number> => {
      const rows = await own.sql.unsafe(
        `select sum(idx_tup_fetch + seq_tup_read)::integer as reads from pg_stat_user_tables where relname in ('usage', 'hold', 'wallet', 'api_key', 'usage_daily')`,
      )
      return rows[0]!.reads
    }
    const grow = async (): Promise<number> => {
      const pool = openTrap(own.url)
      const before = await reads()
      const batch = () => Array.from({ length: 500 }, () => holdRow(customer))
      const settlementsOf = (rows: readonly HoldRow[]) => rows.map(({ callId }) => settlement(customer, { callId }))
      const [rows, covered] = [batch(), batch()]
      await placeHolds(pool, rows, '1')
      await settleCalls(pool, settlementsOf(rows))
      await placeCoveredHolds(pool, covered, '1')
      await settleCoveredCalls(pool, settlementsOf(covered).map(asHeld))
      await pool.query('select pg_stat_force_next_flush()', [])
      await pool.close()
      return (await reads()) - before
    }
    const small = await grow()
    for (let turn = 0; turn < 5; turn++) await grow()
    const large = await grow()
    expect(small).toBeGreaterThan(0)
    expect(large).toBeLessThan(small + 500)
  })
})

describe('T4: what postgres.js does with parameters and connections', () => {
  test('does not query types when it connects, as a failure of that would end the process', () => {
    const sql = openDatabase({ url: database.url, name: 'options', connectionsMax: 1 })
    expect(sql.options.fetch_types).toBe(false)
    expect(sql.options.max_lifetime).toBeNull()
  })

  test('strings survive a statement that is prepared again after the table changed', async () => {
    const sql = openDatabase({ url: database.url, name: 'retry', connectionsMax: 1 })
    await sql.unsafe('create table retried (a jsonb, b bytea, c boolean, d text[])')
    const insert = `insert into retried select $1::text::jsonb, decode($2, 'hex'), $3::text::boolean, $4::text[] returning *`
    const parameters = ['{"x":[1,"\\""]}', '00ff', 'true', textArray(['a"b\\c', null, 'NULL', '', '{}', 'ü\0'])]
    const first = await sql.unsafe(insert, parameters, { prepare: true })
    await sql.unsafe('alter table retried add column e integer')
    const second = await sql.unsafe(insert, parameters, { prepare: true })
    const row = { a: { x: [1, '"'] }, b: Buffer.from([0, 255]), c: true, d: '{"a\\"b\\\\c",NULL,"NULL","","{}",ü}' }
    expect(first).toEqual([row])
    expect(second).toEqual([{ ...row, e: null }])
    await sql.unsafe('drop table retried')
    await sql.end()
  })

  test('arrays are sent as text, whatever their first element is', async () => {
    const statement = `select $1::boolean[]::text as flags, $2::bigint[]::text as numbers, $3::uuid[]::text as ids`
    const id = uuidv7()
    const rows = await database.sql.unsafe(statement, [
      plainArray([null, true, false]),
      plainArray([9_007_199_254_740_993n, 1]),
      plainArray([id]),
    ])
    expect(rows).toEqual([{ flags: '{NULL,t,f}', numbers: '{9007199254740993,1}', ids: `{${id}}` }])
  })
})

test('rows are sent packed into one text, whatever their values contain', async () => {
  const texts = ['', ' a,"b"\\c {}', 'NULL', 'Xin chào\n🙂', null, "it's \t 'x'"]
  interface Row {
    readonly text: string | null
    readonly amount: bigint | null
    readonly at: Date
  }
  const at = new Date('2026-11-22T08:00:00.123Z')
  const packed = packedRows<Row>()({
    text: ['text', row => row.text],
    amount: ['bigint', row => row.amount],
    is_large: ['boolean', row => row.amount !== null && row.amount > 1n],
    at: ['timestamptz', row => row.at.toISOString()],
  })
  const rows = texts.map((text, index) => ({ text, amount: index === 2 ? null : 9_007_199_254_740_993n, at }))
  const statement = `select n, text, ${packed.columns(['amount', 'is_large', 'at'])} from (${packed.select('$1', ['text'])}) rows order by n`
  const found = await pools[0]!.query(statement, [packed.pack(rows)])
  expect(found).toEqual(
    rows.map(({ text, amount }, index) => ({
      n: String(index + 1),
      text,
      amount: amount === null ? null : String(amount),
      is_large: amount !== null,
      at,
    })),
  )
  const careful = packed.pack([{ text: 'a\0b\x1ac\x1bd\x1ce\x1df\x1eg\x1fh', amount: 1n, at }])
  expect(await pools[0]!.query(`select text from (${packed.select('$1', ['text'])}) rows`, [careful])).toEqual([
    { text: 'abcdefgh' },
  ])
})

test('rows inside a column of packed rows arrive as they are, too', async () => {
  const inner = packedRows<string | null>('nested')({
    text: ['text', text => text],
    length: ['integer', text => text?.length ?? null],
  })
  const outer = packedRows<readonly (string | null)[]>()({
    count: ['integer', texts => texts.length],
    texts: ['text', texts => inner.pack(texts), 'packed'],
  })
  const lists = [['a', null, 'ü\n'], ['b\x1a\x1b\x1c\x1d\x1e\x1f'], [''], ['c', 'd']]
  const statement = `select lists.n as list, count, inside.n, text, length from (${outer.select('$1', ['count', 'texts'])}) lists
    cross join lateral (${inner.select('lists.texts', ['text', 'length'])}) inside order by 1, 3`
  const row = (list: number, count: number, n: number, text: string | null, length: number | null) => {
    return { list: String(list), count, n: String(n), text, length }
  }
  expect(await pools[0]!.query(statement, [outer.pack(lists)])).toEqual([
    row(1, 3, 1, 'a', 1),
    row(1, 3, 2, null, null),
    row(1, 3, 3, 'ü\n', 2),
    row(2, 1, 1, 'b', 7),
    row(3, 1, 1, '', 0),
    row(4, 2, 1, 'c', 1),
    row(4, 2, 2, 'd', 1),
  ])
})

test('T5: a statement sent twice, because its first answer was lost, holds and charges once', async () => {
  const customer = await createCustomer(database.sql, 100n * CALL_MICRO_VND)
  const rows = Array.from({ length: 5 }, () => holdRow(customer))
  const holds = await Promise.all(pools.map(pool => placeHolds(pool, rows, '1').catch(error => error.code)))
  // The losers of the race violate the primary key; when they repeat the statement, they find the hold of the winner.
  expect(holds.filter(answer => answer === '23505').length).toBe(holds.filter(answer => !Array.isArray(answer)).length)
  const again = await placeHolds(pools[0]!, rows, '1')
  expect(again.map(answer => answer.active && answer.heldMicroVnd)).toEqual(rows.map(() => CALL_MICRO_VND))
  expect((await walletOf(database.sql, customer)).held).toBe(5n * CALL_MICRO_VND)
  const calls = rows.map(({ callId }) => settlement(customer, { callId }))
  const codes = await Promise.all(
    pools.map(pool =>
      settleCalls(pool, calls).then(
        () => 'settled',
        error => error.code,
      ),
    ),
  )
  expect(codes.sort()).toEqual(['23505', '23505', '23505', 'settled'])
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 95n * CALL_MICRO_VND, held: 0n })
})

test('T5: a backend that commits after its process gave up is found, not repeated', async () => {
  const customer = await createCustomer(database.sql, 100n * CALL_MICRO_VND)
  const ledger = await startLedger(database.url, { limits: { statementTimeoutMs: 1_000, settleWaitMs: 50 } })
  const calls = Array.from({ length: 10 }, () => settlement(customer))
  await database.sql.begin(async transaction => {
    await transaction.unsafe(`select 1 from wallet where account_id = ${customer.accountId} for update`)
    const answers = await Promise.all(calls.map(finished => ledger.settle(finished)))
    expect(answers.every(answer => answer.outcome === 'spooled')).toBe(true)
    await transaction.unsafe(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and application_name = 'gateway settles'`)
  })
  const outcomes = async () => {
    const answers = await Promise.all(calls.map(finished => ledger.settle(finished)))
    return new Set(answers.map(answer => answer.outcome))
  }
  await expect.poll(outcomes, { timeout: 60_000 }).toEqual(new Set(['settled']))
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 90n * CALL_MICRO_VND, held: 0n })
  await ledger.close()
})
