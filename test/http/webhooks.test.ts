import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findAccount } from '../../src/accounts/accounts.ts'
import { credit } from '../../src/ledger/credit.ts'
import { PAYMENT_LIMITS } from '../../src/payments/limits.ts'
import { createOrder } from '../../src/payments/orders.ts'
import type { PaymentServices } from '../../src/payments/types.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const SECRET = 'a-secret-shared-with-sepay'
let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({
    environment: {
      SEPAY_WEBHOOK_SECRET: SECRET,
      BANK_BIN: '970436',
      BANK_ACCOUNT: '1012345678',
      BANK_ACCOUNT_NAME: 'ABC',
    },
  })
})
afterAll(() => gateway.close())

let ids = 0
const notification = (memo: string, amount = 100_000) => ({
  id: ++ids,
  transactionDate: '2026-11-21 09:59:58',
  accountNumber: '1012345678',
  content: memo,
  transferType: 'in',
  transferAmount: amount,
  referenceCode: `FT${ids}`,
})

function post(body: string | Buffer, headers: Record<string, string> = {}, path = 'sepay'): Promise<Response> {
  return fetch(`${gateway.url}/webhooks/bank/${path}`, { method: 'POST', body, headers })
}

function signed(body: string): Record<string, string> {
  const seconds = String(Math.floor(Date.now() / 1_000))
  const signature = createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex')
  return {
    'x-sepay-timestamp': seconds,
    'x-sepay-signature': `sha256=${signature}`,
    'content-type': 'application/json',
  }
}

async function order(accountId: number, amountVnd = 100_000): Promise<string> {
  const { sql } = gateway.database
  const bank = { bin: '970436', accountNumber: '1012345678', accountName: 'ABC', bankName: '' }
  const payments = { sql, bank, limits: PAYMENT_LIMITS } as unknown as PaymentServices
  const created = await createOrder(payments, { accountId, amountVnd })
  if (created.outcome !== 'created') throw new Error(created.outcome)
  return created.order.orderCode
}

test('a signed notification is credited before the reply, and a repeat changes nothing', async () => {
  const { accountId } = await gateway.account(0n)
  const body = JSON.stringify(notification(await order(accountId)))
  for (let turn = 0; turn < 2; turn++) {
    const response = await post(body, signed(body))
    expect([response.status, await response.json()]).toEqual([200, { success: true }])
    expect(response.headers.get('request-id')).toMatch(/^req_/)
    expect((await findAccount(gateway.database.sql, accountId))?.balanceMicroVnd).toBe(100_000_000_000n)
  }
})

test('a call that waits for money continues with the same key when the top-up arrives', async () => {
  const { accountId, apiKey } = await gateway.account(1_000_000n)
  const { sql } = gateway.database
  const hold = `insert into hold (account_id, call_id, key_id, entry_id, endpoint, amount_micro_vnd, instance_id)
    values ($1::text::bigint, gen_random_uuid(), 0, 'x', 1, 1000000, 0)`
  await sql.unsafe(hold, [String(accountId)])
  await sql.unsafe('update wallet set held_micro_vnd = 1000000 where account_id = $1::text::bigint', [
    String(accountId),
  ])
  const memo = await order(accountId)
  // Lock the wallet until first the call and then the top-up wait for the lock, so that the call finds no free money.
  const lock = await sql.reserve()
  await lock`begin`
  await lock`select from wallet where account_id = ${accountId} for update`
  const blocked = async () => {
    const [row] = await sql`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    return row?.count
  }
  const call = fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'claude-sonnet-5', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }),
  })
  await expect.poll(blocked).toBe(1)
  const body = JSON.stringify(notification(memo))
  const notified = post(body, signed(body))
  await expect.poll(blocked).toBe(2)
  await lock`rollback`
  lock.release()
  expect((await notified).status).toBe(200)
  expect((await call).status).toBe(200)
})

test('a forged, unsigned or changed notification gets a 401, credits nothing and leaves no trace', async () => {
  const { accountId } = await gateway.account(0n)
  const { sql } = gateway.database
  const body = JSON.stringify(notification(await order(accountId)))
  const count = async () => (await sql.unsafe('select count(*)::integer as n from bank_notification'))[0]?.n
  const before = await count()
  for (const headers of [{}, { ...signed(body), 'x-sepay-signature': 'sha256=00' }, signed(`${body} `)]) {
    const response = await post(body, headers)
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'authentication_error', code: 'notification_refused' },
    })
  }
  expect(await count()).toBe(before)
  expect((await findAccount(sql, accountId))?.balanceMicroVnd).toBe(0n)
})

test('an authentic body that cannot be parsed gets a 400 and is kept for the operator', async () => {
  const body = JSON.stringify({ id: 1, transferType: 'in', transferAmount: 'a lot' })
  const response = await post(body, signed(body))
  expect(response.status).toBe(400)
  const rows = await gateway.database.sql.unsafe('select fault from bank_notification where body = $1', [body])
  expect(rows).toMatchObject([{ fault: expect.stringContaining('transferAmount') }])
})

test.each(['payos', 'casso', 'signed', 'nobody', ''])('without its secret the provider %j gets a 404', async name => {
  const body = JSON.stringify({ data: {} })
  const response = await post(body, { 'secure-token': '' }, name)
  expect(response.status).toBe(404)
})

test('another method is 405', async () => {
  const response = await fetch(`${gateway.url}/webhooks/bank/sepay`)
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
})

test('a body above 256 KiB is 413, even if it was small when compressed', async () => {
  const big = JSON.stringify({ content: 'x'.repeat(300_000) })
  expect((await post(big, signed(big))).status).toBe(413)
  const response = await post(gzipSync(big), { ...signed(big), 'content-encoding': 'gzip' })
  expect([response.status, ((await response.json()) as { error: { message: string } }).error.message]).toEqual([
    413,
    expect.stringContaining('0.25 MB'),
  ])
})

test('an API key gives no access to webhooks', async () => {
  const { apiKey } = await gateway.account(0n)
  const body = JSON.stringify(notification('x'))
  for (const headers of [
    { 'x-api-key': apiKey },
    { authorization: `Bearer ${apiKey}` },
    { authorization: `Apikey ${apiKey}` },
  ]) {
    expect((await post(body, headers)).status).toBe(401)
  }
})

test('a notification without an order waits for an operator, and still gets a 200', async () => {
  const body = JSON.stringify(notification('tien nha'))
  expect((await post(body, signed(body))).status).toBe(200)
  const rows = await gateway.database.sql.unsafe(`select state from bank_txn where content = 'tien nha'`)
  expect(rows).toEqual([{ state: 2 }])
})

test('a key that has spent its limit gets a 402 and should not retry; the wallet is not empty', async () => {
  const { accountId, keyId, apiKey } = await gateway.account(1_000_000_000n)
  const { sql } = gateway.database
  await sql.unsafe('update api_key set monthly_cap_micro_vnd = 1 where key_id = $1::text::bigint', [String(keyId)])
  await credit(sql, { accountId, amountMicroVnd: 1n as never, kind: 'adjustment', reference: 'more' })
  const call = () =>
    fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude-sonnet-5', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }),
    })
  expect((await call()).status).toBe(200)
  const response = await call()
  expect([response.status, response.headers.get('x-should-retry')]).toEqual([402, 'false'])
  expect(await response.json()).toMatchObject({
    error: {
      type: 'insufficient_balance',
      code: 'spend_cap_reached',
      message: expect.stringContaining('spent its limit'),
    },
  })
})
