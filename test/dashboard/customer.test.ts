/** An operator on a customer's page: what they see, and that each action happens once, requires a reason and is logged. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { setRole } from '../../src/accounts/operator.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { isTextKey } from '../../src/dashboard/texts/index.ts'
import { dayOf } from '../../src/ledger/reports/days.ts'
import { expectCleanAudit } from '../ledger/world.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { readable, type SignedUp, Visitor } from './visitor.ts'

let running: TestGateway
let owner: Visitor
let support: Visitor
let customer: Visitor
let customerId = 0
let signedUp: SignedUp
const idOf = async (email: string) =>
  Number((await running.database.sql`select account_id from account where email = ${email}`)[0]?.account_id)

beforeAll(async () => {
  running = await startTestGateway({ environment: { LIMIT_ADJUST_ASK_VND: '500000', LIMIT_ADJUST_VND_MAX: '9000000' } })
  const person = () => new Visitor(running.url)
  const { sql } = running.database
  for (const role of ['owner', 'support'] as const) {
    const who = person()
    const { email, password } = await who.signUp(`${role}@example.com`)
    await setRole(sql, { accountId: await idOf(email), role, by: COMMAND_LINE })
    await who.post('/signin', { email, password })
    if (role === 'owner') owner = who
    else support = who
  }
  customer = person()
  signedUp = await customer.signUp('customer@example.com')
  customerId = await idOf(signedUp.email)
  await customer.topUp('300.000')
})
afterAll(() => running.close())

const path = (verb = '') => `/operator/accounts/${customerId}${verb}`
const show = async (who = owner) => readable((await who.get(path())).html)
const sum = () => running.balance(customerId)
const MILLION = 1_000_000n

test('the page has the customer’s money, orders, journal, emails and sessions', async () => {
  const page = await show()
  expect(page).toContain('customer@example.com')
  expect(page).toContain('Balance 300.000 ₫')
  expect(page).toMatch(/ST[0-9A-Z]{10} 300\.000 ₫ 300\.000 ₫ Paid/)
  expect(page).toContain('Emails sent Time Subject Status')
  expect(page).toContain('Confirm your email address')
  expect(page).not.toContain('token=')
  expect(page).toContain('Sign out everywhere')
})

test('an amount above the limit needs a confirmation of this very amount, and is booked once', async () => {
  const before = await sum()
  const form = { amount: '700.000', reason: 'refund of an invoice', submission: crypto.randomUUID() }
  const asked = await owner.post(path('/adjust'), form)
  expect(asked.status).toBe(200)
  expect(readable(asked.html)).toContain('Credit 700.000 ₫ to customer@example.com?')
  expect(readable(asked.html)).toContain('The balance will then be 1.000.000 ₫.')
  expect(asked.html).toContain(`name="submission" value="${form.submission}"`)
  expect(await sum()).toBe(before)
  const other = await owner.post(path('/adjust'), { ...form, amount: '800.000', confirmed: '700000' })
  expect([other.status, readable(other.html).includes('Credit 800.000 ₫')]).toEqual([200, true])
  const sure = { ...form, confirmed: '700000' }
  const clicks = await Promise.all([1, 2, 3, 4].map(() => owner.post(path('/adjust'), sure)))
  expect(clicks.map(({ location }) => location)).toEqual(Array(4).fill(`${path()}?done=adjusted`))
  expect(await sum()).toBe(before + 700_000n * MILLION)
  // Deductions require a confirmation, too.
  const deduct = { amount: '-600.000', reason: 'mistake', submission: crypto.randomUUID() }
  const question = await owner.post(path('/adjust'), deduct)
  expect(readable(question.html)).toContain('Deduct 600.000 ₫ from customer@example.com?')
  expect((await owner.post(path('/adjust'), { ...deduct, confirmed: '-600000' })).status).toBe(303)
  expect(await sum()).toBe(before + 100_000n * MILLION)
})

test('a form that was booked and is changed and sent again books nothing, and says so', async () => {
  const form = { amount: '1.000', reason: 'goodwill', submission: crypto.randomUUID() }
  expect((await owner.post(path('/adjust'), form)).location).toBe(`${path()}?done=adjusted`)
  const before = await sum()
  for (const change of [{ amount: '2.000' }, { amount: '-1.000' }, { reason: 'a second time' }]) {
    const again = await owner.post(path('/adjust'), { ...form, ...change })
    expect([change, again.location]).toEqual([change, `${path()}?done=adjusted_before`])
  }
  expect(readable((await owner.get(`${path()}?done=adjusted_before`)).html)).toContain('Nothing was booked')
  expect(await sum()).toBe(before)
})

test('an amount that cannot be booked is refused with an error at its field, and what was typed stays', async () => {
  const before = await sum()
  for (const amount of ['9.000.001', '5000000000', '-9.000.001', '0', 'abc', '1.5', '99999999999999']) {
    const refused = await owner.post(path('/adjust'), { amount, reason: 'a long reason', submission: 'x' })
    expect([amount, refused.status]).toEqual([amount, 422])
    expect(refused.html).toContain(`name="amount" value="${amount}"`)
    expect(refused.html).toContain('value="a long reason"')
    expect(refused.html).toContain('id="adjust-amount-fault"')
  }
  expect(readable((await owner.post(path('/adjust'), { amount: '9.000.001', reason: 'x' })).html)).toContain(
    'At most 9.000.000 ₫ at a time.',
  )
  const silent = await owner.post(path('/adjust'), { amount: '1.000', reason: '' })
  expect([silent.status, silent.html.includes('id="adjust-reason-fault"')]).toEqual([422, true])
  expect(await sum()).toBe(before)
})

test('limits of a key are changed with a reason, apply at once, and are logged once', async () => {
  const { key } = await customer.createKey('laptop')
  const [row] = await running.database.sql`select key_id from api_key where account_id = ${customerId}`
  const keyId = String(row?.key_id)
  const wrong = { key: keyId, rate: '-1', concurrency: 'x', cap: '1.5', reason: 'too fast' }
  const refused = await owner.post(path('/keys/limits'), wrong)
  expect(refused.status).toBe(422)
  for (const name of ['rate', 'concurrency', 'cap']) {
    expect(refused.html).toContain(`id="${keyId}-${name}-fault"`)
    expect(refused.html).toContain(`name="${name}" value="${wrong[name as 'rate']}"`)
  }
  const faults = {
    en: ['Enter a whole number from 0 to 1.000.000.', 'from 1 to 1.000.000.000 ₫, or leave it empty.'],
    vi: ['Hãy nhập số nguyên từ 0 đến 1.000.000.', 'từ 1 đến 1.000.000.000 ₫, không có phần thập phân, hoặc để trống.'],
  }
  for (const [language, says] of Object.entries(faults)) {
    const text = readable((await owner.post(path('/keys/limits'), wrong, { 'accept-language': language })).html)
    for (const fault of says) expect(text).toContain(fault)
  }
  const right = { key: keyId, rate: '1', concurrency: '3', cap: '50.000', reason: 'too fast' }
  const clicks = await Promise.all([1, 2, 3].map(() => owner.post(path('/keys/limits'), right)))
  expect(clicks.map(({ status }) => status)).toEqual([303, 303, 303])
  const [limits] = await running.database.sql`select rate_limit_per_minute as rate, concurrency_max as flight,
    monthly_cap_micro_vnd::text as cap from api_key where key_id = ${keyId}`
  expect(limits).toEqual({ rate: 1, flight: 3, cap: '50000000000' })
  const log = readable((await owner.get(`/operator/log?account=${customerId}`)).html)
  for (const line of [
    'Set a key’s calls per minute',
    'Set a key’s limit of concurrent calls',
    'Set a key’s spending limit',
  ]) {
    // The text appears once in the log and once as an option of the filter.
    expect([line, log.split(line).length - 1]).toEqual([line, 2])
  }
  expect(log).toContain('1: too fast')
  // The key's owner raises the spending limit while an operator looks at the one before.
  expect((await owner.get(path())).html).toContain('name="cap_shown" value="50.000"')
  await running.database.sql`update api_key set monthly_cap_micro_vnd = 70000000000 where key_id = ${keyId}`
  const stale = { ...right, rate: '2', cap_shown: '50.000' }
  expect((await owner.post(path('/keys/limits'), stale)).status).toBe(303)
  const [kept] = await running.database.sql`select rate_limit_per_minute as rate, monthly_cap_micro_vnd::text as cap
    from api_key where key_id = ${keyId}`
  expect(kept).toEqual({ rate: 2, cap: '70000000000' })
  // Another operator has limited the calls while this one looked at a key without such limits.
  const unlimited = {
    key: keyId,
    rate: '',
    rate_shown: '',
    concurrency: '',
    concurrency_shown: '',
    reason: 'asked for it',
  }
  expect((await owner.post(path('/keys/limits'), { ...unlimited, cap: '90.000', cap_shown: '70.000' })).status).toBe(
    303,
  )
  const [both] = await running.database.sql`select rate_limit_per_minute as rate, concurrency_max as flight,
    monthly_cap_micro_vnd::text as cap from api_key where key_id = ${keyId}`
  expect(both).toEqual({ rate: 2, flight: 3, cap: '90000000000' })
  for (const [name, value] of Object.entries({ rate: '2', concurrency: '3', cap: '90.000' })) {
    expect((await owner.get(path())).html).toContain(`name="${name}_shown" value="${value}"`)
  }
  const call = () => fetch(`${running.url}/v1/models`, { headers: { 'x-api-key': key } })
  expect((await call()).status).toBe(200)
  expect((await owner.post(path('/keys/revoke'), { key: keyId, reason: '' })).status).toBe(422)
  expect((await owner.post(path('/keys/revoke'), { key: keyId, reason: 'leaked' })).location).toContain('done=revoked')
  expect((await call()).status).toBe(401)
  expect((await owner.post(path('/keys/revoke'), { key: keyId, reason: 'leaked' })).location).toContain('done=gone')
  // No key of this customer has any of these ids.
  for (const id of ['999999', '0', 'x', '']) {
    expect((await owner.post(path('/keys/limits'), { ...right, key: id })).status).toBe(404)
  }
})

test('a note is stored once for eight clicks, and shown as plain text', async () => {
  const note = { note: 'called <b>us</b> & was angry\nabout {{this}}', submission: crypto.randomUUID() }
  await Promise.all(Array.from({ length: 8 }, () => support.post(path('/notes'), note)))
  const { html } = await support.get(path())
  expect(html.split('called &lt;b&gt;us&lt;/b&gt; &amp; was angry\nabout {{this}}').length - 1).toBe(1)
  expect((await support.post(path('/notes'), { note: ' ', submission: crypto.randomUUID() })).status).toBe(422)
})

test('sessions are ended, one or all', async () => {
  const second = new Visitor(running.url)
  await second.post('/signin', { ...signedUp })
  const [row] = await running.database.sql`select max(session_id) as id from session where account_id = ${customerId}`
  expect((await support.post(path('/sessions/end'), { session: String(row?.id) })).status).toBe(303)
  expect((await second.get('/overview')).status).toBe(303)
  expect((await customer.get('/overview')).status).toBe(200)
  // Ending another person's session does nothing and logs nothing.
  const [own] = await running.database
    .sql`select session_id as id from session where account_id <> ${customerId} limit 1`
  await support.post(path('/sessions/end'), { session: String(own?.id) })
  expect((await owner.get('/operator')).status).toBe(200)
  expect((await support.post(path('/sessions/end'))).status).toBe(303)
  expect((await customer.get('/overview')).status).toBe(303)
  const [count] = await running.database
    .sql`select count(*)::int as n from operator_action where action = 'session.end'`
  expect(count?.n).toBe(2)
  await customer.post('/signin', { ...signedUp })
})

test('the support role can move no money and cannot act on operators; nobody can block themselves', async () => {
  const page = await support.get(path())
  expect(page.html).not.toContain(path('/adjust'))
  expect(page.html).toContain(path('/block'))
  const ownerId = await idOf('owner@example.com')
  for (const [verb, form] of [
    ['block', { reason: 'x' }],
    ['sessions/end', {}],
    ['notes', { note: 'x' }],
  ] as const) {
    const { status, html } = await support.post(`/operator/accounts/${ownerId}/${verb}`, form)
    expect([verb, status, readable(html).includes('only an owner may change it')]).toEqual([verb, 403, true])
  }
  const self = await owner.post(`/operator/accounts/${ownerId}/block`, { reason: 'bored' })
  expect([self.status, readable(self.html).includes('You cannot block yourself.')]).toEqual([422, true])
})

test('the log is in words, filtered by operator, action, account, time and reason, and exported with its filter', async () => {
  const log = async (query: string) => (await owner.get(`/operator/log?${query}`)).html.split('<tbody>')[1] ?? ''
  expect(readable(await log('action=balance.adjust'))).toContain(
    'Adjusted the balance customer@example.com 700.000 ₫ refund of an invoice owner@example.com',
  )
  expect(await log('action=balance.adjust')).not.toContain('Wrote a note')
  expect(await log('by=support%40example.com')).not.toContain('owner@example.com</td>')
  expect(readable(await log('q=INVOICE'))).toContain('refund of an invoice')
  expect(await log('q=%25')).toBe('')
  expect(await log('to=2020-01-01')).toBe('')
  expect(await log(`account=${await idOf('owner@example.com')}`)).toContain('Granted an operator role')
  const vietnamese = readable((await owner.get('/operator/log', { 'accept-language': 'vi' })).html)
  expect(vietnamese).toMatch(/Đặt hạn mức chi tiêu của khóa customer@example\.com khóa \d+: 50\.000 ₫/)
  expect(vietnamese).toMatch(/Giao vai trò vận hành .* dòng lệnh/)
  expect(vietnamese).not.toContain('command line')
  for (const query of ['from=x&to=y', 'action=drop', 'account=-1', 'before=z', 'from=0001-01-01', 'to=9999-12-31']) {
    expect([query, (await owner.get(`/operator/log?${query}`)).status]).toEqual([query, 200])
    expect((await owner.get(`/operator/log.csv?${query}`)).html).toContain('Adjusted the balance')
  }
  await owner.post(path('/notes'), { note: '=cmd|calc', submission: crypto.randomUUID() })
  const csv = await owner.get('/operator/log.csv?action=note.add')
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  // Reading the reply as text would drop the byte order mark that spreadsheets need.
  const raw = await fetch(`${running.url}/operator/log.csv`, { headers: { ...owner.headers, cookie: owner.cookie } })
  expect([...new Uint8Array(await raw.arrayBuffer())].slice(0, 3)).toEqual([0xef, 0xbb, 0xbf])
  const lines = csv.html.split('\r\n')
  expect(lines[0]).toBe('Time (Vietnam),Action,Customer number,Account,Subject,Reason,By')
  expect(lines[1]).toMatch(
    new RegExp(
      `^${dayOf(new Date())} \\d\\d:\\d\\d:\\d\\d,Wrote a note,${customerId},customer@example.com,,'=cmd\\|calc,owner@example.com$`,
    ),
  )
})

test('every action that is logged has a text', async () => {
  const { globSync, readFileSync } = await import('node:fs')
  const root = new URL('../../src/', import.meta.url).pathname
  const sources = globSync('**/*.ts', { cwd: root }).map(file => readFileSync(root + file, 'utf8'))
  const named = sources
    .filter(source => source.includes('recordAction'))
    .flatMap(source => [...source.matchAll(/'((?:[a-z]+\.)+[a-z]+)'/g)].map(found => found[1] as string))
    .filter(name =>
      /^(account|balance|call|factor|key|maintenance|note|operator|payment|session|upstream)\./.test(name),
    )
  expect(named.length).toBeGreaterThan(15)
  const missing = named.filter(name => !isTextKey(`operator.action.${name.replaceAll('.', '_')}`))
  expect(missing.filter(name => !isTextKey(name))).toEqual([])
})

test('the audit finds no difference after all these actions', () => expectCleanAudit(running.database.sql))
