import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { credit } from '../../src/ledger/credit.ts'
import { auditPayments } from '../../src/payments/audit.ts'
import { enterTransfer } from '../../src/payments/enter.ts'
import { judgeUndecided } from '../../src/payments/judge.ts'
import { countUnreadable, receiveNotification } from '../../src/payments/notification.ts'
import { makeOrderCode } from '../../src/payments/order-code.ts'
import { cancelOrder, readOrder } from '../../src/payments/orders.ts'
import { createSignedProvider } from '../../src/payments/providers/signed.ts'
import { receiveTransactions } from '../../src/payments/receive.ts'
import { simulateTransfer } from '../../src/payments/simulate.ts'
import { listTransactions, storeTransaction } from '../../src/payments/transactions.ts'
import type { BankProvider } from '../../src/payments/types.ts'
import { settleUnmatched } from '../../src/payments/unmatched.ts'
import { expectCleanAudit } from '../ledger/world.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  BANK,
  balanceOf,
  newAccount,
  newOrder,
  OPERATOR,
  receive,
  stateOf,
  testPayments,
  transfer,
  warmUp,
} from './world.ts'

const database = await createTestDatabase()
const { sql } = database
const payments = testPayments(sql)
beforeAll(() => warmUp(sql))
afterAll(async () => {
  await expectCleanAudit(sql)
  expect(await auditPayments(sql)).toMatchObject({
    clean: true,
    differences: { unbooked: 0, unfounded: 0, orders: 0, undecided: 0, credit_days: 0 },
  })
  await database.drop()
})

const mangled = (code: string): string =>
  `MBVCB.123.${code.toLowerCase().slice(0, 7)} ${code.slice(7)}.CT tu 00710 NGUYEN A`

describe('a transfer with an order’s code', () => {
  test('is credited to its owner, pays the order, and wakes the calls that wait for money', async () => {
    const order = await newOrder(payments, 200_000)
    const received = await receive(payments, transfer({ memo: mangled(order.orderCode), amountVnd: 200_000n }))
    expect(received).toEqual({
      bankTxnId: expect.any(Number),
      outcome: 'credited',
      accountId: order.accountId,
      orderCode: order.orderCode,
    })
    expect(await balanceOf(sql, order.accountId)).toBe(200_000)
    expect(await readOrder(payments, order)).toMatchObject({ state: 'paid', paidVnd: 200_000 })
    expect(payments.credited).toEqual([order.accountId])
    expect(payments.events.at(-1)).toMatchObject({ level: 'info', code: 'credited' })
    const [stored] = await listTransactions(payments, { accountId: order.accountId })
    expect(stored).toMatchObject({
      state: 'credited',
      stateBy: 'automatic',
      orderCode: order.orderCode,
      memo: mangled(order.orderCode),
      reason: null,
    })
  })

  test('reported ten times at once and once more by another channel is credited once', async () => {
    const order = await newOrder(payments)
    const given = transfer({ memo: order.orderCode, bankReference: 'FT1' })
    const received = await Promise.all(Array.from({ length: 10 }, () => receive(payments, given)))
    const pulled = await receive(payments, { ...given, providerReference: 'another number' }, 'pull')
    const outcomes = received.map(answer => answer.outcome)
    expect(outcomes.filter(outcome => outcome === 'credited')).toHaveLength(1)
    expect(outcomes.filter(outcome => outcome === 'duplicate')).toHaveLength(9)
    expect(pulled.outcome).toBe('alias')
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
  })

  test('reported by two providers at the same moment is credited once', async () => {
    const orders = await Promise.all(Array.from({ length: 10 }, () => newOrder(payments)))
    const outcomes = await Promise.all(
      orders.flatMap((order, index) =>
        ['sepay', 'casso', 'pull'].map(provider =>
          receive(payments, transfer({ memo: order.orderCode, bankReference: `TWICE${index}` }), provider),
        ),
      ),
    )
    expect(outcomes.filter(({ outcome }) => outcome === 'credited')).toHaveLength(10)
    expect(outcomes.filter(({ outcome }) => outcome === 'alias')).toHaveLength(20)
    for (const order of orders) expect(await balanceOf(sql, order.accountId)).toBe(50_000)
  })

  test('reported by two services is credited once even if one of them knows no bank reference', async () => {
    const given = (order: { orderCode: string }, bankReference: string | null) =>
      transfer({ memo: mangled(order.orderCode), bankReference })
    const orders = await Promise.all(Array.from({ length: 10 }, () => newOrder(payments)))
    const answers = await Promise.all(
      orders.flatMap((order, index) => [
        receive(payments, given(order, index % 2 === 0 ? `FT960${index}` : null), 'casso'),
        receive(payments, given(order, null), 'signed'),
      ]),
    )
    expect(answers.filter(({ outcome }) => outcome === 'credited')).toHaveLength(10)
    expect(answers.filter(answer => 'reason' in answer && answer.reason === 'maybe_credited')).toHaveLength(10)
    for (const order of orders) expect(await balanceOf(sql, order.accountId)).toBe(50_000)
    // Neither of its reports has a reference. Of the first order, either may have been credited.
    const [, order] = orders as [unknown, (typeof orders)[0]]
    const entry = {
      bankReference: 'FT961',
      amountVnd: 50_000,
      memo: order.orderCode,
      by: OPERATOR,
      reason: 'statement',
    }
    expect(await enterTransfer(payments, entry)).toMatchObject({ outcome: 'unmatched', reason: 'maybe_credited' })
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
    // Another amount is another transfer.
    const other = { ...given(order, null), amountVnd: 60_000n }
    expect(await receive(payments, other, 'sepay')).toMatchObject({ outcome: 'credited' })
  })

  test('reported by two services under different bank references is credited once; the second waits for an operator', async () => {
    const order = await newOrder(payments)
    const bookedAt = new Date(Date.now() - 60_000)
    const report = (bankReference: string, service: string) =>
      receive(payments, transfer({ memo: mangled(order.orderCode), bookedAt, bankReference }), service)
    const answers = await Promise.all([report('FT95', 'casso'), report('VCB.95', 'signed')])
    expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual(['credited', 'unmatched'])
    expect(answers.find(({ outcome }) => outcome === 'unmatched')).toMatchObject({ reason: 'maybe_credited' })
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
    // One service has reported both of its own: they are two transfers.
    const isFirst = answers[0]!.outcome === 'credited'
    expect(await report('96', isFirst ? 'casso' : 'signed')).toMatchObject({ outcome: 'credited' })
  })

  test('without a bank reference in one of two reports is the same transfer if the bank booked both in the same second', async () => {
    const order = await newOrder(payments)
    const report = (secondsAgo: number, bankReference: string | null, service: string) => {
      const bookedAt = new Date(startedMs - secondsAgo * 1_000)
      return receive(payments, transfer({ memo: mangled(order.orderCode), bookedAt, bankReference }), service)
    }
    const startedMs = Date.now()
    for (const secondsAgo of [3, 2]) {
      const reports = [report(secondsAgo, null, 'sepay'), report(secondsAgo, `FT98${secondsAgo}`, 'pull')]
      const outcomes = (await Promise.all(reports)).map(({ outcome }) => outcome)
      expect(outcomes.toSorted()).toEqual(['alias', 'credited'])
    }
    expect(await balanceOf(sql, order.accountId)).toBe(100_000)
    expect(await report(1, null, 'casso')).toMatchObject({ outcome: 'unmatched', reason: 'maybe_credited' })
  })

  test('paid a second time is credited again, although another service reported the first transfer too', async () => {
    const order = await newOrder(payments)
    const report = (bookedAt: Date, bankReference: string | null, service: string) =>
      receive(payments, transfer({ memo: order.orderCode, bookedAt, bankReference }), service)
    const bookedAt = new Date(Date.now() - 60_000)
    expect((await report(bookedAt, 'FT99', 'pull')).outcome).toBe('credited')
    expect((await report(bookedAt, null, 'sepay')).outcome).toBe('alias')
    expect((await report(new Date(), null, 'sepay')).outcome).toBe('credited')
    expect(await balanceOf(sql, order.accountId)).toBe(100_000)
  })

  test('whose code only the second service passes on is credited with that report, once', async () => {
    const order = await newOrder(payments)
    const bankReference = 'FT970'
    const first = await receive(payments, transfer({ bankReference }), 'casso')
    expect(first).toMatchObject({ outcome: 'unmatched', reason: 'no_code' })
    const before = payments.credited.length
    const later = transfer({ bankReference, memo: mangled(order.orderCode) })
    const services = ['sepay', 'pull', 'signed']
    const answers = await Promise.all(services.map(service => receive(payments, later, service)))
    expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual(['alias', 'alias', 'credited'])
    expect(payments.credited.slice(before)).toEqual([order.accountId])
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
    expect(await readOrder(payments, order)).toMatchObject({ state: 'paid', paidVnd: 50_000 })
    const [stored] = await listTransactions(payments, { accountId: order.accountId })
    expect(stored).toMatchObject({ bankTxnId: first.bankTxnId, state: 'credited', stateBy: 'automatic', reason: null })
  })

  test('that an operator has returned is not credited when another service passes its code on', async () => {
    const order = await newOrder(payments)
    const bankReference = 'FT971'
    const { bankTxnId } = await receive(payments, transfer({ bankReference }), 'casso')
    await settleUnmatched(payments, { bankTxnId, as: 'returned', by: OPERATOR, reason: 'sent back' })
    expect(await receive(payments, transfer({ bankReference, memo: order.orderCode }))).toMatchObject({
      outcome: 'alias',
    })
    expect(await balanceOf(sql, order.accountId)).toBe(0)
  })

  test('of another amount is credited with what arrived', async () => {
    const order = await newOrder(payments, 100_000)
    await receive(payments, transfer({ memo: order.orderCode, amountVnd: 12_345n }))
    expect(await balanceOf(sql, order.accountId)).toBe(12_345)
    expect(await readOrder(payments, order)).toMatchObject({ amountVnd: 100_000, paidVnd: 12_345, state: 'paid' })
  })

  test('of the largest amount that needs no operator is credited', async () => {
    const order = await newOrder(payments)
    const { outcome } = await receive(payments, transfer({ memo: order.orderCode, amountVnd: 1_000_000_000n }))
    expect(outcome).toBe('credited')
  })

  test('paid a second time is credited again', async () => {
    const order = await newOrder(payments)
    await receive(payments, transfer({ memo: order.orderCode }))
    const paid = await readOrder(payments, order)
    await receive(payments, transfer({ memo: order.orderCode }))
    expect(await balanceOf(sql, order.accountId)).toBe(100_000)
    expect(await readOrder(payments, order)).toEqual({ ...paid, paidVnd: 100_000 })
  })

  test('that comes after the order expired or was cancelled is credited', async () => {
    const late = await newOrder(payments)
    await sql.unsafe(`update topup_order set expires_at = now() - interval '40 days' where order_code = $1`, [
      late.orderCode,
    ])
    const cancelled = await newOrder(payments)
    await cancelOrder(payments, cancelled)
    for (const order of [late, cancelled]) {
      expect((await receive(payments, transfer({ memo: order.orderCode }))).outcome).toBe('credited')
      expect(await readOrder(payments, order)).toMatchObject({ state: 'paid' })
    }
  })

  test('reported twice by its provider, under two ids and one bank reference, is credited once; the second waits for an operator', async () => {
    const order = await newOrder(payments)
    const given = () => transfer({ memo: order.orderCode, bankReference: 'REUSED' })
    expect((await receive(payments, given())).outcome).toBe('credited')
    const second = await receive(payments, given())
    expect(second).toMatchObject({ outcome: 'unmatched', reason: 'repeated_reference' })
    expect(payments.events.at(-1)?.message).toContain('is waiting for an operator: repeated_reference')
    expect((await receive(payments, given(), 'casso')).outcome).toBe('alias')
    // Another provider's first two reports are paired with the first two. Its third matches neither of them, nor a report that
    // is paired itself, so it waits for an operator.
    for (let turn = 0; turn < 2; turn++) expect((await receive(payments, given(), 'pull')).outcome).toBe('alias')
    expect(await receive(payments, given(), 'pull')).toMatchObject({ reason: 'repeated_reference' })
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
  })

  test('reported several times at once by its provider is credited once', async () => {
    const order = await newOrder(payments)
    const given = Array.from({ length: 6 }, () => transfer({ memo: order.orderCode, bankReference: 'AT ONCE' }))
    const outcomes = (await Promise.all(given.map(one => receive(payments, one)))).map(({ outcome }) => outcome)
    expect(outcomes.sort()).toEqual(['credited', ...Array(5).fill('unmatched')])
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
  })

  test('is a new transfer if its provider used the bank reference long ago, or for another amount', async () => {
    const order = await newOrder(payments)
    const day = 24 * 3_600_000
    const booked = [new Date(Date.now() - 8 * day), new Date()]
    for (const bookedAt of booked) {
      const given = transfer({ memo: order.orderCode, bankReference: 'YEARLY', bookedAt })
      expect((await receive(payments, given)).outcome).toBe('credited')
    }
    const other = transfer({ memo: order.orderCode, bankReference: 'YEARLY', amountVnd: 60_000n })
    expect((await receive(payments, other)).outcome).toBe('credited')
  })

  test.each([
    ['long ago', 8, true],
    ['for another order', 1, false],
  ])('waits for an operator if another provider used its bank reference %s', async (when, days, isSameOrder) => {
    const [first, second] = [await newOrder(payments), await newOrder(payments)]
    const given = (order: typeof first, daysAgo: number) => {
      const bookedAt = new Date(Date.now() - daysAgo * 24 * 3_600_000)
      return transfer({ memo: order.orderCode, bankReference: `AGAIN ${when}`, bookedAt })
    }
    expect((await receive(payments, given(first, days))).outcome).toBe('credited')
    const order = isSameOrder ? first : second
    const before = await balanceOf(sql, order.accountId)
    expect(await receive(payments, given(order, 0), 'pull')).toMatchObject({ reason: 'repeated_reference' })
    // Another provider's report of the later transfer is paired with that one.
    expect(await receive(payments, given(order, 0), 'casso')).toMatchObject({ outcome: 'alias' })
    expect(await balanceOf(sql, order.accountId)).toBe(before)
  })

  test('to another account than ours waits for an operator, however its code reads', async () => {
    const order = await newOrder(payments)
    const memo = order.orderCode
    const wrong = await receive(payments, transfer({ memo, accountNumber: '1012345679' }))
    expect(wrong).toMatchObject({ outcome: 'unmatched', reason: 'other_account' })
    expect(await balanceOf(sql, order.accountId)).toBe(0)
    expect((await receive(payments, transfer({ memo, accountNumber: '1012-345 678' }))).outcome).toBe('credited')
    const open = testPayments(sql, { bank: null })
    expect((await receive(open, transfer({ memo, accountNumber: '999' }))).outcome).toBe('credited')
  })

  test('to the virtual number that customers are shown is credited once, whoever reports it', async () => {
    const bank = { ...BANK, accountNumber: '96247Va01' }
    const virtual = testPayments(sql, { bank })
    const order = await newOrder(virtual)
    const given = transfer({ memo: order.orderCode, virtualAccountNumber: '96247VA01', bankReference: 'FT950' })
    expect(await receive(virtual, given)).toMatchObject({ outcome: 'credited', orderCode: order.orderCode })
    expect(await receive(virtual, given)).toMatchObject({ outcome: 'duplicate' })
    expect(await receive(virtual, { ...given, providerReference: 'another' }, 'pull')).toMatchObject({
      outcome: 'alias',
    })
    const entry = {
      bankReference: 'FT950',
      amountVnd: 50_000,
      memo: order.orderCode,
      by: OPERATOR,
      reason: 'statement',
    }
    expect(await enterTransfer(virtual, entry)).toMatchObject({ outcome: 'alias' })
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
    const other = { ...given, providerReference: 'a third', virtualAccountNumber: '96247VA02' }
    expect(await receive(virtual, other)).toMatchObject({ outcome: 'unmatched', reason: 'other_account' })
  })

  test('reported again after customers are shown another number of the same account changes nothing', async () => {
    const order = await newOrder(payments)
    const given = transfer({ memo: order.orderCode, virtualAccountNumber: '96247VA01' })
    expect(await receive(payments, given)).toMatchObject({ outcome: 'credited' })
    const virtual = testPayments(sql, { bank: { ...BANK, accountNumber: '96247VA01' } })
    expect(await receive(virtual, given)).toMatchObject({ outcome: 'duplicate' })
  })

  test('whose account two reports spell differently is credited once', async () => {
    const virtual = testPayments(sql, { bank: { ...BANK, accountNumber: 'vqrq0001abc' } })
    const order = await newOrder(virtual)
    const entry = {
      bankReference: 'FT951',
      amountVnd: 50_000,
      memo: order.orderCode,
      by: OPERATOR,
      reason: 'statement',
    }
    expect(await enterTransfer(virtual, entry)).toMatchObject({ outcome: 'credited' })
    const reported = transfer({ memo: order.orderCode, bankReference: 'FT951', accountNumber: 'VQRQ0001ABC' })
    expect(await receive(virtual, reported)).toMatchObject({ outcome: 'alias' })
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
  })

  test('reported again with another amount, account or direction changes nothing and raises the alarm', async () => {
    const order = await newOrder(payments)
    const given = transfer({ memo: order.orderCode })
    await receive(payments, given)
    const changes = [{ amountVnd: 5_000_000n }, { accountNumber: '999' }, { direction: 'out' as const }]
    for (const change of changes) {
      expect((await receive(payments, { ...given, ...change })).outcome).toBe('conflict')
      expect(payments.events.at(-1)).toMatchObject({ level: 'error', code: 'conflict' })
    }
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
  })

  test('that names two orders of one owner pays the first', async () => {
    const accountId = await newAccount(sql)
    const first = await newOrder(payments, 60_000, accountId)
    const second = await newOrder(payments, 70_000, accountId)
    const memo = `${makeOrderCode()} ${second.orderCode} ${first.orderCode}`
    expect(await receive(payments, transfer({ memo }))).toMatchObject({
      outcome: 'credited',
      orderCode: second.orderCode,
    })
  })
})

describe('a transfer that cannot be matched automatically waits for an operator', () => {
  test.each([
    ['no code', 'no_code', async () => transfer({ memo: 'chuyen tien' })],
    ['a code without an order', 'unknown_code', async () => transfer({ memo: makeOrderCode() })],
    [
      'codes of two owners',
      'two_owners',
      async () => transfer({ memo: `${(await newOrder(payments)).orderCode} ${(await newOrder(payments)).orderCode}` }),
    ],
    [
      'an amount above the limit',
      'amount_over_limit',
      async () => transfer({ memo: (await newOrder(payments)).orderCode, amountVnd: 1_000_000_001n }),
    ],
  ])('%s', async (_, reason, make) => {
    const received = await receive(payments, await make())
    expect(received).toMatchObject({ outcome: 'unmatched', reason })
    expect(payments.events.at(-1)).toMatchObject({ level: 'warn', code: 'unmatched' })
    expect(await stateOf(sql, received.bankTxnId)).toBe(2)
  })
})

test('outgoing money is recorded and ignored, even with a code in its memo', async () => {
  const order = await newOrder(payments)
  const received = await receive(payments, transfer({ memo: order.orderCode, direction: 'out' }))
  expect(received.outcome).toBe('ignored')
  expect(await balanceOf(sql, order.accountId)).toBe(0)
})

describe('a failure in the middle', () => {
  test('leaves the transaction stored and undecided; the provider’s retry decides it', async () => {
    const order = await newOrder(payments)
    const given = transfer({ memo: order.orderCode })
    const broken = testPayments(sql, {
      bookCredit: async (...parameters) => {
        await credit(...parameters)
        throw new Error('the process dies here')
      },
    })
    await expect(receive(broken, given)).rejects.toThrow('dies here')
    expect(broken.credited).toEqual([])
    expect(await balanceOf(sql, order.accountId)).toBe(0)
    expect(await receive(payments, given)).toMatchObject({ outcome: 'credited', orderCode: order.orderCode })
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
  })

  test('leaves the other transfers of its list stored: the sweep decides them, even if the provider does not send them again', async () => {
    const [first, second] = [await newOrder(payments), await newOrder(payments)]
    const broken = testPayments(sql, { bookCredit: () => Promise.reject(new Error('the process dies here')) })
    const list = [first, second].map(order => transfer({ memo: order.orderCode }))
    const source = { provider: 'sepay', via: 'webhook', notificationId: null } as const
    await expect(receiveTransactions(broken, source, list)).rejects.toThrow('dies here')
    await sql`update bank_txn set received_at = now() - interval '1 minute' where state = 0`
    expect(await judgeUndecided(payments)).toBe(2)
    for (const order of [first, second]) expect(await balanceOf(sql, order.accountId)).toBe(50_000)
    const again = await receiveTransactions(payments, source, [...list, ...list])
    expect(again.map(({ outcome }) => outcome)).toEqual(Array(4).fill('duplicate'))
  })

  test('the sweep decides what no provider sends again, and only once', async () => {
    const order = await newOrder(payments)
    const source = { provider: 'sepay', via: 'webhook', notificationId: null } as const
    const stored = await storeTransaction(payments, source, transfer({ memo: order.orderCode }))
    await sql.unsafe(
      `update bank_txn set received_at = now() - interval '1 minute' where bank_txn_id = $1::text::bigint`,
      [String(stored.bankTxnId)],
    )
    const sweeps = await Promise.all([judgeUndecided(payments), judgeUndecided(payments), judgeUndecided(payments)])
    expect(Math.max(...sweeps)).toBe(1)
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
    expect(await judgeUndecided(payments)).toBe(0)
  })
})

describe('a notification', () => {
  const provider = (verify: BankProvider['verify']): BankProvider => ({ name: 'test', verify })

  test('is stored as it came before it is processed, and only once however often it comes', async () => {
    const order = await newOrder(payments)
    const given = transfer({ memo: order.orderCode })
    const body = Buffer.from(`{"memo":"${order.orderCode}","nul":"\0"}`)
    for (const outcome of ['credited', 'duplicate']) {
      const received = await receiveNotification(
        payments,
        provider(() => [given]),
        body,
        {},
      )
      expect(received.map(answer => answer.outcome)).toEqual([outcome])
    }
    const rows = await sql.unsafe(
      `select n.body, n.fault from bank_notification n join bank_txn t using (notification_id) where t.order_code = $1`,
      [order.orderCode],
    )
    expect(rows).toEqual([{ body: `{"memo":"${order.orderCode}","nul":""}`, fault: null }])
  })

  test('that is forged leaves no trace; an authentic one that is not understood is stored', async () => {
    const count = async () => (await sql.unsafe('select count(*)::integer as n from bank_notification'))[0]?.n
    const before = await count()
    const refusing = provider(() => {
      throw new GatewayError('notification_refused')
    })
    await expect(receiveNotification(payments, refusing, Buffer.from('x'), {})).rejects.toMatchObject({
      code: 'notification_refused',
    })
    expect(await count()).toBe(before)
    const odd = provider(() => {
      throw new GatewayError('notification_unreadable', { message: 'a new form' })
    })
    for (let turn = 0; turn < 2; turn++) {
      await expect(receiveNotification(payments, odd, Buffer.from('odd'), {})).rejects.toMatchObject({
        code: 'notification_unreadable',
      })
    }
    expect(await countUnreadable(payments)).toBe(1)
  })

  test('of which parts are not understood is stored, and the transfers that are understood are credited once', async () => {
    const order = await newOrder(payments)
    const secret = Buffer.alloc(32, 7)
    const signed = createSignedProvider(secret, { limits: payments.limits, nowMs: Date.now })
    const { bankReference, accountNumber } = transfer({ bankReference: 'PARTLY' })
    const known = {
      account_number: accountNumber,
      direction: 'in',
      bank_reference: bankReference,
      memo: order.orderCode,
    }
    const transactions = [
      { ...known, id: 'odd', amount_vnd: 12.5 },
      { ...known, id: 'good', amount_vnd: 50_000 },
    ]
    const body = Buffer.from(JSON.stringify({ transactions }))
    const seconds = Math.floor(Date.now() / 1_000)
    const signature = createHmac('sha256', secret).update(`1.${seconds}.`).update(body).digest('base64')
    const headers = { 'webhook-id': '1', 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` }
    const before = await countUnreadable(payments)
    for (let turn = 0; turn < 2; turn++) {
      await expect(receiveNotification(payments, signed, body, headers)).rejects.toMatchObject({
        code: 'notification_unreadable',
        message: expect.stringContaining('amount_vnd is not a whole number of dong'),
      })
    }
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
    expect(await countUnreadable(payments)).toBe(before + 1)
  })

  test('while the database does not answer is an error that asks for another try', async () => {
    const away = Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' })
    const failing = { unsafe: () => Promise.reject(away) } as unknown as typeof sql
    const call = receiveNotification(
      { ...payments, sql: failing },
      provider(() => [transfer()]),
      Buffer.from('y'),
      {},
    )
    await expect(call).rejects.toMatchObject({ code: 'ledger_unavailable', status: 503 })
  })
})

describe('an entry by hand', () => {
  const entry = {
    bankReference: ' ft 900 ',
    amountVnd: 50_000,
    memo: '',
    by: OPERATOR,
    reason: 'seen on the statement',
  }

  test('is credited by its memo, once, and is the same transfer that a provider reports later', async () => {
    const order = await newOrder(payments)
    const entered = await enterTransfer(payments, { ...entry, memo: order.orderCode })
    expect(entered).toMatchObject({ outcome: 'credited', accountId: order.accountId })
    expect((await enterTransfer(payments, { ...entry, memo: order.orderCode })).outcome).toBe('duplicate')
    // A reference copied from a web page, with an invisible character and a full-width letter.
    const copied = `\u200b${entry.bankReference.replace('f', 'ｆ')}`
    const again = await enterTransfer(payments, { ...entry, bankReference: copied, memo: order.orderCode })
    expect(again.outcome).toBe('duplicate')
    expect((await enterTransfer(payments, { ...entry, amountVnd: 60_000 })).outcome).toBe('conflict')
    const reported = await receive(payments, transfer({ memo: order.orderCode, bankReference: 'FT900' }))
    expect(reported.outcome).toBe('alias')
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
    const log = await sql.unsafe(
      `select operator_name, subject, reason from operator_action where action = 'payment.enter'
      and account_id = $1::text::bigint`,
      [String(order.accountId)],
    )
    expect(log).toMatchObject([{ operator_name: OPERATOR.name, reason: 'seen on the statement' }])
  })

  test.each(['before', 'after'])(
    'with a wrong amount, %s a provider reports it, is not credited besides it',
    async when => {
      const order = await newOrder(payments)
      const bankReference = `FT96${when}`
      const entered = () =>
        enterTransfer(payments, { ...entry, bankReference, amountVnd: 500_000, memo: order.orderCode })
      const reported = () =>
        receive(payments, transfer({ memo: order.orderCode, bankReference: bankReference.toUpperCase() }))
      const [first, second] = when === 'before' ? [entered, reported] : [reported, entered]
      expect(await first()).toMatchObject({ outcome: 'credited' })
      expect(await second()).toMatchObject({ outcome: 'unmatched', reason: 'repeated_reference' })
      expect(await balanceOf(sql, order.accountId)).toBe(when === 'before' ? 500_000 : 50_000)
    },
  )

  test.each([
    ['before a provider reports it', true, false],
    ['after a provider has reported it', false, true],
    ['and then with the right one', true, true],
  ])('with a mistyped reference, %s, is credited once', async (_, isFirst, isSecond) => {
    const order = await newOrder(payments)
    const give = (isEntered: boolean, bankReference: string) =>
      isEntered
        ? enterTransfer(payments, { ...entry, bankReference, memo: order.orderCode })
        : receive(payments, transfer({ memo: order.orderCode, bankReference }))
    expect(await give(isFirst, `FT97${isFirst}${isSecond}`)).toMatchObject({ outcome: 'credited' })
    const second = await give(isSecond, `FT79${isFirst}${isSecond}`)
    expect(second).toMatchObject({ outcome: 'unmatched', reason: 'maybe_credited' })
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
  })

  test('of a transfer that a provider has already reported is matched to that transfer', async () => {
    const order = await newOrder(payments)
    await receive(payments, transfer({ memo: order.orderCode, bankReference: 'FT901' }))
    const entered = await enterTransfer(payments, { ...entry, bankReference: 'FT901', memo: order.orderCode })
    expect(entered.outcome).toBe('alias')
    expect(await balanceOf(sql, order.accountId)).toBe(50_000)
  })

  test.each([
    [{ bankReference: ' ' }],
    [{ amountVnd: 0 }],
    [{ amountVnd: 1.5 }],
    [{ amountVnd: 1e12 + 1 }],
    [{ accountNumber: '--' }],
  ])('with %j is refused', async change => {
    await expect(enterTransfer(payments, { ...entry, ...change })).rejects.toThrow(RangeError)
  })
})

describe('a simulated transfer', () => {
  const sandbox = testPayments(sql, { simulation: true })

  test('takes the same path as a real one', async () => {
    const order = await newOrder(sandbox, 80_000)
    expect(await simulateTransfer(sandbox, order)).toMatchObject({ outcome: 'credited', orderCode: order.orderCode })
    expect(await simulateTransfer(sandbox, { ...order, amountVnd: 1_000 })).toMatchObject({ outcome: 'credited' })
    expect(await balanceOf(sql, order.accountId)).toBe(81_000)
  })

  test('is refused outside the sandbox, and for somebody else’s order', async () => {
    const order = await newOrder(payments)
    expect(await simulateTransfer(payments, order)).toBeNull()
    const stranger = await newAccount(sql)
    expect(await simulateTransfer(sandbox, { ...order, accountId: stranger })).toBeNull()
    expect(await simulateTransfer(testPayments(sql, { simulation: true, bank: null }), order)).toBeNull()
    expect(await balanceOf(sql, order.accountId)).toBe(0)
    expect(BANK.accountNumber).not.toBe('')
  })
})
