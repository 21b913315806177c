/**
 * Operators' search through all transfers finds the same transfers as a scan of the whole table, each once, and compares a
 * bounded number of rows per page.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { escapeLike } from '../../src/lib/database.ts'
import { readPlace, type SearchPlace, writePlace } from '../../src/lib/search.ts'
import { readAmountVnd } from '../../src/payments/amount.ts'
import { searchTransactions } from '../../src/payments/search.ts'
import { TRANSACTION_STATES, type TransactionState } from '../../src/payments/types.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

/**
 * Number of transfers whose references begin with `FT26`: so many (more than BEGINNINGS_MAX in lib/search.ts) that a search
 * compares them row by row instead of finding them by an index. The first transfer's reference is `FT26` itself.
 */
const SAME_BEGINNING = 1_010

beforeAll(async () => {
  const { accountId } = await createAccount(sql, 'Payer@example.com')
  await sql`
    insert into bank_txn (provider, provider_ref, bank_ref, account_no, amount_vnd, direction, content, via, state, state_at,
                          account_id, order_code, payer)
    select 'test', 'Ref-' || n, case when n % 3 = 0 then 'VCB' || n * 7 end, '1', case when n % 10 = 0 then 150000 else 1000 + n end, 1,
           case when n % 9 = 0 then 'nap tien 150000 Payer@example.com' when n % 7 = 0 then '100% VCB21 ST00_' else 'chuyen khoan' end, 1,
           case when n % 11 = 0 then ${TRANSACTION_STATES.returned}::integer when n % 4 = 0 then 1 else 2 end, now(), case when n % 4 = 0 then ${accountId}::bigint end,
           case when n % 8 = 0 then 'ST00000000' || (n + 10) end, case when n % 5 = 0 then 'NGUYEN VAN ' || n end
      from generate_series(1, 88) n`
  await sql`
    insert into bank_txn (provider, provider_ref, bank_ref, account_no, amount_vnd, direction, content, via)
    select 'other', 'x' || n, 'FT26' || case n when 1 then '' else to_char(n, 'FM00000') end, '1', 7000, 1, 'same day', 1
      from generate_series(1, ${SAME_BEGINNING}) n`
})

/** Finds matching transfers by comparing every row. */
async function expected(text: string, state?: TransactionState): Promise<number[]> {
  const rows = await sql.unsafe(
    `select bank_txn_id from bank_txn
      where (concat_ws(' ', bank_ref, provider_ref, content, payer, order_code) ilike '%' || $1 || '%' escape '\\'
         or amount_vnd = $2::text::bigint or account_id = (select account_id from account where email_key = lower($3)))
        and ($4::text is null or state = $4::text::smallint)
      order by bank_txn_id desc`,
    [
      escapeLike(text),
      String(readAmountVnd(text) ?? '') || null,
      text,
      state === undefined ? null : String(TRANSACTION_STATES[state]),
    ],
  )
  return rows.map(row => Number(row.bank_txn_id))
}

interface Given {
  readonly state?: TransactionState
  readonly limit?: number
  readonly comparedMax?: number
}

/** The ids of the transfers found, page by page. */
async function pagesOf(text: string, { limit = 200, ...given }: Given = {}): Promise<number[][]> {
  const pages: number[][] = []
  let place: SearchPlace | undefined
  do {
    const page = await searchTransactions(sql, { text, limit, place, ...given })
    pages.push(page.transactions.map(({ bankTxnId }) => bankTxnId))
    place = page.next === null ? undefined : readPlace(writePlace(page.next))
  } while (place !== undefined && pages.length < 2_000)
  return pages
}

const TEXTS = [
  ...[
    'VCB21',
    'vcb2',
    'vcb',
    'Ref-1',
    'ref-88',
    'REF',
    '150000',
    '150.000',
    '7000',
    'ST0000000018',
    'st00',
    '100%',
    '_',
  ],
  ...['payer@example.com', 'Payer', 'nguyen van 5', 'chuyen', 'FT26', 'ft2600500', 'same', 'nothing', '\\', "'"],
]

describe.each(TEXTS)('a search for %j', text => {
  test('finds every transfer with it, newest first', async () => {
    const found = await expected(text)
    expect((await pagesOf(text)).flat()).toEqual(found)
    expect((await pagesOf(text, { limit: 40 })).flat()).toEqual(found)
  })

  test('finds each transfer once where it compares few rows for a page', async () => {
    const unmatched = 'unmatched' as const
    for (const given of [
      { comparedMax: 150 },
      { comparedMax: 10, state: unmatched },
      { comparedMax: 10, limit: 4, state: unmatched },
      { comparedMax: 25, limit: 2, state: unmatched },
    ]) {
      const pages = await pagesOf(text, given)
      expect(pages.flat().sort((one, other) => other - one)).toEqual(await expected(text, given.state))
      for (const page of pages) expect(page).toEqual(page.toSorted((one, other) => other - one))
    }
  })
})

test('what an index finds is on the first page however old it is; the page says how far it compared memos and payers', async () => {
  const [oldest] = (await expected('FT26')).slice(-1)
  for (const [text, found] of [
    ['ft26', oldest],
    ['ref-21', 21],
    ['VCB147', 21],
    ['st0000000018', 8],
  ] as const) {
    const page = await searchTransactions(sql, { text, limit: 200, comparedMax: 5 })
    expect(page.transactions.map(({ bankTxnId }) => bankTxnId)).toContain(found)
    expect(page.comparedTo).toBeInstanceOf(Date)
  }
  const memo = await searchTransactions(sql, { text: 'nap tien', limit: 200, comparedMax: 5 })
  expect(memo).toMatchObject({ transactions: [], comparedTo: expect.any(Date), next: { indexed: 0 } })
  expect(await searchTransactions(sql, { text: 'nap tien', limit: 200 })).toMatchObject({
    comparedTo: null,
    next: null,
  })
})

test('without a text the transfers of a state are listed page by page', async () => {
  for (const state of ['returned', 'credited', 'unmatched'] as const) {
    const rows = await sql`select bank_txn_id::integer as id from bank_txn
      where state = ${TRANSACTION_STATES[state]} order by 1 desc`
    expect(rows.length).toBeGreaterThan(5)
    expect((await pagesOf('', { state, limit: 5 })).flat()).toEqual(rows.map(row => row.id))
  }
})

test.each(['', 'x', '1-', '-1', '1-2-3', "1'", '9'.repeat(16)])('%j is no place to go on from', text => {
  expect(readPlace(text)).toBeUndefined()
})
