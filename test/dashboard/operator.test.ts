/** Operators’ actions: each takes effect once, requires a reason and is logged. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { readable, Visitor } from './visitor.ts'

let running: TestGateway
let operator: Visitor
let customer: Visitor
let customerId = 0
beforeAll(async () => {
  running = await startTestGateway()
  operator = new Visitor(running.url)
  customer = new Visitor(running.url)
  await operator.signUp('operator@example.com')
  await customer.signUp('customer_50%@example.com')
  const { sql } = running.database
  await sql`update account set is_operator = true where email = 'operator@example.com'`
  const [row] = await sql`select account_id from account where email = 'customer_50%@example.com'`
  customerId = Number(row?.account_id)
})
afterAll(() => running.close())

const account = (verb = '') => `/operator/accounts/${customerId}${verb}`

test('every operator page answers', async () => {
  for (const path of [
    '',
    '/calls',
    '/accounts',
    '/transfers',
    '/orders',
    '/business',
    '/upstreams',
    '/models',
    '/log',
  ]) {
    expect([path, (await operator.get(`/operator${path}`)).status]).toEqual([path, 200])
  }
  expect((await operator.get(account())).status).toBe(200)
  expect((await operator.get('/overview')).html).toContain('href="/operator"')
  expect((await customer.get('/overview')).html).not.toContain('href="/operator"')
})

test('a search finds accounts by part of the address or by number; wildcards are plain characters', async () => {
  const found = async (q: string) => (await operator.get(`/operator/accounts?q=${encodeURIComponent(q)}`)).html
  expect(await found('customer_50%')).toContain('customer_50%@example.com')
  expect(await found(String(customerId))).toContain('customer_50%@example.com')
  for (const q of ['%', '_', '50_', "'", '\\']) {
    const html = await found(q)
    expect([q, html.includes('>operator@example.com</a>')]).toEqual([q, false])
  }
  expect(readable(await found('nobody at all'))).toContain('No accounts found')
})

test('a balance is adjusted once per form, with a reason, down to zero at most', async () => {
  const form = { amount: '120.000', reason: 'goodwill', submission: crypto.randomUUID() }
  for (let sent = 0; sent < 2; sent++) {
    expect((await operator.post(account('/adjust'), form)).location).toBe(`${account()}?done=adjusted`)
  }
  expect(await running.balance(customerId)).toBe(120_000_000_000n)
  const next = () => ({ submission: crypto.randomUUID(), reason: 'mistake' })
  expect((await operator.post(account('/adjust'), { ...next(), amount: '-20.000' })).status).toBe(303)
  expect(await running.balance(customerId)).toBe(100_000_000_000n)
  for (const amount of ['-100.001', '0', 'abc', '', '1.5']) {
    const refused = await operator.post(account('/adjust'), { ...next(), amount })
    expect([amount, refused.status]).toEqual([amount, 422])
  }
  const silent = await operator.post(account('/adjust'), {
    amount: '1.000',
    reason: '',
    submission: crypto.randomUUID(),
  })
  expect([silent.status, readable(silent.html).includes('Enter a reason.')]).toEqual([422, true])
  expect(await running.balance(customerId)).toBe(100_000_000_000n)
  const log = readable((await operator.get('/operator/log')).html)
  expect(log.match(/Adjusted the balance customer/g)?.length).toBe(2)
  expect(log).toContain('goodwill')
})

test('a blocked account is signed out and its keys are refused, until it is unblocked', async () => {
  const { key } = await customer.createKey('laptop')
  const call = () => fetch(`${running.url}/v1/models`, { headers: { 'x-api-key': key } })
  expect((await call()).status).toBe(200)
  expect((await operator.post(account('/block'), { reason: '' })).status).toBe(422)
  expect((await operator.post(account('/block'), { reason: 'abuse' })).status).toBe(303)
  expect((await customer.get('/overview')).status).toBe(303)
  expect((await call()).status).toBe(401)
  expect((await operator.post(account('/unblock'), { reason: 'talked' })).status).toBe(303)
  expect((await call()).status).toBe(200)
})

test('a transfer without an owner waits until it is assigned, once', async () => {
  const before = await running.balance(customerId)
  const entered = { reference: 'FT1', amount: '77.000', memo: 'khong ghi ma', reason: 'statement' }
  expect((await operator.post('/operator/transfers', entered)).location).toContain('done=entered&taken=')
  expect((await operator.post('/operator/transfers', entered)).location).toMatch(/^\/operator\/transfers\?taken=\d+/)
  const conflict = await operator.post('/operator/transfers', { ...entered, amount: '1' })
  expect([conflict.status, conflict.html.includes('id="enter-reference-fault"')]).toEqual([409, true])
  expect((await operator.post('/operator/transfers', { ...entered, amount: 'x' })).status).toBe(422)
  const { html } = await operator.get('/operator/transfers')
  expect(readable(html)).toMatch(/77\.000 ₫ No order code entered by hand .* khong ghi ma Bank reference FT1/)
  const path = /\/operator\/transfers\/\d+\/assign/.exec(html)?.[0] as string
  const unknown = await operator.post(path, { to: 'ST0000000000', reason: 'x' })
  expect([unknown.status, readable(unknown.html).includes('No such order or account.')]).toEqual([422, true])
  const to = { to: String(customerId), reason: 'called us' }
  const clicks = await Promise.all([operator.post(path, to), operator.post(path, to), operator.post(path, to)])
  const number = path.split('/')[3]
  expect(clicks.map(({ location }) => location).sort()).toEqual([
    '/operator/transfers?done=assigned',
    `/operator/transfers?taken=${number}`,
    `/operator/transfers?taken=${number}`,
  ])
  expect(await running.balance(customerId)).toBe(before + 77_000_000_000n)
  expect((await operator.post('/operator/transfers/999999/assign', to)).status).toBe(404)
})

test('a transfer that is not a top-up is settled without a credit', async () => {
  await operator.post('/operator/transfers', { reference: 'FT2', amount: '5.000', memo: '', reason: 'statement' })
  const { html } = await operator.get('/operator/transfers')
  const path = /\/operator\/transfers\/\d+\/settle/.exec(html)?.[0] as string
  expect((await operator.post(path, { as: 'stolen', reason: 'x' })).status).toBe(404)
  expect((await operator.post(path, { as: 'returned', reason: 'sent back' })).location).toBe(
    '/operator/transfers?done=settled',
  )
  expect((await operator.post(path, { as: 'ignored', reason: 'x' })).location).toBe(
    `/operator/transfers?taken=${path.split('/')[3]}`,
  )
  expect(readable((await operator.get('/operator/transfers')).html)).toContain('Nothing to review')
})

test('a transfer that was settled by mistake is put back in the queue, with a reason, and can then be credited', async () => {
  const entry = { reference: 'FT3', amount: '6.000', memo: '', reason: 'statement' }
  const { location } = await operator.post('/operator/transfers', entry)
  const number = /taken=(\d+)/.exec(location)?.[1] as string
  const path = `/operator/transfers/${number}`
  await operator.post(`${path}/settle`, { as: 'ignored', reason: 'wrong line' })
  const form = `action="${path}/reopen"`
  expect((await operator.get('/operator/transfers?q=FT3')).html).toContain(form)
  const silent = await operator.post(`${path}/reopen`, { reason: '' })
  expect([silent.status, silent.html.includes(`id="reopen-${number}-reason-fault"`)]).toEqual([422, true])
  const answers = await Promise.all([1, 2, 3].map(() => operator.post(`${path}/reopen`, { reason: 'of a customer' })))
  expect(answers.map(answer => answer.location)).toEqual(
    Array(3).fill(`/operator/transfers?taken=${number}&after=${Number(number) - 1}`),
  )
  const shown = await operator.get(answers[0]!.location)
  expect(readable(shown.html)).toContain(`Transfer ${number}, 6.000 ₫, waits below for a decision. No order code.`)
  expect(shown.html).not.toContain(form)
  const before = await running.balance(customerId)
  await operator.post(`${path}/assign`, { to: 'customer_50%@example.com', reason: 'sent the receipt' })
  expect(await running.balance(customerId)).toBe(before + 6_000_000_000n)
  // What has been credited is not put back.
  expect((await operator.post(`${path}/reopen`, { reason: 'again' })).location).toContain(`taken=${number}`)
  expect((await operator.get('/operator/transfers?q=FT3')).html).not.toContain(form)
  expect((await operator.post('/operator/transfers/999999/reopen', { reason: 'x' })).status).toBe(404)
  const log = readable((await operator.get('/operator/log?action=payment.reopen')).html)
  expect(log.match(/transfer \d+, 6\.000 ₫ of a customer/g)?.length).toBe(1)
})

test('maintenance is turned on and off for all processes, and the audit is clean', async () => {
  const call = () => fetch(`${running.url}/v1/messages`, { method: 'POST', body: '{}' })
  expect((await operator.post('/operator/maintenance', { state: 'on' })).location).toBe('/operator')
  await expect.poll(async () => (await call()).status).toBe(503)
  expect(readable((await operator.get('/operator')).html)).toContain('On: new calls are refused everywhere.')
  await operator.post('/operator/maintenance', { state: 'off' })
  await expect.poll(async () => (await call()).status).toBe(401)
  const { status, html } = await operator.post('/operator/audit')
  expect([status, readable(html).includes('No differences.')]).toEqual([200, true])
})

test('orders are found by code, address and state', async () => {
  await customer.post('/signin', { email: 'customer_50%@example.com', password: 'mot cau dai de nho' })
  const { location } = await customer.post('/topup', { amount: '60.000' })
  const code = location.slice('/topup/'.length)
  const find = async (query: string) => (await operator.get(`/operator/orders?${query}`)).html.includes(code)
  expect(await find(`q=${code}`)).toBe(true)
  expect(await find(`q=${encodeURIComponent('customer_50%@example.com')}`)).toBe(true)
  expect(await find('q=%25')).toBe(false)
  expect(await find('state=open')).toBe(true)
  expect(await find('state=paid')).toBe(false)
})

test('a form that is submitted after the session has ended leads back to its page by way of signing in', async () => {
  const visitor = new Visitor(running.url)
  for (const [path, page] of [
    ['/keys', '/keys'],
    ['/keys/7/settings', '/keys/7'],
    ['/account/sessions/end', '/account'],
  ] as const) {
    expect((await visitor.post(path)).location).toBe(`/signin?next=${encodeURIComponent(page)}&unsent=1`)
  }
  const { status, html } = await visitor.post('/operator/accounts/7/notes', { note: 'x' })
  expect([status, html]).toEqual([
    404,
    expect.stringContaining('href="/signin?next&#x3D;%2Foperator%2Faccounts%2F7&amp;unsent&#x3D;1"'),
  ])
})
