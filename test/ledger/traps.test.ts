/** Faults of earlier designs of this ledger; each test shows that one of them cannot happen. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { extendHolds } from '../../src/ledger/extend.ts'
import { type HoldResult, type HoldRow, placeHolds } from '../../src/ledger/hold.ts'
import { findLockedAccounts, findLockedKeys } from '../../src/ledger/locked.ts'
import { lookUpCalls, releaseHolds, settleCalls } from '../../src/ledger/settle.ts'
import { openDatabase, openStatementPool, plainArray, type StatementPool, textArray } from '../../src/lib/database.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { microVnd } from '../../src/lib/money.ts'
import { packedRows } from '../../src/lib/packed-rows.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import {
  CALL_MICRO_VND,
  type Customer,
  createCustomer,
  expectCleanAudit,
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

test('T1: holds and settlements that race for one wallet never fail a CHECK because of a stale figure', async () => {
  const customer = await createCustomer(database.sql, 30n * CALL_MICRO_VND)
  const worker = async (pool: StatementPool): Promise<void> => {
    for (let round = 0; round < 40; round++) {
      const rows = Array.from({ length: 1 + (round % 7) }, () => holdRow(customer))
      const answers = await placeHolds(pool, rows, '1')
      const held = rows.filter((_, index) => holdsMoney(answers[index]))
      // Half of the calls cost more than their hold, so holds exceed the balance for a while.
      const costs = held.map(({ callId }, index) =>
        settlement(customer, {
          callId,
          ...(index % 2 ? { inputTokens: 3_880, costMicroVnd: 6_000_000n as typeof CALL_MICRO_VND } : {}),
        }),
      )
      if (costs.length > 0) await settleCalls(pool, costs)
    }
  }
  await Promise.all(pools.map(worker))
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 0n, held: 0n })
})

test('T1: statements that lock the same wallets, given in any order, never wait for each other in a circle', async () => {
  const customers = await Promise.all(Array.from({ length: 24 }, () => createCustomer(database.sql, 1_000n * VND)))
  const worker = async (pool: StatementPool, index: number): Promise<void> => {
    for (let round = 0; round < 30; round++) {
      // Each batch takes the customers from another place, forwards or backwards.
      const start = (7 * round + 5 * index) % customers.length
      const turned = [...customers.slice(start), ...customers.slice(0, start)]
      const batch = round % 2 ? turned : turned.toReversed()
      const rows = batch.map(holdRow)
      expect((await placeHolds(pool, rows, '1')).every(holdsMoney)).toBe(true)
      const calls = batch.map((customer, place) => ({ ...customer, callId: rows[place]!.callId }))
      await extendHolds(
        pool,
        calls.map(held => ({ ...held, wantMicroVnd: CALL_MICRO_VND })),
      )
      await settleCalls(
        pool,
        calls.map(({ callId }, place) => settlement(batch[place]!, { callId })),
      )
    }
  }
  await Promise.all(pools.map(worker))
  for (const customer of customers) {
    expect(await walletOf(database.sql, customer)).toEqual({ balance: 1_000n * VND - 120n * CALL_MICRO_VND, held: 0n })
  }
})

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

  const customer = { accountId: 1, keyId: 1 }
  const statements: Record<string, (pool: StatementPool) => Promise<unknown>> = {
    hold: pool => placeHolds(pool, [{ ...holdRow({ ...customer, key: '', keyHash: Buffer.alloc(32) }) }], '1'),
    'hold within limits': pool =>
      placeHolds(pool, [holdRow({ ...customer, key: '', keyHash: Buffer.alloc(32) })], '1', { withinLimits: true }),
    extend: pool => extendHolds(pool, [{ ...customer, callId: uuidv7(), wantMicroVnd: CALL_MICRO_VND }]),
    settle: pool => settleCalls(pool, [settlement(customer)]),
    lookup: pool => lookUpCalls(pool, [settlement(customer)]),
    release: pool => releaseHolds(pool, [settlement(customer)]),
    'locked wallets': pool => findLockedAccounts(pool, [customer.accountId]),
    'locked wallets of keys': pool => findLockedKeys(pool, [Buffer.alloc(32).toString('hex')]),
  }
  test.each(Object.keys(statements))('%s', async name => {
    const plan = await planOf(statements[name]!)
    const scans = plan.filter(line => /Scan/.test(line) && / on (wallet|usage|hold|api_key|usage_daily)\b/.test(line))
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
    const [first, second, ...others] = await hold()
    const { accountId, callId } = first!
    for (const change of [
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
      const rows = Array.from({ length: 500 }, () => holdRow(customer))
      await placeHolds(pool, rows, '1')
      await settleCalls(
        pool,
        rows.map(({ callId }) => settlement(customer, { callId })),
      )
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
  const careful = packed.pack([{ text: 'a\0b\x1dc\x1ed\x1fe', amount: 1n, at }])
  expect(await pools[0]!.query(`select text from (${packed.select('$1', ['text'])}) rows`, [careful])).toEqual([
    { text: 'abcde' },
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
