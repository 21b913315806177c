import { afterAll, expect, test } from 'vitest'
import { sumDays } from '../../src/ledger/day-totals.ts'
import { addDays, dayOf } from '../../src/ledger/reports/days.ts'
import { readIncome } from '../../src/ledger/reports/operators.ts'
import { auditPayments } from '../../src/payments/audit.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

const day = (offset: number): string => addDays(dayOf(new Date()), offset)

test('what came in per day and kind is the same before and after days are summed up, and a wrong sum shows in the audit', async () => {
  const paid = async (at: string, kind: number, amount: string) => {
    await sql`insert into credit (account_id, seq, amount_micro_vnd, kind, reference, balance_after_micro_vnd, at)
      select 7, coalesce(max(seq), 0) + 1, ${amount}, ${kind}, ${at} || ${kind}::text || ${amount}, 1, ${at} from credit
       where account_id = 7`
  }
  const huge = '1000000000000000000'
  for (let turn = 0; turn < 10; turn++) await paid(`${day(-30)} 12:00:0${turn}+07`, 2, huge)
  await paid(`${day(-3)} 00:00+07`, 1, '5000000')
  await paid(`${day(-2)} 00:00+07`, 1, '7000000')
  await paid(`${day(-2)} 23:59:59+07`, 1, '1000000')
  await paid(`${day(-2)} 12:00+07`, 2, '-2000000')
  const read = () =>
    Promise.all(
      [-40, -30, -29, -3, -2, -1]
        .flatMap(from => [-29, -2, -1, 1].map(to => [from, to] as const))
        .filter(([from, to]) => from < to)
        .map(([from, to]) => readIncome(sql, { from: day(from), to: day(to) })),
    )
  const before = await read()
  expect(before[0]).toEqual([{ day: day(-30), kind: 'adjustment', credits: 10, amountMicroVnd: 10n * BigInt(huge) }])
  expect(await sumDays(sql, { daysMax: 2 })).toMatchObject({ creditDays: 2 })
  expect(await read()).toEqual(before)
  const turns = await Promise.all([sumDays(sql), sumDays(sql)])
  expect(turns.reduce((sum, { creditDays }) => sum + creditDays, 0)).toBe(1)
  expect(await read()).toEqual(before)
  const [rows] = await sql`select count(*)::int as days from credit_daily`
  expect(rows).toEqual({ days: 4 })
  expect((await auditPayments(sql)).differences.credit_days).toBe(0)
  await sql`update credit_daily set amount_micro_vnd = amount_micro_vnd + 1 where day = ${day(-2)} and kind = 2`
  expect(await auditPayments(sql)).toMatchObject({ differences: { credit_days: 1 }, creditDays: [day(-2)] })
})

test('a day is not summed while a transaction that began on it may still add credits', async () => {
  const past = await sql`select credits_summed_before::text as day from call_roll_up`
  await sql`insert into credit (account_id, seq, amount_micro_vnd, kind, reference, balance_after_micro_vnd, at)
    values (8, 1, 5, 1, 'late', 5, ${`${day(-1)} 12:00+07`})`
  expect(await sumDays(sql, { creditLagSeconds: 2 * 86_400 })).toMatchObject({ creditDays: 0 })
  expect(await sql`select credits_summed_before::text as day from call_roll_up`).toEqual(past)
  expect(await sumDays(sql, { creditLagSeconds: 0 })).toMatchObject({ creditDays: 1 })
})
