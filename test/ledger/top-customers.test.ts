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
const period = { from: addDays(TODAY, 1 - DAYS), to: addDays(TODAY, 1) }

/**
 * Customer 1 pays 6 µVND every day. Each day, another customer pays 10 µVND: number 10 on the first day, 11 on the second, and so
 * on. So customer 1 pays the most over the period, but not on any single day. Customers from 100 on pay 0 to 3 µVND a day.
 */
beforeAll(async () => {
  await sql.unsafe(
    `insert into usage_daily (account_id, day, key_id, entry_id, calls, errors, input_tokens, output_tokens, images,
       cost_micro_vnd, charged_micro_vnd, upstream_cost_micro_vnd, upstream_cost_calls)
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
      `insert into usage_daily (account_id, day, key_id, entry_id, calls, errors, input_tokens, output_tokens, images,
         cost_micro_vnd, charged_micro_vnd, upstream_cost_micro_vnd, upstream_cost_calls)
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
