/** Looking up a memo's email addresses in the index finds the same addresses as comparing the memo with each of them. */

import { afterAll, expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { plainMemo } from '../../src/payments/memo.ts'
import { suggestOwners } from '../../src/payments/suggest.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

const ADDRESSES = [
  'an@b.vn',
  'an@bc.vn.io',
  'nguyen.van-an@example.com',
  'guyen@van.an',
  'x@nguyen.van',
  'van.an@example.com',
  '1@2.34567',
]
const MEMOS = [
  ...[
    'CT tu NGUYEN VAN AN toi 1234567',
    'nguyen van an example com',
    'ANBVN',
    'an bc vn io an bc vn io',
    'XNGUYENVAN',
    'x nguyen va',
  ],
  ...[
    '',
    'a',
    'guyen van',
    'guyen van a',
    '123456',
    'nap tien van.an@example.com.vn',
    "'; --",
    'zz~',
    `${'NGUYEN VAN '.repeat(150)}an`,
  ],
]

test('an address is recognised wherever it stands in a memo, without its signs, from eight characters on', async () => {
  const accounts = new Map<number, string>()
  for (const email of ADDRESSES) accounts.set((await createAccount(sql, email)).accountId, email)
  const closed = await createAccount(sql, 'closed@example.com')
  await sql`update account set deleted_at = now() where account_id = ${closed.accountId}`
  const transfers = [...MEMOS, 'closed example com'].map((memo, nth) => ({
    bankTxnId: nth + 1,
    memo,
    amountVnd: 1_000,
  }))
  const found = await suggestOwners(sql, transfers)
  const squeeze = (email: string) => email.toUpperCase().replace(/[^A-Z0-9]/g, '')
  for (const { bankTxnId, memo } of transfers) {
    const expected = ADDRESSES.filter(email => squeeze(email).length >= 8 && plainMemo(memo).includes(squeeze(email)))
    const longestFirst = expected.sort((one, other) => squeeze(other).length - squeeze(one).length)
    expect([memo, found.get(bankTxnId)?.map(({ email }) => email)]).toEqual([memo, longestFirst.slice(0, 3)])
  }
  expect(found.get(2)?.length).toBeGreaterThan(1)
})
