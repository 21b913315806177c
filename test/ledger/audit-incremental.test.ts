/**
 * An incremental audit continues where the last audit ended. The tests show which forgeries it finds, which ones only a full
 * audit finds, and when a full audit runs instead.
 */

import { afterAll, expect, test } from 'vitest'
import { type AuditReport, audit } from '../../src/audit/audit.ts'
import { readLastAudit } from '../../src/audit/last.ts'
import { audit as auditWhole } from '../../src/ledger/audit.ts'
import { credit } from '../../src/ledger/credit.ts'
import { retireUsage } from '../../src/ledger/retire.ts'
import { microVnd } from '../../src/lib/money.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { CALL_MICRO_VND, call, createCustomer, startLedger } from './world.ts'

const database = await createTestDatabase()
const { sql } = database
const ledger = await startLedger(database.url)
const customer = await createCustomer(sql, 1_000n * CALL_MICRO_VND)
const other = await createCustomer(sql, 1_000n * CALL_MICRO_VND)
afterAll(async () => {
  await ledger.close()
  await database.drop()
})

const goOn = (fullEveryMs?: number): Promise<AuditReport> =>
  audit(sql, { mode: 'incremental', timeoutMs: 60_000, ...(fullEveryMs !== undefined && { fullEveryMs }) })
const full = (): Promise<AuditReport> => audit(sql, { timeoutMs: 60_000 })
const calls = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await call(ledger, n % 2 === 0 ? customer : other)
}
const broken = ({ differences }: AuditReport): Record<string, number> =>
  Object.fromEntries(Object.entries(differences).filter(([, count]) => count > 0))

/** Runs statements with triggers disabled, as a forger with full rights would. */
async function forge(...statements: readonly string[]): Promise<void> {
  await sql.begin(async transaction => {
    await transaction.unsafe('set local session_replication_role = replica')
    for (const statement of statements) await transaction.unsafe(statement)
  })
}

test('the first audit reads everything, later ones only what is new, with the same totals', async () => {
  await calls(20)
  expect(await goOn()).toMatchObject({ clean: true, mode: 'full', fullBecause: 'first', ledger: { calls: 20 } })
  await call(ledger, customer)
  await credit(sql, {
    accountId: other.accountId,
    amountMicroVnd: microVnd(5n),
    kind: 'adjustment',
    reference: 'a gift',
  })
  const next = await goOn()
  expect(next).toMatchObject({ clean: true, mode: 'incremental', fullBecause: null })
  expect(next.ledger).toEqual(await auditWhole(sql))
  expect((await goOn()).ledger).toEqual(next.ledger)
  expect(next.fullAt).toEqual((await readLastAudit(sql))?.fullAt)
})

/** Selects the last journal row. Each case changes that row or the wallet, and its second statement reverts the change. */
const LAST = `account_id = ${customer.accountId} and seq = (select max(seq) from usage where account_id = ${customer.accountId})`
test.each([
  [
    'balance',
    'update wallet set balance_micro_vnd = balance_micro_vnd + 1',
    'update wallet set balance_micro_vnd = balance_micro_vnd - 1',
  ],
  ['seq', 'update wallet set seq = seq + 1', 'update wallet set seq = seq - 1'],
  [
    'held',
    'update wallet set held_micro_vnd = held_micro_vnd + 1',
    'update wallet set held_micro_vnd = held_micro_vnd - 1',
  ],
  [
    'chain',
    `update usage set balance_after_micro_vnd = balance_after_micro_vnd + 1 where ${LAST}`,
    `update usage set balance_after_micro_vnd = balance_after_micro_vnd - 1 where ${LAST}`,
  ],
  [
    'charge',
    `create table kept as select * from usage where ${LAST};
     update usage set charged_micro_vnd = 0, balance_after_micro_vnd = 0 where ${LAST}`,
    `delete from usage where ${LAST}; insert into usage select * from kept; drop table kept`,
  ],
  [
    'daily',
    'update usage_daily set output_tokens = output_tokens + 1',
    'update usage_daily set output_tokens = output_tokens - 1',
  ],
  ['orphan', 'update hold set account_id = -1', 'delete from hold'],
  [
    'refund',
    `update credit set kind = 3, reference = 'call:' || gen_random_uuid() where kind = 2 and seq = 1 and account_id > ${other.accountId}`,
    `update credit set kind = 2, reference = 'mended' where account_id > ${other.accountId}`,
  ],
] as const)('finds a broken %s in new rows, again and again until it is repaired', async (rule, forgery, mending) => {
  await call(ledger, customer)
  if (rule === 'refund') await createCustomer(sql, CALL_MICRO_VND)
  if (rule === 'orphan')
    await sql`insert into hold (account_id, call_id, key_id, entry_id, endpoint, amount_micro_vnd, instance_id, price_vnd, price_per)
      select ${customer.accountId}, uuidv7(), ${customer.keyId}, 'x', 1, 1, 1, 1, 1`
  await forge(...forgery.split(';'))
  for (const found of [await goOn(), await goOn()]) {
    expect(found).toMatchObject({ clean: false, mode: 'incremental' })
    expect(Object.keys(broken(found))).toContain(rule)
  }
  expect(Object.keys((await readLastAudit(sql))?.broken ?? {})).toContain(rule)
  await forge(...mending.split(';'))
  expect(broken(await goOn())).toEqual({})
})

test('a change to rows already audited is found by the full audit, and reported until it is repaired', async () => {
  const second = `account_id = ${customer.accountId} and seq = 3`
  await goOn()
  await forge(`update usage set balance_after_micro_vnd = balance_after_micro_vnd + 1 where ${second}`)
  await call(ledger, customer)
  expect(await goOn()).toMatchObject({ clean: true, mode: 'incremental' })
  expect(broken(await goOn(0))).toMatchObject({ chain: 1 })
  await call(ledger, customer)
  const again = await goOn()
  expect(again).toMatchObject({ mode: 'incremental', accounts: [customer.accountId] })
  expect(broken(again)).toMatchObject({ chain: 1 })
  await forge(`update usage set balance_after_micro_vnd = balance_after_micro_vnd - 1 where ${second}`)
  expect(await goOn()).toMatchObject({ clean: true, mode: 'incremental' })
})

test('calls without an account, which only a full audit sees, are reported until a full audit finds none', async () => {
  await forge(`insert into usage_daily select -1, day, key_id, entry_id, calls, errors, input_tokens, output_tokens, images,
    cost_micro_vnd, charged_micro_vnd from usage_daily limit 1`)
  expect(broken(await full())).toEqual({ orphan: 1 })
  expect(broken(await goOn())).toEqual({ orphan: 1 })
  await forge('delete from usage_daily where account_id = -1')
  expect(broken(await goOn())).toEqual({ orphan: 1 })
  expect(broken(await full())).toEqual({})
})

test.each([
  ['interval', `update audit_result set full_at = now() - interval '25 hours'`],
  ['rules', `update audit_result set full_basis = jsonb_set(full_basis, '{rules}', '"of another version"')`],
  ['database', `update database_identity set database_id = gen_random_uuid()`],
  ['database', `update database_timeline set begun_at = now()`],
  [
    'database',
    `update audit_result set full_basis = jsonb_set(full_basis, '{database}', to_jsonb(
      replace(full_basis ->> 'database', ' 0', ' 1')))`,
  ],
  ['first', 'delete from audit_result'],
] as const)('turns full because of the %s: %s', async (fullBecause, change) => {
  const day = 24 * 3_600_000
  expect(await goOn(day)).toMatchObject({ mode: 'incremental' })
  await sql.unsafe(change)
  expect(await goOn(day)).toMatchObject({ clean: true, mode: 'full', fullBecause })
  expect(await goOn(day)).toMatchObject({ clean: true, mode: 'incremental' })
})

test('audits started at once take turns, while calls continue', async () => {
  const found = await Promise.all([goOn(), full(), goOn(), calls(6), goOn()])
  for (const report of found) if (report) expect(broken(report)).toEqual({})
  expect((await goOn()).ledger).toEqual(await auditWhole(sql))
})

test('days that end and rows that are retired between two audits change nothing', async () => {
  await goOn()
  // Moves all rows 100 days into the past, so that the days that were still going on at the last audit have ended.
  await forge(
    `update usage set closed_at = closed_at - interval '100 days', opened_at = opened_at - interval '100 days'`,
    `update usage_daily set day = day - 100`,
    `update audit_point set days_from = days_from - 100`,
  )
  await calls(4)
  expect(await goOn()).toMatchObject({ clean: true, mode: 'incremental' })
  const [point] =
    await sql`select days_from = (now() at time zone 'Asia/Ho_Chi_Minh' - interval '1 hour')::date as is_today,
    day_calls::integer as calls from audit_point where account_id = ${customer.accountId}`
  expect(point).toEqual({ is_today: true, calls: 2 })
  expect((await retireUsage(sql, { olderThanDays: 99 })).rows).toBeGreaterThan(20)
  await call(ledger, other)
  const next = await goOn()
  expect(next).toMatchObject({ clean: true, mode: 'incremental' })
  expect(next.ledger).toEqual(await auditWhole(sql))
  await forge('update usage_retired set balance_after_micro_vnd = balance_after_micro_vnd + 1, upto_seq = upto_seq + 0')
  expect(broken(await full())).toMatchObject({ retired: 2 })
})
