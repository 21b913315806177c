import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listActions } from '../../src/accounts/operator-log.ts'
import { auditPayments } from '../../src/payments/audit.ts'
import { makeOrderCode } from '../../src/payments/order-code.ts'
import { readOrder } from '../../src/payments/orders.ts'
import { listTransactions } from '../../src/payments/transactions.ts'
import { findTwins } from '../../src/payments/twins.ts'
import { assignTransaction, countUnmatched, listUnmatched, settleUnmatched } from '../../src/payments/unmatched.ts'
import { expectCleanAudit } from '../ledger/world.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { balanceOf, newAccount, newOrder, OPERATOR, receive, testPayments, transfer, warmUp } from './world.ts'

const database = await createTestDatabase()
const { sql } = database
const payments = testPayments(sql)
beforeAll(() => warmUp(sql))
afterAll(() => database.drop())

const waiting = async (amountVnd = 50_000n) => (await receive(payments, transfer({ amountVnd }))).bankTxnId
const assign = (bankTxnId: number, to: { accountId: number } | { orderCode: string }) =>
  assignTransaction(payments, { bankTxnId, to, by: OPERATOR, reason: 'asked by phone' })

test('the queue shows the oldest first with its sum, page by page', async () => {
  const [first, second] = [await waiting(10_000n), await waiting(20_000n)]
  expect(await countUnmatched(payments)).toEqual({ transactions: 2, amountVnd: 30_000 })
  expect((await listUnmatched(payments)).map(row => row.bankTxnId)).toEqual([first, second])
  expect(await listUnmatched(payments, { afterId: first })).toMatchObject([
    { bankTxnId: second, amountVnd: 20_000, state: 'unmatched', reason: 'no_code', memo: 'chuyen tien' },
  ])
  for (const bankTxnId of [first, second]) {
    expect(await settleUnmatched(payments, { bankTxnId, as: 'returned', by: OPERATOR, reason: 'sent back' })).toBe(true)
  }
  expect(await countUnmatched(payments)).toEqual({ transactions: 0, amountVnd: 0 })
})

describe('assigning', () => {
  test('to an account, by eight operators at once, credits once, wakes its calls and logs who did it and why', async () => {
    const accountId = await newAccount(sql)
    const bankTxnId = await waiting()
    const answers = await Promise.all(Array.from({ length: 8 }, () => assign(bankTxnId, { accountId })))
    expect(answers.map(answer => answer.outcome).toSorted()).toEqual([...Array(7).fill('already'), 'credited'])
    expect(await balanceOf(sql, accountId)).toBe(50_000)
    expect(payments.credited.filter(id => id === accountId)).toHaveLength(1)
    expect(await listTransactions(payments, { accountId })).toMatchObject([
      { bankTxnId, state: 'credited', stateBy: OPERATOR.name, orderCode: null, reason: null },
    ])
    expect(await listActions(sql, { accountId })).toMatchObject([
      { by: OPERATOR, action: 'payment.assign', subject: `bank_txn:${bankTxnId} 50000 VND`, reason: 'asked by phone' },
    ])
  })

  test('to an order pays it, once', async () => {
    const order = await newOrder(payments)
    const bankTxnId = await waiting()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => assign(bankTxnId, { orderCode: order.orderCode })),
    )
    expect(answers.filter(answer => answer.outcome === 'credited')).toHaveLength(1)
    expect(await readOrder(payments, order)).toMatchObject({ state: 'paid', paidVnd: 50_000 })
  })

  test('an amount above the limit is credited when an operator confirms it', async () => {
    const order = await newOrder(payments)
    const big = await receive(payments, transfer({ memo: order.orderCode, amountVnd: 2_000_000_000n }))
    expect(big).toMatchObject({ outcome: 'unmatched', reason: 'amount_over_limit' })
    expect((await assign(big.bankTxnId, { orderCode: order.orderCode })).outcome).toBe('credited')
    expect(await balanceOf(sql, order.accountId)).toBe(2_000_000_000)
  })

  test('a transfer that does not exist or no longer waits changes nothing', async () => {
    const accountId = await newAccount(sql)
    const bankTxnId = await waiting()
    expect(await assign(1_000_000, { accountId })).toEqual({ outcome: 'unknown_transaction' })
    expect(await assign(bankTxnId, { accountId: 1_000_000 })).toEqual({ outcome: 'unknown_target' })
    expect(await assign(bankTxnId, { orderCode: makeOrderCode() })).toEqual({ outcome: 'unknown_target' })
    expect(await assign(bankTxnId, { orderCode: `' or 1=1` })).toEqual({ outcome: 'unknown_target' })
    const request = { bankTxnId, as: 'ignored', by: OPERATOR, reason: 'rent' } as const
    expect(await settleUnmatched(payments, request)).toBe(true)
    expect(await settleUnmatched(payments, request)).toBe(false)
    expect(await assign(bankTxnId, { accountId })).toEqual({ outcome: 'already' })
    expect(await balanceOf(sql, accountId)).toBe(0)
  })
})

test('the audit of payments finds money booked without a transfer, and transfers without a booking', async () => {
  await expectCleanAudit(sql)
  expect((await auditPayments(sql)).clean).toBe(true)
  const forged = async (statements: string) => {
    let found: unknown
    await sql
      .begin(async transaction => {
        await transaction.unsafe(`set local session_replication_role = replica; ${statements}`)
        found = (await auditPayments(transaction)).differences
        throw new Error('undo')
      })
      .catch(() => {})
    return found
  }
  const clean = { unbooked: 0, unfounded: 0, orders: 0, undecided: 0, credit_days: 0 }
  const one = '(select min(bank_txn_id) from bank_txn where state = 1)'
  expect(await forged(`delete from credit where reference = 'bank_txn:' || ${one}`)).toEqual({ ...clean, unbooked: 1 })
  expect(
    await forged(`update credit set amount_micro_vnd = amount_micro_vnd + 1 where reference = 'bank_txn:' || ${one}`),
  ).toEqual({
    ...clean,
    unbooked: 1,
  })
  expect(await forged(`update bank_txn set state = 3 where bank_txn_id = ${one}`)).toEqual({ ...clean, unfounded: 1 })
  expect(await forged('update topup_order set paid_vnd = paid_vnd + 1 where paid_vnd > 0')).toMatchObject({ orders: 2 })
  const old = `update bank_txn set state = 0, state_at = null, received_at = now() - interval '1 hour' where state = 4`
  expect(await forged(old)).toEqual({ ...clean, undecided: 2 })
  expect(await forged(`update call_roll_up set credits_summed_before = current_date + 2`)).toMatchObject({
    credit_days: 1,
  })
})

test('other reports of what may be the same transfer are found: by reference, by paid order, and by the second of the booking', async () => {
  const order = await newOrder(payments, 61_000)
  const bookedAt = new Date(Date.now() - 60_000)
  const report = (change: Parameters<typeof transfer>[0], provider: string) =>
    receive(payments, transfer({ amountVnd: 61_000n, ...change }), provider)
  const first = await report({ bankReference: 'FT61', memo: order.orderCode }, 'sepay')
  const repeated = await report({ bankReference: 'FT61', memo: order.orderCode }, 'sepay')
  const unpaired = await report({ memo: order.orderCode }, 'casso')
  const atOnce = await report({ bookedAt, memo: 'nap tien' }, 'sepay')
  const alsoAtOnce = await report({ bookedAt, memo: 'nap tien' }, 'casso')
  const sameService = await report({ bookedAt, memo: 'nap tien', amountVnd: 62_000n }, 'sepay')
  const outgoing = await report({ bankReference: 'FT61', direction: 'out' }, 'sepay')
  expect(
    [first, repeated, unpaired, outgoing].map(answer => ('reason' in answer ? answer.reason : answer.outcome)),
  ).toEqual(['credited', 'repeated_reference', 'maybe_credited', 'ignored'])
  const found = await findTwins(sql, await listUnmatched(payments))
  const twins = ({ bankTxnId }: { bankTxnId: number }) =>
    (found.get(bankTxnId) ?? []).map(twin => [twin.bankTxnId, twin.state, twin.email !== null])
  expect([repeated, unpaired, atOnce, alsoAtOnce, sameService].map(twins)).toEqual([
    [[first.bankTxnId, 'credited', true]],
    [[first.bankTxnId, 'credited', true]],
    [[alsoAtOnce.bankTxnId, 'unmatched', false]],
    [[atOnce.bankTxnId, 'unmatched', false]],
    [],
  ])
  expect(await findTwins(sql, [])).toEqual(new Map())
})
