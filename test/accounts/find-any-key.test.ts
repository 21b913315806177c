import { afterAll, beforeAll, expect, test } from 'vitest'
import { findKeyOfAny } from '../../src/accounts/keys.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

const KEYS = 5_000
/** Key `n` of 5,000 belongs to account 1 to 500 and ends with its number, except for those below. */
beforeAll(async () => {
  await sql.unsafe(
    `insert into api_key (account_id, key_id, key_hash, pepper_id, last4) overriding system value
     select 1 + n % 500, n, sha256(n::text::bytea), 1, case when n < 4 then 'twin' else lpad((n + 1)::text, 4, '0') end
       from generate_series(1, $1::text::integer) n`,
    [String(KEYS)],
  )
  await sql`analyze api_key`
})

const find = (text: string, accountId: number | null = null) => findKeyOfAny(sql, { text, accountId })

test('a key is found by its number, even if another key ends with those characters', async () => {
  // 4,000 is also how key 3,999 ends.
  for (const text of ['4000', '#4000']) expect(await find(text)).toEqual({ accountId: 1, keyId: 4_000 })
  expect(await find('4000', 1)).toEqual({ accountId: 1, keyId: 4_000 })
})

test('a key is found by its last characters if no other key of the account, or of any account, has them', async () => {
  for (const text of ['0100', '…0100']) expect(await find(text, 100)).toEqual({ accountId: 100, keyId: 99 })
  expect(await find('5001')).toEqual({ accountId: 1, keyId: 5_000 })
  expect(await find('twin')).toBeNull()
  expect(await find('twin', 3)).toEqual({ accountId: 3, keyId: 2 })
  expect(await find('none')).toBeNull()
  expect(await find('4000', 2)).toBeNull()
})

test('no search reads all keys, whether it finds something or not', async () => {
  const read = await sql.begin(async transaction => {
    const rows = async () => {
      const [row] =
        await transaction`select seq_tup_read::integer as read from pg_stat_xact_user_tables where relname = 'api_key'`
      return Number(row?.read)
    }
    const before = await rows()
    for (const text of ['4000', '5001', 'twin', 'none']) {
      for (const accountId of [null, 1]) {
        // More often than Postgres plans a statement anew before it keeps one plan for all parameters.
        for (let turn = 0; turn < 8; turn++) await findKeyOfAny(transaction, { text, accountId })
      }
    }
    return (await rows()) - before
  })
  expect(read).toBe(0)
})
