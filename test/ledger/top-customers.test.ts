import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sumDays } from '../../src/ledger/day-totals.ts'
import { readBusiness } from '../../src/ledger/reports/business.ts'
import { addDays, dayOf } from '../../src/ledger/reports/days.ts'
import { type BusinessTop, readTopCustomers } from '../../src/ledger/reports/top-customers.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

const TODAY = dayOf(new Date())
const DAYS = 6
const ALL = 2_147_483_647
const INSERT = `insert into usage_daily (account_id, day, key_id, entry_id, calls, errors, input_tokens, output_tokens, images,
  cost_micro_vnd, charged_micro_vnd, upstream_cost_micro_vnd, upstream_cost_calls)`
const period = { from: addDays(TODAY, 1 - DAYS), to: addDays(TODAY, 1) }

/**
 * Customer 1 pays 6 µVND every day. Each day, another customer pays 10 µVND: number 10 on the first day, 11 on the second, and so
 * on. So customer 1 pays the most over the period, but not on any single day. Customers from 100 on pay 0 to 3 µVND a day.
 */
beforeAll(async () => {
  await sql.unsafe(
    `${INSERT}
     select account_id, $1::text::date + n, 1, entry_id, 1, account_id % 2, 10, 5, 0, paid, paid, paid / 2, 1
       from generate_series(0, $2::text::integer - 1) n
      cross join lateral (
        select 1 as account_id, 'model-a' as entry_id, 4 as paid union all select 1, 'model-b', 2
         union all select 10 + n, 'model-a', 10
         union all select 100 + other, 'model-b', (other + n) % 4 from generate_series(0, 29) other) calls`,
    [period.from, String(DAYS)],
  )
})

async function everybody(limit: number): Promise<BusinessTop> {
  const customers = await readBusiness(sql, { ...period, by: 'customer' })
  const best = customers.toSorted(
    (one, other) => Number(other.revenueMicroVnd - one.revenueMicroVnd) || Number(one.series) - Number(other.series),
  )
  return { figures: best.slice(0, limit), hasMore: customers.length > limit }
}

/** `summed` is the number of days that housekeeping has already summed up in `account_daily`. */
test.each([0, 3, DAYS - 1])(
  'whoever paid most over the period is found among any depth, %i days summed',
  async summed => {
    await sumDays(sql, { daysMax: summed })
    for (const limit of [1, 7, 20, 50]) {
      const expected = await everybody(limit)
      expect(expected.figures[0]?.series).toBe('1')
      for (const depths of [[1, ALL], [2, 5, ALL], [20, ALL], [ALL], undefined]) {
        const found = await readTopCustomers(sql, { ...period, limit, ...(depths && { depths }) })
        expect(new Map(found.figures.map(figure => [figure.series, figure]))).toEqual(
          new Map(expected.figures.map(figure => [figure.series, figure])),
        )
        expect({ ...found, figures: [] }).toEqual({ ...expected, figures: [] })
      }
    }
  },
)

test('a depth that cannot prove who paid most is not believed', async () => {
  await expect(readTopCustomers(sql, { ...period, limit: 1, depths: [1] })).rejects.toThrow('every customer')
  expect((await readTopCustomers(sql, { ...period, limit: 1, depths: [3] })).figures).toMatchObject([
    { series: '1', revenueMicroVnd: 36n },
  ])
})

describe('customers who pay the same every day, among many who pay at random', () => {
  const days = { from: addDays(TODAY, -9), to: addDays(TODAY, -4) }
  let own: TestDatabase

  beforeAll(async () => {
    own = await createTestDatabase()
    await own.sql.unsafe(
      `${INSERT}
       select account_id, $1::text::date + n, 1, 'model-a', 1, 0, 10, 5, 0, paid, paid, 0, 0
         from generate_series(0, 4) n
        cross join generate_series(1000, 1299) account_id
        cross join lateral (
          select case when account_id % 50 = 0 then 900 + account_id % 7
                      else (account_id * 7919 + n * 104729 + account_id * n * 31) % 1000 end as paid) random`,
      [days.from],
    )
    await sumDays(own.sql, { daysMax: 100 })
  })
  afterAll(() => own.drop())

  test.each([5, 20, 60])('the same %i customers are found among any depth', async limit => {
    const customers = await readBusiness(own.sql, { ...days, by: 'customer' })
    const revenues = customers.map(({ revenueMicroVnd }) => revenueMicroVnd).slice(0, limit)
    expect(customers).toHaveLength(300)
    for (const depth of [10, 30, 75, 150, 299, ALL]) {
      const { figures, hasMore } = await readTopCustomers(own.sql, { ...days, limit, depths: [depth, ALL] })
      expect(figures.map(({ revenueMicroVnd }) => revenueMicroVnd)).toEqual(revenues)
      expect(hasMore).toBe(true)
    }
  })
})

describe('months that have been summed', () => {
  const first = '2026-01-16'
  const days = 130
  let own: TestDatabase

  /** 40 customers with calls on random days. Number 7 pays most of all, but never most in a month. */
  beforeAll(async () => {
    own = await createTestDatabase()
    await own.sql.unsafe(
      `${INSERT}
       select account_id, $1::text::date + n, 1, 'model-a', 1, account_id % 2, 10 + n, 5, 0, paid, paid, paid / 2, 1
         from generate_series(0, $2::text::integer - 1) n
        cross join generate_series(1, 40) account_id
        cross join lateral (select (account_id * 7919 + n * 104729 + account_id * n * 31) % 1000 as random) drawn
        cross join lateral (
          select case when account_id = 7 then 480 when extract(month from $1::text::date + n) = account_id - 20 then 500
                      else random / 2 end as paid) payments
        where account_id = 7 or random % 3 > 0`,
      [first, String(days)],
    )
  })
  afterAll(() => own.drop())

  test.each([
    { summed: 10, months: [] },
    { summed: 50, months: ['2026-01-01', '2026-02-01'] },
    { summed: days, months: ['2026-01-01', '2026-02-01', '2026-03-01', '2026-04-01'] },
  ])('do not change who paid most, $summed days summed', async ({ summed, months }) => {
    const [before] = await own.sql`select count(distinct day)::int as days from account_daily`
    await sumDays(own.sql, { daysMax: summed - before?.days })
    const found = await own.sql`select distinct month::text from account_monthly order by month`
    expect(found.map(({ month }) => month)).toEqual(months)
    const periods = [
      [first, addDays(first, days)],
      ['2026-02-01', '2026-04-01'],
      ['2026-02-02', '2026-04-01'],
      ['2026-01-31', '2026-03-31'],
      ['2026-02-10', '2026-02-20'],
      ['2026-02-27', '2026-03-01'],
      ['2025-12-01', '2026-07-01'],
    ] as const
    for (const [from, to] of periods) {
      const all = await readBusiness(own.sql, { from, to, by: 'customer' })
      for (const limit of [1, 5, 100]) {
        for (const depths of [[2, ALL], [12, ALL], undefined]) {
          const top = await readTopCustomers(own.sql, { from, to, limit, ...(depths && { depths }) })
          expect(top.figures.map(({ revenueMicroVnd }) => revenueMicroVnd)).toEqual(
            all.slice(0, limit).map(({ revenueMicroVnd }) => revenueMicroVnd),
          )
          for (const figure of top.figures) expect(all).toContainEqual(figure)
          expect(top.hasMore).toBe(all.length > limit)
        }
      }
    }
  })

  test('a month is read from its sums, not from its days', async () => {
    await own.sql`update account_monthly set calls = calls + 1000 where account_id = 7 and month = '2026-03-01'`
    const callsFrom = async (from: string) => {
      const { figures } = await readTopCustomers(own.sql, { from, to: '2026-04-01', limit: 1 })
      return figures[0]
    }
    expect(await callsFrom('2026-03-01')).toMatchObject({ series: '7', calls: 1_031 })
    expect(await callsFrom('2026-03-02')).toMatchObject({ series: '7', calls: 30 })
  })
})
