import { afterAll, beforeAll, expect, test } from 'vitest'
import { cancelOrder, createOrder, listAllOrders, listOrders, readOrder } from '../../src/payments/orders.ts'
import { paymentRequest } from '../../src/payments/payment-request.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { BANK, newAccount, newOrder, receive, testPayments, transfer, warmUp } from './world.ts'

const database = await createTestDatabase()
const { sql } = database
const payments = testPayments(sql)
beforeAll(() => warmUp(sql))
afterAll(() => database.drop())

const expire = (orderCode: string) =>
  sql.unsafe(`update topup_order set expires_at = now() - interval '1 second' where order_code = $1`, [orderCode])

test.each([
  [49_999, 'out_of_range'],
  [50_000, 'created'],
  [499_000_000, 'created'],
  [499_000_001, 'out_of_range'],
  [50_000.5, 'out_of_range'],
  [Number.NaN, 'out_of_range'],
  [-50_000, 'out_of_range'],
])('an order of %s is %s', async (amountVnd, outcome) => {
  const created = await createOrder(payments, { accountId: await newAccount(sql), amountVnd })
  expect(created.outcome).toBe(outcome)
  if (created.outcome === 'out_of_range') expect(created).toMatchObject({ minVnd: 50_000, maxVnd: 499_000_000 })
})

test('a payment request has bank, account, amount and memo, and its QR code has the same', async () => {
  const order = await newOrder(payments, 200_000)
  const request = paymentRequest(payments, order)
  expect(request).toMatchObject({ bank: BANK, amountVnd: 200_000, memo: order.orderCode })
  expect(request?.payload).toContain(`54062000005802VN62160812${order.orderCode}6304`)
  expect(request?.svg).toMatch(/^<svg /)
  expect(paymentRequest({ bank: null }, order)).toBeNull()
  const bankless = testPayments(sql, { bank: null })
  expect(await createOrder(bankless, { accountId: order.accountId, amountVnd: 50_000 })).toEqual({
    outcome: 'not_configured',
  })
})

test('the same amount sent many times at once makes one order, another amount another', async () => {
  const accountId = await newAccount(sql)
  const orders = await Promise.all(Array.from({ length: 5 }, () => newOrder(payments, 60_000, accountId)))
  expect(new Set(orders.map(order => order.orderCode)).size).toBe(1)
  expect((await newOrder(payments, 70_000, accountId)).orderCode).not.toBe(orders[0]?.orderCode)
  const stranger = await newOrder(payments, 60_000)
  expect(stranger.orderCode).not.toBe(orders[0]?.orderCode)
})

test('an order that is about to expire, was cancelled or was paid is not reused', async () => {
  const accountId = await newAccount(sql)
  const first = await newOrder(payments, 60_000, accountId)
  await sql.unsafe(
    `update topup_order set created_at = now() - interval '1 hour', expires_at = now() + interval '59 minutes' where order_code = $1`,
    [first.orderCode],
  )
  const second = await newOrder(payments, 60_000, accountId)
  await cancelOrder(payments, second)
  const third = await newOrder(payments, 60_000, accountId)
  await receive(payments, transfer({ memo: third.orderCode }))
  const fourth = await newOrder(payments, 60_000, accountId)
  expect(new Set([first, second, third, fourth].map(order => order.orderCode)).size).toBe(4)
})

test('orders that are created and cancelled again and again come to an end; paid ones do not count', async () => {
  const few = testPayments(sql, { limits: { unpaidOrdersPerDayMax: 3 } })
  const accountId = await newAccount(sql)
  const order = (amountVnd: number) => createOrder(few, { accountId, amountVnd })
  for (let nth = 0; nth < 3; nth++) await cancelOrder(few, await newOrder(few, 50_000, accountId))
  expect(await order(50_000)).toEqual({ outcome: 'too_many_unpaid' })
  const [last] = await listOrders(few, accountId)
  await receive(few, transfer({ memo: last!.orderCode }))
  expect((await order(50_000)).outcome).toBe('created')
  expect(await order(60_000)).toEqual({ outcome: 'too_many_unpaid' })
  await sql`update topup_order set created_at = created_at - interval '1 day' where account_id = ${accountId}`
  expect((await order(60_000)).outcome).toBe('created')
})

test('no more orders are open than allowed; a cancelled or expired one makes room', async () => {
  const few = testPayments(sql, { limits: { openOrdersMax: 2 } })
  const accountId = await newAccount(sql)
  const order = (amountVnd: number) => createOrder(few, { accountId, amountVnd })
  const first = await newOrder(few, 50_000, accountId)
  const second = await newOrder(few, 60_000, accountId)
  expect(await order(70_000)).toEqual({ outcome: 'too_many_open' })
  await expire(first.orderCode)
  expect((await order(70_000)).outcome).toBe('created')
  expect(await order(80_000)).toEqual({ outcome: 'too_many_open' })
  await cancelOrder(few, second)
  expect((await order(80_000)).outcome).toBe('created')
})

test('an order is open, expired, cancelled or paid, and paid takes precedence', async () => {
  const order = await newOrder(payments)
  const state = async () => (await readOrder(payments, order))?.state
  expect(await state()).toBe('open')
  await expire(order.orderCode)
  expect(await state()).toBe('expired')
  expect(await cancelOrder(payments, order)).toBe(false)
  const other = await newOrder(payments)
  expect(await cancelOrder(payments, other)).toBe(true)
  expect(await cancelOrder(payments, other)).toBe(false)
  expect((await readOrder(payments, other))?.state).toBe('cancelled')
  await receive(payments, transfer({ memo: order.orderCode, amountVnd: 20_000n }))
  expect(await readOrder(payments, order)).toMatchObject({
    state: 'paid',
    paidVnd: 20_000,
    firstPaidAt: expect.any(Date),
  })
})

test('somebody else’s order is treated like one that does not exist', async () => {
  const order = await newOrder(payments)
  const accountId = await newAccount(sql)
  const { orderCode } = order
  expect(await readOrder(payments, { accountId, orderCode })).toBeNull()
  expect(await cancelOrder(payments, { accountId, orderCode })).toBe(false)
  expect(await readOrder(payments, { accountId: order.accountId, orderCode: `' or 1=1 --` })).toBeNull()
  expect((await readOrder(payments, order))?.state).toBe('open')
})

test('the history has the account’s own orders, newest first, page by page; operators can search all orders', async () => {
  const accountId = await newAccount(sql)
  const made = []
  for (const amount of [50_000, 60_000, 70_000]) made.unshift(await newOrder(payments, amount, accountId))
  const codes = made.map(order => order.orderCode)
  expect((await listOrders(payments, accountId)).map(order => order.orderCode)).toEqual(codes)
  const page = await listOrders(payments, accountId, { beforeCode: codes[0]!, limit: 1 })
  expect(page.map(order => order.orderCode)).toEqual([codes[1]])
  await sql`update topup_order set created_at = ${made[0]!.createdAt} where account_id = ${accountId}`
  const [first, ...rest] = await listOrders(payments, accountId)
  expect(await listOrders(payments, accountId, { beforeCode: first!.orderCode })).toEqual(rest)
  expect((await listAllOrders(payments, { beforeCode: rest[0]!.orderCode })).slice(0, 1)).toMatchObject([rest[1]])
  for (const { orderCode, createdAt } of made)
    await sql`update topup_order set created_at = ${createdAt} where order_code = ${orderCode}`
  const found = async (text: string) => (await listAllOrders(payments, { text })).map(order => order.orderCode)
  expect(await found(codes[2]!.toLowerCase())).toEqual([codes[2]])
  const email = (await listAllOrders(payments, { text: codes[0]! }))[0]!.email
  expect(await found(email.toUpperCase())).toEqual(codes)
  expect(await found('%')).toEqual([])
  await cancelOrder(payments, made[1]!)
  expect((await listAllOrders(payments, { state: 'cancelled', text: email })).map(order => order.orderCode)).toEqual([
    codes[1],
  ])
})

test('operators list the orders of each state, newest first, page by page', async () => {
  const accountId = await newAccount(sql)
  const email = (await listAllOrders(payments, { text: (await newOrder(payments, 50_000, accountId)).orderCode }))[0]!
    .email
  const changes = {
    open: '',
    paid: 'paid_vnd = amount_vnd, first_paid_at = now()',
    cancelled: 'cancelled_at = now()',
    expired: "expires_at = now() - interval '1 second'",
  } as const
  for (const state of ['open', 'paid', 'cancelled', 'expired'] as const) {
    const made: string[] = []
    for (const amount of [60_000, 70_000, 80_000]) {
      const { orderCode } = await newOrder(payments, amount, accountId)
      made.unshift(orderCode)
      if (changes[state] !== '')
        await sql.unsafe(`update topup_order set ${changes[state]} where order_code = $1`, [orderCode])
    }
    const codes = async (given: Parameters<typeof listAllOrders>[1]) =>
      (await listAllOrders(payments, { state, ...given })).map(order => order.orderCode)
    expect((await codes({})).slice(0, 3)).toEqual(made)
    expect((await codes({ beforeCode: made[0]!, limit: 2 })).slice(0, 2)).toEqual(made.slice(1))
    expect((await codes({ text: email })).slice(0, 3)).toEqual(made)
    expect(await codes({ text: made[1]!.slice(0, 9) })).toEqual([made[1]])
    expect((await listAllOrders(payments, { state })).every(order => order.state === state)).toBe(true)
  }
})
