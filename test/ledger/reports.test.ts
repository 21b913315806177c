import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCsv } from '../../codegen/diff/csv.ts'
import { sumDays } from '../../src/ledger/day-totals.ts'
import { readBalance } from '../../src/ledger/reports/balance.ts'
import { addFigures, BUSINESS_SPLITS, readBusiness, readModelDays } from '../../src/ledger/reports/business.ts'
import { countUsage, exportUsageCsv, textCell } from '../../src/ledger/reports/csv.ts'
import { readDaily, readTotals } from '../../src/ledger/reports/daily.ts'
import { addDays, dayOf, isDay, startOfDay } from '../../src/ledger/reports/days.ts'
import { addHourly, readChoices, readHourly } from '../../src/ledger/reports/hourly.ts'
import { readCredits } from '../../src/ledger/reports/journal.ts'
import { REPORT_LIMITS, type ReportLimits } from '../../src/ledger/reports/limits.ts'
import { readIncome } from '../../src/ledger/reports/operators.ts'
import { readUsageRows } from '../../src/ledger/reports/rows.ts'
import { readTopCustomers } from '../../src/ledger/reports/top-customers.ts'
import type { UsageFilter, UsageRow } from '../../src/ledger/reports/types.ts'
import { rollUpCalls } from '../../src/ledger/roll-up.ts'
import { rollUpAccounts } from '../../src/ledger/roll-up-accounts.ts'
import { plansOf } from '../support/plans.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { addMoney, type Customer, call, createCustomer, startLedger } from './world.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

const CALLS = 1_000
const TODAY = dayOf(new Date())
const day = (offset: number) => addDays(TODAY, offset)
let customer: Customer
let stranger: Customer

/**
 * Writes the usage rows of 1,000 calls over the last 40 days: 25 a day, 20 of them in the day's first hour. Every tenth call is
 * made with key 2, every 50th is an error, every 7th uses another model, every 20th is tagged, and the last one is made with
 * key 3. The last ten days are not rolled up yet.
 */
beforeAll(async () => {
  customer = await createCustomer(sql, 1_000_000_000_000n)
  stranger = await createCustomer(sql, 1_000_000_000n)
  const account = String(customer.accountId)
  await sql.unsafe(
    `insert into usage (account_id, seq, call_id, key_id, entry_id, requested_name, endpoint, status, input_tokens, output_tokens,
       cached_input_tokens, reasoning_tokens, images, price_vnd, price_per, cost_micro_vnd, charged_micro_vnd,
       balance_after_micro_vnd, first_byte_ms, latency_ms, streamed, estimated, opened_at, closed_at, error_code, tag, attempts)
     select $1::text::bigint, 1 + n, gen_random_uuid(), case when n = $2::text::integer then 3 when n % 10 = 0 then 2 else 1 end,
            case when n % 7 = 0 then 'model-b' else 'model-a' end, case when n = 5 then '=cmd|x' end, 1,
            case when n % 50 = 0 then 502 else 200 end, 1000, 120, 0, 0, 0, 1500, 1,
            case when n % 50 = 0 then 0 else 1680000 end, case when n % 50 = 0 then 0 else 1680000 end,
            1000000000000 - 1680000::bigint * (n - n / 50), 12, 34, true, false, t, t,
            case when n % 50 = 0 then 'upstream_failed' end, case when n % 20 = 0 then 'team/a' end,
            jsonb_build_array(jsonb_build_object('credential', case when n % 3 = 0 then 'harbour#1' else 'orchard#1' end, 'outcome', 'ok'))
       from generate_series(1, $2::text::integer) n
       cross join lateral (select (date_trunc('day', now() at time zone 'Asia/Ho_Chi_Minh') at time zone 'Asia/Ho_Chi_Minh')
         + make_interval(days => (n - 1) / 25 - 39, mins => (n - 1) % 25 * 3)) as x(t)`,
    [account, String(CALLS)],
  )
  await sql.unsafe(
    `insert into usage_daily select account_id, (closed_at at time zone 'Asia/Ho_Chi_Minh')::date, key_id, entry_id, count(*),
       count(*) filter (where status >= 400), sum(input_tokens), sum(output_tokens), 0, sum(cost_micro_vnd), sum(charged_micro_vnd)
     from usage where account_id = $1::text::bigint group by 1, 2, 3, 4`,
    [account],
  )
  await sql.unsafe(
    `update wallet set seq = $2::text::bigint + 1,
       balance_micro_vnd = balance_micro_vnd - (select sum(charged_micro_vnd) from usage where account_id = $1::text::bigint)
     where account_id = $1::text::bigint`,
    [account, String(CALLS)],
  )
  await sql`update usage_roll_up set closed_before = now() - interval '41 days'`
  const days = { secondsMin: 86_400, secondsMax: 86_400 }
  expect(await rollUpAccounts(sql, { lagSeconds: 10 * 86_400, ...days })).toMatchObject({ done: true })
})

describe('sums per day', () => {
  test('add up to the total, by model and by key alike', async () => {
    const range = { accountId: customer.accountId, from: day(-39), to: day(1) }
    const totals = await readTotals(sql, range)
    expect(totals).toEqual({
      calls: 1_000,
      errors: 20,
      inputTokens: 1_000_000,
      outputTokens: 120_000,
      images: 0,
      costMicroVnd: 980n * 1_680_000n,
      chargedMicroVnd: 980n * 1_680_000n,
    })
    for (const by of ['model', 'key'] as const) {
      const figures = await readDaily(sql, { ...range, by })
      expect(figures.reduce((sum, figure) => sum + figure.calls, 0)).toBe(1_000)
      expect(figures.reduce((sum, figure) => sum + figure.chargedMicroVnd, 0n)).toBe(totals.chargedMicroVnd)
      expect(new Set(figures.map(figure => figure.day)).size).toBe(40)
    }
    const series = new Set((await readDaily(sql, { ...range, by: 'model' })).map(figure => figure.series))
    expect(series).toEqual(new Set(['model-a', 'model-b']))
  })

  test('cover only the period, the filter and the account', async () => {
    const week = { accountId: customer.accountId, from: day(-7), to: TODAY }
    expect((await readTotals(sql, week)).calls).toBe(7 * 25)
    expect((await readTotals(sql, { ...week, filter: { keyId: 3 } })).calls).toBe(0)
    expect((await readTotals(sql, { ...week, to: day(1), filter: { keyId: 3 } })).calls).toBe(1)
    const other = { ...week, accountId: stranger.accountId }
    expect(await readTotals(sql, other)).toMatchObject({ calls: 0, costMicroVnd: 0n })
    expect(await readDaily(sql, { ...other, by: 'key' })).toEqual([])
  })

  test.each([
    ['2026-11-21', '2026-11-21'],
    ['2026-11-22', '2026-11-21'],
    ['2026-02-30', '2026-03-02'],
    ['21.11.2026', '2026-11-22'],
    [`2026-11-21'; --`, '2026-11-22'],
    ['2020-01-01', '2026-01-01'],
  ])('from %s to %s is refused', async (from, to) => {
    await expect(readTotals(sql, { accountId: 1, from, to })).rejects.toThrow(RangeError)
  })

  test('a day begins and ends at midnight in Vietnam', () => {
    expect(dayOf(new Date('2026-11-20T16:59:59Z'))).toBe('2026-11-20')
    expect(dayOf(new Date('2026-11-20T17:00:00Z'))).toBe('2026-11-21')
    expect(startOfDay('2026-11-21')).toEqual(new Date('2026-11-20T17:00:00Z'))
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01')
    expect(['2026-11-21', '2026-11-31', '2026-1-1', ''].map(isDay)).toEqual([true, false, false, false])
  })
})

describe('sums by hour and day', () => {
  const period = () => ({ accountId: customer.accountId, from: startOfDay(day(-39)), to: startOfDay(day(1)) })

  test.each(['model', 'key', 'tag'] as const)('by %s equal those of the calls, rolled up or not', async by => {
    const figures = await readHourly(sql, { ...period(), per: 'day', by })
    expect(addHourly(figures)).toEqual({
      calls: 1_000,
      errors: 20,
      inputTokens: 1_000_000,
      cachedInputTokens: 0,
      outputTokens: 120_000,
      reasoningTokens: 0,
      images: 0,
      chargedMicroVnd: 980n * 1_680_000n,
    })
    expect(new Set(figures.map(({ at }) => at)).size).toBe(40)
  })

  test('cover only what the filter selects, as the rows do', async () => {
    for (const [name, filter, count] of FILTERS) {
      if (name.includes('minutes')) continue
      const { from = period().from, to = period().to } = filter
      const { calls } = addHourly(
        await readHourly(sql, { accountId: customer.accountId, from, to, filter, per: 'hour', by: 'key' }),
      )
      expect([name, calls]).toEqual([name, from < to ? count : 0])
    }
  })

  test('have hours for the last weeks, and only days before them', async () => {
    const hoursOf = async (of: string) => {
      const range = { from: startOfDay(of), to: startOfDay(addDays(of, 1)) }
      const figures = await readHourly(sql, { accountId: customer.accountId, ...range, per: 'hour', by: 'tag' })
      const hours = Map.groupBy(figures, ({ at }) => at.slice(of.length))
      return Object.fromEntries([...hours].map(([hour, those]) => [hour, addHourly(those).calls]))
    }
    for (const of of [day(-1), day(-20)]) expect(await hoursOf(of)).toEqual({ T00: 20, T01: 5 })
    expect(await hoursOf(day(-38))).toEqual({ T00: 25 })
  })

  test('are counted once, whoever rolls them up and however often', async () => {
    const again = await Promise.all(Array.from({ length: 4 }, () => rollUpAccounts(sql, { lagSeconds: 9 * 86_400 })))
    expect(again.every(({ done }) => done)).toBe(true)
    const [rolled] =
      await sql`select sum(calls)::int as calls from usage_hourly where account_id = ${customer.accountId}`
    const [rows] = await sql`select count(*)::int as calls from usage
      where account_id = ${customer.accountId} and closed_at < (select closed_before from usage_roll_up)`
    expect(rolled).toEqual(rows)
    expect(addHourly(await readHourly(sql, { ...period(), per: 'day', by: 'model' })).calls).toBe(1_000)
  })

  test('list the filters’ choices, and only the account’s own', async () => {
    expect(await readChoices(sql, period())).toEqual({
      entryIds: ['model-a', 'model-b'],
      statuses: [200, 502],
      tags: ['team/a'],
    })
    const other = { ...period(), accountId: stranger.accountId }
    expect(await readChoices(sql, other)).toEqual({ entryIds: [], statuses: [], tags: [] })
    expect(await readHourly(sql, { ...other, per: 'hour', by: 'model' })).toEqual([])
  })

  test('name only the largest of thousands of tags, by cost, calls or tokens, and leave none out of the sums', async () => {
    const { accountId } = await createCustomer(sql, 0n)
    // Those numbered up to 10 cost most, up to 20 have most calls, up to 30 most tokens.
    await sql`insert into usage_hourly (account_id, hour, key_id, entry_id, status, tag, calls, input_tokens, cached_input_tokens,
        output_tokens, reasoning_tokens, images, charged_micro_vnd)
      select ${accountId}, ${startOfDay(day(-20)).toISOString()}::timestamptz, 1, 'model-a', 200, 'tag' || n,
             case when n between 11 and 20 then 9 else 1 end, case when n between 21 and 30 then 900 else 100 end, 0,
             0, 0, 0, case when n <= 10 then 500 else 5 end
        from generate_series(1, 3000) as n`
    const range = { accountId, from: startOfDay(day(-39)), to: startOfDay(day(1)) }
    const figures = await readHourly(sql, { ...range, per: 'day', by: 'tag' })
    const named = new Set(figures.map(({ series }) => series))
    expect(named.size).toBeLessThanOrEqual(61)
    for (let n = 1; n <= 30; n++) expect(named).toContain(`tag${n}`)
    expect(figures.filter(({ series }) => series === null).length).toBe(1)
    expect(addHourly(figures)).toMatchObject({ calls: 3_080, inputTokens: 308_000, chargedMicroVnd: 19_950n })
    expect((await readChoices(sql, range)).tags.length).toBe(1_000)
  })

  test('find the choices in the index alone: the rows of a large account lie on as many pages', async () => {
    const [plan] = await plansOf(database.url, ['seqscan', 'bitmapscan'], planned => readChoices(planned, period()))
    expect(plan).toContain('Index Only Scan using usage_hourly_pkey on usage_hourly')
  })
})

/** The rows of all pages, in order. */
async function allRows(filter: UsageFilter, limit: number, limits?: ReportLimits): Promise<readonly UsageRow[]> {
  const rows: UsageRow[] = []
  let beforeSeq: number | null | undefined
  for (let pages = 0; pages < 2_000; pages++) {
    const request = { accountId: customer.accountId, filter, limit, ...(beforeSeq == null ? {} : { beforeSeq }) }
    const page = await readUsageRows(sql, request, limits)
    rows.push(...page.rows)
    beforeSeq = page.nextBeforeSeq
    if (beforeSeq === null) return rows
  }
  throw new Error('paging does not end')
}

function hourOf(of: string, hour: number) {
  const from = new Date(startOfDay(of).getTime() + hour * 3_600_000)
  return { from, to: new Date(from.getTime() + 3_600_000) }
}

const FILTERS: readonly (readonly [string, UsageFilter, number])[] = [
  ['nothing', {}, 1_000],
  ['a key', { keyId: 2 }, 99],
  ['a key that was used once', { keyId: 3 }, 1],
  ['a key of nobody', { keyId: 99 }, 0],
  ['a model', { entryId: 'model-b' }, 142],
  ['errors', { status: 'error' }, 20],
  ['successes', { status: 'ok' }, 980],
  ['one status', { status: 502 }, 20],
  ['a status that never was', { status: 418 }, 0],
  ['a week', { from: startOfDay(day(-7)), to: startOfDay(TODAY) }, 175],
  ['all but today', { to: startOfDay(TODAY) }, 975],
  [
    'a day’s first ten minutes',
    { from: startOfDay(day(-3)), to: new Date(startOfDay(day(-3)).getTime() + 600_000) },
    4,
  ],
  ['errors of a key in a week', { keyId: 2, status: 'error', from: startOfDay(day(-7)), to: startOfDay(TODAY) }, 3],
  ['a tag', { tag: 'team/a' }, 50],
  ['a tag that nobody gave', { tag: 'team/b' }, 0],
  ['a tag’s errors', { tag: 'team/a', status: 502 }, 10],
  ['an hour', hourOf(day(-3), 1), 5],
  ['an hour of weeks ago', hourOf(day(-20), 0), 20],
  ['the future', { from: startOfDay(day(2)) }, 0],
]

describe('calls one by one', () => {
  test.each(FILTERS)(
    'filtered by %s: each one once, newest first, whatever the page size',
    async (_, filter, count) => {
      const rows = await allRows(filter, 200)
      expect(rows).toHaveLength(count)
      expect(rows.map(row => row.seq)).toEqual(rows.map(row => row.seq).toSorted((a, b) => b - a))
      expect(new Set(rows.map(row => row.seq)).size).toBe(count)
      const narrow = { ...REPORT_LIMITS, windowRows: 40, windowsMax: 2 }
      expect(await allRows(filter, 70, narrow)).toEqual(rows)
    },
  )

  test('a row has everything that the journal has', async () => {
    const [row] = (await readUsageRows(sql, { accountId: customer.accountId, filter: {}, limit: 1 })).rows
    expect(row).toEqual({
      seq: 1_001,
      callId: expect.any(String),
      openedAt: expect.any(Date),
      closedAt: expect.any(Date),
      keyId: 3,
      entryId: 'model-a',
      requestedName: null,
      endpoint: 1,
      status: 502,
      errorCode: 'upstream_failed',
      tag: 'team/a',
      inputTokens: 1_000,
      outputTokens: 120,
      cachedInputTokens: 0,
      reasoningTokens: 0,
      images: 0,
      priceVnd: 1_500,
      pricePer: 'mtok',
      costMicroVnd: 0n,
      chargedMicroVnd: 0n,
      balanceAfterMicroVnd: 1_000_000_000_000n - 980n * 1_680_000n,
      firstByteMs: 12,
      latencyMs: 34,
      streamed: true,
      catalogue: null,
      estimated: false,
      extrasVnd: 0,
    })
  })

  test('an account without calls has no rows, and nobody sees the calls of another account', async () => {
    const empty = { rows: [], nextBeforeSeq: null }
    expect(await readUsageRows(sql, { accountId: 1_000_000, filter: {} })).toEqual(empty)
    expect(await readUsageRows(sql, { accountId: stranger.accountId, filter: {} })).toEqual(empty)
  })

  test('calls settled while pages are read make no row appear twice', async () => {
    const ledger = await startLedger(database.url)
    try {
      const mine = await createCustomer(sql, 1_000_000_000n)
      for (let turn = 0; turn < 6; turn++) await call(ledger, mine)
      const first = await readUsageRows(sql, { accountId: mine.accountId, filter: {}, limit: 4 })
      await call(ledger, mine)
      const beforeSeq = first.nextBeforeSeq as number
      const second = await readUsageRows(sql, { accountId: mine.accountId, filter: {}, beforeSeq, limit: 4 })
      expect([...first.rows, ...second.rows].map(row => row.seq)).toEqual([7, 6, 5, 4, 3, 2])
    } finally {
      await ledger.close()
    }
  })
})

describe('the export', () => {
  const keyLabels = new Map([
    [1, 'laptop, "old"'],
    [2, '@SUM(A1)'],
  ])

  async function records(
    filter: UsageFilter,
    limits?: ReportLimits,
  ): Promise<readonly Readonly<Record<string, string>>[]> {
    const all: string[][] = []
    const chunks = exportUsageCsv(sql, { accountId: customer.accountId, filter, keyLabels }, limits)
    for await (const record of readCsv(chunks)) all.push(record)
    const [header, ...rows] = all as [string[], ...string[][]]
    return rows.map(row => Object.fromEntries(header.map((name, index) => [name, row[index] ?? ''])))
  }

  test.each(FILTERS)('filtered by %s has the same rows as the pages, oldest first', async (_, filter, count) => {
    const narrow = { ...REPORT_LIMITS, csvPageRows: 70, csvWindowRows: 200 }
    const rows = await records(filter, narrow)
    const seqs = (await allRows(filter, 200)).map(row => String(row.seq)).reverse()
    expect(rows.map(row => row.seq)).toEqual(seqs)
    expect(rows).toHaveLength(count)
    expect(await records(filter)).toEqual(rows)
    expect(await countUsage(sql, { accountId: customer.accountId, filter })).toBeGreaterThanOrEqual(count)
  })

  test('knows how many rows to expect for whole days', async () => {
    const week = { from: startOfDay(day(-7)), to: startOfDay(TODAY) }
    const count = (filter: UsageFilter) => countUsage(sql, { accountId: customer.accountId, filter })
    expect(await count({})).toBe(1_000)
    expect(await count(week)).toBe(175)
    expect(await count({ ...week, keyId: 2, status: 'error' })).toBe(3)
    expect(await count({ status: 'ok' })).toBe(980)
    expect(await count({ status: 502, tag: 'team/a' })).toBe(10)
    expect(await count(hourOf(day(-1), 0))).toBe(20)
  })

  test('writes money without rounding, and no text that a spreadsheet reads as a formula', async () => {
    const rows = await records({})
    expect(rows[4]).toMatchObject({
      key: 'laptop, "old"',
      model: 'model-a',
      requested_model: `'=cmd|x`,
      endpoint: 'messages',
      status: '200',
      cost_vnd: '1.68',
      charged_vnd: '1.68',
      price_per: 'mtok',
      balance_after_vnd: '999991.6',
      tag: '',
    })
    expect(rows[19]).toMatchObject({ tag: 'team/a' })
    expect(rows[9]).toMatchObject({ key_id: '2', key: `'@SUM(A1)` })
  })

  test.each([
    ['=1+1', `'=1+1`],
    ['+84', `'+84`],
    ['-5', `'-5`],
    ['@x', `'@x`],
    [' =1', `' =1`],
    ['\t=1', `'\t=1`],
    ['a\r\nb', '"a\r\nb"'],
    ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
    // Spreadsheets that split cells at semicolons or tabs would read the second half as a formula.
    ['a;=1', `a;'=1`],
    ['a; "+1', `"a;' ""+1"`],
    ['a\t@x', `a\t'@x`],
    ['＝1', `'＝1`],
    ['a;b', 'a;b'],
    ['plain', 'plain'],
    ['a-b', 'a-b'],
    ['', ''],
  ])('the cell %j becomes %j', (value, cell) => {
    expect(textCell(value)).toBe(cell)
  })
})

test('the balance report says how many days it will last at the pace of the last week', async () => {
  const report = await readBalance(sql, customer.accountId)
  expect(report?.balanceMicroVnd).toBe(1_000_000_000_000n - 980n * 1_680_000n)
  const perDay = Number(report?.dailyMicroVnd) / 1_680_000
  expect(perDay).toBeGreaterThan(24)
  expect(perDay).toBeLessThan(29)
  expect(report?.daysLeft).toBe(366)
  expect(await readBalance(sql, stranger.accountId)).toMatchObject({ dailyMicroVnd: 0n, daysLeft: null })
  expect(await readBalance(sql, 1_000_000)).toBeNull()
})

test('top-ups and adjustments are listed newest first', async () => {
  await addMoney(sql, stranger.accountId, -1_000_000n)
  const credits = await readCredits(sql, { accountId: stranger.accountId })
  expect(credits).toMatchObject([
    { seq: 2, kind: 'adjustment', amountMicroVnd: -1_000_000n, balanceAfterMicroVnd: 999_000_000n },
    { seq: 1, kind: 'adjustment', amountMicroVnd: 1_000_000_000n },
  ])
  expect(await readCredits(sql, { accountId: stranger.accountId, beforeSeq: 2 })).toHaveLength(1)
})

test('operators see what was earned per day and model, and what came in per day and kind', async () => {
  const range = { from: day(-39), to: day(1) }
  const revenue = await readModelDays(sql, range)
  expect(revenue.map(({ day, series }) => `${day} ${series}`)).toEqual(
    revenue.map(({ day, series }) => `${day} ${series}`).toSorted(),
  )
  const earned = revenue
    .filter(({ series }) => series === 'model-b')
    .reduce((sum, { revenueMicroVnd }) => sum + revenueMicroVnd, 0n)
  expect(earned).toBe(140n * 1_680_000n)
  const income = await readIncome(sql, range)
  expect(income).toMatchObject([{ day: TODAY, kind: 'adjustment', credits: expect.any(Number) }])
  await expect(readModelDays(sql, { from: TODAY, to: TODAY })).rejects.toThrow(RangeError)
})

test('business figures are the same before and after days are summed up, however often and in whichever process', async () => {
  await sql.unsafe(`update call_roll_up set closed_before = now() - interval '41 days'`)
  expect(await rollUpCalls(sql, { lagSeconds: 0, secondsMin: 86_400, secondsMax: 86_400 })).toMatchObject({
    done: true,
  })
  const periods = [
    { from: day(-39), to: day(1) },
    { from: day(-20), to: day(-3) },
    { from: TODAY, to: day(1) },
  ]
  const figures = () =>
    Promise.all(
      periods.flatMap(range => [
        ...BUSINESS_SPLITS.map(by => readBusiness(sql, { ...range, by })),
        readModelDays(sql, range),
      ]),
    )
  const before = await figures()
  const [range] = periods
  const customers = await readBusiness(sql, { ...range!, by: 'customer' })
  const top = { figures: customers.slice(0, 1), hasMore: customers.length > 1 }
  expect(await readTopCustomers(sql, { ...range!, limit: 1 })).toEqual(top)
  expect(before.every(list => list.length > 0)).toBe(true)
  const past = { from: day(-39), to: TODAY }
  const upstreams = await readBusiness(sql, { ...past, by: 'upstream' })
  expect(upstreams.map(({ series }) => series)).toEqual(['orchard', 'harbour'])
  const days = await readBusiness(sql, { ...past, by: 'day' })
  expect(addFigures('', upstreams)).toEqual(addFigures('', days))
  expect(await sumDays(sql, { daysMax: 10, lagSeconds: 0 })).toEqual({
    days: 10,
    months: 0,
    upstreamDays: 10,
    creditDays: 0,
  })
  expect(await figures()).toEqual(before)
  const turns = await Promise.all([1, 2, 3].map(() => sumDays(sql, { lagSeconds: 0 })))
  // Three runs at the same time: together they summed every past day exactly once.
  expect(turns.reduce((sum, { days }) => sum + days, 0)).toBe(29)
  expect(turns.reduce((sum, { upstreamDays }) => sum + upstreamDays, 0)).toBe(29)
  expect(await figures()).toEqual(before)
  expect(await readTopCustomers(sql, { ...range!, limit: 1 })).toEqual(top)
  const [rows] = await sql`select (select sum(calls)::int from entry_daily) as entries,
    (select sum(calls)::int from account_daily) as accounts, (select sum(calls)::int from upstream_daily) as upstreams,
    (select count(*)::int from entry_daily where day >= ${TODAY}) as today`
  expect(rows).toEqual({ entries: CALLS - 25, accounts: CALLS - 25, upstreams: CALLS - 25, today: 0 })
})

test('a day is not summed by upstream before all its calls are rolled up', async () => {
  await sql.unsafe('truncate upstream_daily')
  await sql.unsafe(
    `update call_roll_up set upstreams_summed_before = '-infinity',
    closed_before = ($1::text::timestamp + interval '23 hours') at time zone 'Asia/Ho_Chi_Minh'`,
    [day(-5)],
  )
  expect(await sumDays(sql, { lagSeconds: 0 })).toEqual({ days: 0, months: 0, upstreamDays: 34, creditDays: 0 })
  const [summed] = await sql`select to_char(max(day), 'YYYY-MM-DD') as last from upstream_daily`
  expect(summed).toEqual({ last: day(-6) })
})
