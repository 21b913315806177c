/**
 * During a rolling update, replicas of the previous version run their statements on the new schema. So a new column must be
 * nullable or have a default, and a column or table may only be dropped one version after its last use. A statement may be
 * removed from this file when nobody runs its version any more.
 */

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { retireUsage } from '../../src/ledger/retire.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { microVnd } from '../../src/lib/money.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  addMoney,
  CALL_MICRO_VND,
  type Customer,
  createCustomer,
  expectCleanAudit,
  settlement,
  startLedger,
  usageOf,
  walletOf,
} from './world.ts'

const database = await createTestDatabase()
afterAll(() => database.drop())
const previous = (name: string) => readFileSync(new URL(`previous/${name}.sql`, import.meta.url), 'utf8')

let customer: Customer
beforeAll(async () => {
  customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
})

test('a gateway of the previous version admits and settles on the schema of this one', async () => {
  const callId = uuidv7()
  const [instance] =
    await database.sql`insert into gateway_instance (name) values ('previous') returning instance_id::text`
  const held = await database.sql.unsafe(previous('0004-hold'), [
    `{${customer.keyHash.toString('hex')}}`,
    `{${callId}}`,
    `{${CALL_MICRO_VND}}`,
    '{model-a}',
    '{NULL}',
    '{1}',
    instance?.instance_id,
  ])
  expect(held).toMatchObject([{ active: true, held: String(CALL_MICRO_VND) }])
  const figures = [CALL_MICRO_VND, 1_000, 120, 0, 0, 0, 1_500, 1, 12, 34, true, false, new Date().toISOString()]
  const [cost, ...rest] = figures.map(figure => `{${figure}}`)
  const settled = await database.sql.unsafe(previous('0004-settle'), [
    `{${customer.accountId}}`,
    `{${callId}}`,
    `{${customer.keyId}}`,
    '{model-a}',
    '{NULL}',
    '{1}',
    '{200}',
    cost as string,
    ...rest,
  ])
  expect(settled).toMatchObject([{ charged: String(CALL_MICRO_VND) }])
  expect(await usageOf(database.sql, customer)).toMatchObject([{ call_id: callId, status: 200, catalogue_id: null }])
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 9n * CALL_MICRO_VND, held: 0n })
  await expectCleanAudit(database.sql)
})

test('a gateway that does not know the operator’s costs settles beside one that does, and its rows have none', async () => {
  const callId = uuidv7()
  const [before] = await usageOf(database.sql, customer)
  const figures: readonly (string | number)[] = [
    customer.accountId,
    callId,
    customer.keyId,
    'model-a',
    'NULL',
    1,
    200,
    ...[CALL_MICRO_VND, 1_000, 120, 0, 0, 0, 1_500, 1].map(String),
    ...[12, 34, 'true', 'false', new Date().toISOString(), 'NULL', 0],
  ]
  const parameters = figures.map(figure => `{${figure}}`)
  expect(await database.sql.unsafe(previous('0014-settle'), parameters)).toMatchObject([
    { charged: `{${CALL_MICRO_VND}}` },
  ])
  expect(await usageOf(database.sql, customer)).toMatchObject([
    before,
    { call_id: callId, status: 200, upstream_cost_micro_vnd: null, cache_write_tokens: null },
  ])
  await expectCleanAudit(database.sql)
})

test('a gateway that does not record attempts settles beside one that does, and its rows have none', async () => {
  await addMoney(database.sql, customer.accountId, CALL_MICRO_VND)
  const callId = uuidv7()
  const ids = [customer.accountId, callId, customer.keyId, 'model-a', 'NULL', 1, 200]
  const figures = [CALL_MICRO_VND, 1_000, 120, 0, 0, 0, 1_500, 1, 12, 34, 'true', 'false', new Date().toISOString()]
  const parameters = [...ids, ...figures, 'NULL', 0, 'NULL', 7].map(figure => `{${figure}}`)
  expect(await database.sql.unsafe(previous('0016-settle'), parameters)).toMatchObject([
    { charged: `{${CALL_MICRO_VND}}` },
  ])
  expect((await usageOf(database.sql, customer)).at(-1)).toMatchObject({
    call_id: callId,
    upstream_cost_micro_vnd: '7',
    attempts: null,
    error_code: null,
  })
  await expectCleanAudit(database.sql)
})

test('a gateway that does not know tags settles beside one that does, and its rows have none', async () => {
  await addMoney(database.sql, customer.accountId, CALL_MICRO_VND)
  const callId = uuidv7()
  const none = '\x1e'
  const ids = [customer.accountId, callId, customer.keyId, 'model-a', none, 1, 200]
  const figures = [CALL_MICRO_VND, 1_000, 120, 0, 0, 0, 1_500, 1, 12, 34, 'true', 'false', new Date().toISOString()]
  const line = [...ids, ...figures, none, 0, none, none, none, none, none].join('\x1f')
  expect(await database.sql.unsafe(previous('0021-settle'), [line])).toMatchObject([{ charged: `{${CALL_MICRO_VND}}` }])
  expect((await usageOf(database.sql, customer)).at(-1)).toMatchObject({ call_id: callId, tag: null })
  await expectCleanAudit(database.sql)
})

test('while both versions settle at once, the sums of days and of retired rows count the known costs only', async () => {
  const { accountId, keyId } = customer
  await addMoney(database.sql, accountId, 20n * CALL_MICRO_VND)
  const ledger = await startLedger(database.url)
  const old = () =>
    [accountId, uuidv7(), keyId, 'model-a', 'NULL', 1, 200, CALL_MICRO_VND, 1_000, 120, 0, 0, 0, 1_500, 1].concat([
      12,
      34,
      'true',
      'false',
      new Date().toISOString(),
      'NULL',
      0,
    ] as never[])
  try {
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        index % 2 === 0
          ? database.sql.unsafe(
              previous('0014-settle'),
              old().map(figure => `{${figure}}`),
            )
          : ledger.settle(settlement(customer, { upstreamCostMicroVnd: microVnd(BigInt(index)) })),
      ),
    )
  } finally {
    await ledger.close()
  }
  const sums = (table: string) =>
    database.sql.unsafe(`
    select sum(calls)::int as calls, sum(upstream_cost_micro_vnd)::int as cost, sum(upstream_cost_calls)::int as costed
      from ${table} where account_id = ${accountId}`)
  expect(await sums('usage_daily')).toMatchObject([{ calls: 12, cost: 7 + 1 + 3 + 5 + 7, costed: 5 }])
  await expectCleanAudit(database.sql)
  await database.sql.begin(async transaction => {
    await transaction.unsafe('set local session_replication_role = replica')
    await transaction.unsafe(
      `update usage set opened_at = opened_at - interval '100 days', closed_at = closed_at - interval '100 days'`,
    )
  })
  expect(await retireUsage(database.sql, { olderThanDays: 99 })).toMatchObject({ rows: 12 })
  expect(await sums('usage_retired')).toMatchObject([{ calls: 12, cost: 23, costed: 5 }])
  await expectCleanAudit(database.sql)
})
