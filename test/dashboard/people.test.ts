/** Registering, signing in and out, passwords and sessions, as people see them. */

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { setRole } from '../../src/accounts/operator.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { unsubscribeToken } from '../../src/alerts/unsubscribe.ts'
import { audit } from '../../src/audit/audit.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { PASSWORD, readable, Visitor } from './visitor.ts'

let running: TestGateway
let receiver: Server
let receiverStatus = 200
const received: IncomingHttpHeaders[] = []
beforeAll(async () => {
  receiver = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(receiverStatus).end())
    received.push(request.headers)
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  running = await startTestGateway({ environment: { WEBHOOK_PRIVATE_NETWORKS: '127.0.0.0/8' } })
})
afterAll(async () => {
  await running.close()
  receiver.close()
})
/** Clears the throttles, so that one test's attempts do not throttle the next test. */
beforeEach(() => running.database.sql`delete from throttle`)

function newVisitor(): Visitor {
  return new Visitor(running.url)
}

test('registering, confirming by email, signing out and in again', async () => {
  const visitor = newVisitor()
  const { email, password } = await visitor.signUp('lan@example.com')
  const overview = await visitor.get('/overview')
  expect(readable(overview.html)).toContain('Three steps to your first call')
  expect(overview.headers.get('cache-control')).toBe('no-store')
  expect((await visitor.get('/signin')).location).toBe('/overview')
  const out = await visitor.post('/signout')
  expect([out.status, out.location]).toEqual([303, '/'])
  expect((await visitor.get('/overview')).location).toBe('/signin?next=%2Foverview')
  const unsent = await visitor.get((await visitor.post('/keys/7/settings', { label: 'new' })).location)
  expect(readable(unsent.html)).toContain('Your session has ended, so what you just sent was not saved')
  expect(unsent.html).toContain('name="next" value="/keys/7"')
  const asked = await visitor.get((await visitor.post('/signout')).location)
  expect(readable(asked.html)).not.toContain('was not saved')
  const form = await visitor.get('/signin?next=%2Fkeys')
  expect(form.html).toContain('name="next" value="/keys"')
  expect((await visitor.post('/signin', { email, password, next: '/keys' })).location).toBe('/keys')
})

test('scripts and other sites cannot get at the session cookie', async () => {
  const visitor = newVisitor()
  const { email, password } = await visitor.signUp('cookie@example.com')
  const { headers } = await visitor.post('/signin', { email, password })
  expect(headers.getSetCookie()[0]).toMatch(/^session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/)
  expect(headers.get('cache-control')).toBe('no-store')
})

test('after signing in nobody is sent to another site', async () => {
  const visitor = newVisitor()
  const { email, password } = await visitor.signUp('next@example.com')
  for (const next of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'javascript:1',
    '',
  ]) {
    const { location } = await visitor.post('/signin', { email, password, next })
    expect([next, location]).toEqual([next, '/overview'])
  }
})

test('if no sign-in provider is configured, none is offered and there are no pages for one', async () => {
  expect((await newVisitor().get('/signin')).html).not.toContain('Continue with')
  for (const path of ['google', 'google/callback?code=x&state=y', 'github', 'github/callback']) {
    expect([path, (await newVisitor().get(`/signin/${path}`)).status]).toEqual([path, 404])
  }
})

test('a wrong password and an unknown address get the same answer', async () => {
  const visitor = newVisitor()
  await visitor.signUp('known@example.com')
  const stranger = newVisitor()
  const wrong = await stranger.post('/signin', { email: 'known@example.com', password: 'not this one' })
  const unknown = await stranger.post('/signin', { email: 'unknown@example.com', password: 'not this one' })
  expect([wrong.status, unknown.status]).toEqual([422, 422])
  expect(readable(wrong.html)).toContain('Incorrect email or password.')
  expect(wrong.html.replaceAll('known@example.com', '')).toBe(unknown.html.replaceAll('unknown@example.com', ''))
  expect(wrong.html).not.toContain('not this one')
})

test('after five wrong passwords sign-in is throttled, and the page says for how long', async () => {
  const visitor = newVisitor()
  const form = { email: 'throttled@example.com', password: 'wrong' }
  for (let attempt = 0; attempt < 5; attempt++) expect((await visitor.post('/signin', form)).status).toBe(422)
  const sixth = await visitor.post('/signin', form)
  expect(sixth.status).toBe(429)
  expect(Number(sixth.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(readable(sixth.html)).toContain('Too many attempts')
})

test('bad input is pointed out beside its field, and what was typed stays, except the password', async () => {
  const visitor = newVisitor()
  const { status, html } = await visitor.post('/register', { email: 'no address', password: 'short' })
  expect(status).toBe(422)
  expect(readable(html)).toContain('Enter an email address, such as name@example.com.')
  expect(readable(html)).toContain('Use at least 10 characters.')
  expect(html).toContain('value="no address"')
  expect(html).not.toContain('value="short"')
})

test('registering a known address answers as for a new one, and changes nothing', async () => {
  const visitor = newVisitor()
  await visitor.signUp('twice@example.com')
  const again = await newVisitor().post('/register', { email: 'TWICE@example.com', password: 'another long one' })
  expect([again.status, again.location]).toEqual([303, '/register/sent'])
  expect((await newVisitor().post('/signin', { email: 'twice@example.com', password: PASSWORD })).status).toBe(303)
})

test('a confirmation link works once, requires the password, and survives an email scanner', async () => {
  const visitor = newVisitor()
  const email = 'link@example.com'
  expect((await visitor.post('/register', { email, password: PASSWORD })).location).toBe('/register/sent')
  const link = await visitor.mailedLink('/verify', email)
  const token = new URL(`http://x${link}`).searchParams.get('token') as string
  for (let opened = 0; opened < 3; opened++) expect((await newVisitor().get(link)).status).toBe(200)
  const wrong = await visitor.post('/verify', { token, password: 'not the one' })
  expect([wrong.status, readable(wrong.html).includes('Incorrect password.')]).toEqual([422, true])
  expect((await visitor.post('/verify', { token, password: PASSWORD })).location).toBe('/overview')
  const used = await newVisitor().get(link)
  expect([used.status, readable(used.html).includes('This link no longer works')]).toEqual([410, true])
  expect((await newVisitor().post('/verify', { token, password: PASSWORD })).status).toBe(410)
  expect((await newVisitor().get('/verify?token=%00nonsense')).status).toBe(410)
})

test('people who forget their password before they have confirmed their address register again', async () => {
  const visitor = newVisitor()
  const email = 'mistyped@example.com'
  await visitor.post('/register', { email, password: 'not what was meant' })
  const page = await visitor.get(await visitor.mailedLink('/verify', email))
  expect(page.html).toContain('<a href="/register">Register again</a>')
  await visitor.post('/register', { email, password: PASSWORD })
  const link = await visitor.mailedLink('/verify', email)
  const token = new URL(`http://x${link}`).searchParams.get('token') as string
  expect((await visitor.post('/verify', { token, password: PASSWORD })).location).toBe('/overview')
})

test('a forgotten password: the link sets a new one and ends all other sessions', async () => {
  const visitor = newVisitor()
  const { email } = await visitor.signUp('forgot@example.com')
  const other = newVisitor()
  expect((await other.post('/forgot', { email })).location).toBe('/forgot/sent')
  expect((await other.post('/forgot', { email: 'nobody@example.com' })).location).toBe('/forgot/sent')
  const link = await other.mailedLink('/reset', email)
  const token = new URL(`http://x${link}`).searchParams.get('token') as string
  expect((await other.get(link)).html).toContain(email)
  expect((await other.post('/reset', { token, password: 'short' })).status).toBe(422)
  expect((await other.post('/reset', { token, password: 'mot cau khac hoan toan' })).location).toBe('/overview')
  expect((await other.get('/overview')).status).toBe(200)
  expect((await visitor.get('/overview')).status).toBe(303)
  expect((await other.get(link)).status).toBe(410)
})

test('expired links say so and do nothing', async () => {
  const { sql } = running.database
  const visitor = newVisitor()
  const { email, password } = await visitor.signUp('slow@example.com')
  await visitor.post('/register', { email: 'slower@example.com', password })
  await visitor.post('/forgot', { email })
  const links = [await visitor.mailedLink('/verify', 'slower@example.com'), await visitor.mailedLink('/reset', email)]
  await sql`update email_token set created_at = now() - interval '3 days', expires_at = now() - interval '1 second'`
  for (const link of links) {
    const { pathname, searchParams } = new URL(`http://x${link}`)
    const stranger = newVisitor()
    expect([link, (await stranger.get(link)).status]).toEqual([link, 410])
    const sent = await stranger.post(pathname, {
      token: searchParams.get('token') as string,
      password: `${password} moi`,
    })
    expect([link, sent.status, stranger.cookie]).toEqual([link, 410, ''])
  }
  expect((await newVisitor().post('/signin', { email, password })).location).toBe('/overview')
  expect((await newVisitor().post('/signin', { email: 'slower@example.com', password })).status).toBe(422)
})

test('sessions are listed, end one by one, and never those of others', async () => {
  const first = newVisitor()
  const { email, password } = await first.signUp('sessions@example.com')
  const second = newVisitor()
  await second.post('/signin', { email, password })
  const { html } = await first.get('/account')
  const others = [...html.matchAll(/\/account\/sessions\/(\d+)\/end/g)].map(match => match[1])
  expect(others.length).toBe(1)
  const stranger = newVisitor()
  await stranger.signUp('stranger@example.com')
  expect((await stranger.post(`/account/sessions/${others[0]}/end`)).status).toBe(404)
  expect((await second.get('/account')).status).toBe(200)
  expect((await first.post(`/account/sessions/${others[0]}/end`)).location).toBe('/account?done=ended')
  expect((await second.get('/account')).status).toBe(303)
})

test('changing the password requires the current one and ends all other sessions', async () => {
  const first = newVisitor()
  const { email, password } = await first.signUp('change@example.com')
  const second = newVisitor()
  await second.post('/signin', { email, password })
  const wrong = await first.post('/account/password', { current: 'not this', next: 'mot cau moi that dai' })
  expect([wrong.status, readable(wrong.html).includes('Incorrect password.')]).toEqual([422, true])
  expect((await second.get('/account')).status).toBe(200)
  const next = 'mot cau moi that dai'
  expect((await first.post('/account/password', { current: password, next })).location).toBe('/account?done=password')
  expect((await first.get('/account')).status).toBe(200)
  expect((await second.get('/account')).status).toBe(303)
})

/** Sets the last password check of an account's sessions to six minutes ago. */
const stale = (email: string) => running.database.sql`
  update session set password_checked_at = now() - interval '6 minutes'
   where account_id = (select account_id from account where email = ${email})`
const subjects = async (email: string) => {
  const mails = await running.database
    .sql`select subject from mail_sent where email_key = lower(${email}) order by mail_id`
  return mails.map(({ subject }) => subject as string)
}

test('a new address is verified and the old one is notified; other sessions and links end, keys keep working', async () => {
  const visitor = newVisitor()
  const { email, password } = await visitor.signUp('before-the-change@example.com')
  const next = 'after-the-change@example.com'
  await visitor.topUp('50.000')
  const { key } = await visitor.createKey('stays')
  const other = newVisitor()
  await other.post('/signin', { email, password })
  await newVisitor().post('/forgot', { email })
  const resetLink = await visitor.mailedLink('/reset', email)
  await stale(email)
  for (const [form, words] of [
    [{ new_email: next }, 'Incorrect password.'],
    [{ new_email: next, password: 'a guess' }, 'Incorrect password.'],
    [{ new_email: 'no address', password }, 'Enter an email address'],
    [{ new_email: email.toUpperCase(), password }, 'This is already your address.'],
  ] as const) {
    const refused = await visitor.post('/account/email', form)
    expect([form, refused.status, readable(refused.html).includes(words)]).toEqual([form, 422, true])
    expect(refused.html).toContain(`value="${form.new_email}"`)
    if (words.startsWith('Incorrect')) await stale(email)
  }
  expect((await visitor.post('/account/email', { new_email: next })).location).toBe('/account/email/sent')
  const link = await visitor.mailedLink('/account/email/confirm', next)
  const token = new URL(`http://x${link}`).searchParams.get('token') as string
  // The request alone changes nothing, and someone with access only to the new mailbox cannot use the link.
  const stranger = newVisitor()
  expect((await stranger.get(link)).location).toMatch(/^\/signin\?next=/)
  await stranger.signUp('reads-that-mailbox@example.com')
  expect((await stranger.get(link)).status).toBe(410)
  expect((await stranger.post('/account/email/confirm', { token })).status).toBe(410)
  expect((await other.get('/account')).html).toContain(email)

  expect(readable((await visitor.get(link)).html)).toContain(`from ${email} to ${next}?`)
  const confirm = () => visitor.post('/account/email/confirm', { token })
  const answers = await Promise.all([confirm(), confirm(), confirm()])
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410])
  expect((await visitor.get('/account')).html).toContain(next)
  expect((await other.get('/account')).status).toBe(303)
  expect((await visitor.get(resetLink)).status).toBe(410)
  expect((await newVisitor().post('/signin', { email, password })).status).toBe(422)
  expect((await newVisitor().post('/signin', { email: next, password })).location).toBe('/overview')
  expect((await fetch(`${running.url}/v1/models`, { headers: { 'x-api-key': key } })).status).toBe(200)
  await expect.poll(async () => (await subjects(email)).at(-1)).toBe('Your email address at SVC was changed')
})

test('somebody else’s address cannot be taken: its owner is told, and the answer reveals nothing', async () => {
  const visitor = newVisitor()
  const { email } = await visitor.signUp('wants-another@example.com')
  await newVisitor().signUp('has-it@example.com')
  expect((await visitor.post('/account/email', { new_email: 'HAS-IT@example.com' })).location).toBe(
    '/account/email/sent',
  )
  await expect
    .poll(async () => (await subjects('has-it@example.com')).at(-1))
    .toBe('This address already has an account at SVC')
  // This address is free when the change is requested, and taken when the link is opened.
  await visitor.post('/account/email', { new_email: 'soon-taken@example.com' })
  const link = await visitor.mailedLink('/account/email/confirm', 'soon-taken@example.com')
  await newVisitor().signUp('soon-taken@example.com')
  const token = new URL(`http://x${link}`).searchParams.get('token') as string
  const { status } = await visitor.post('/account/email/confirm', { token })
  expect([status, (await visitor.get('/account')).html.includes(email)]).toEqual([410, true])
  // The emails that a user can make the gateway send to other people's addresses are limited.
  const asked = []
  for (let turn = 0; turn < 5; turn++) {
    asked.push((await visitor.post('/account/email', { new_email: `mail-${turn}@example.com` })).status)
  }
  expect(asked).toEqual([303, 303, 303, 429, 429])
})

/** Every `table.column` of the database that contains this text. */
async function placesOf(text: string): Promise<string[]> {
  const { sql } = running.database
  const columns = await sql`
    select c.table_name, c.column_name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where table_schema = 'public' and t.table_type = 'BASE TABLE'
       and c.data_type in ('text', 'jsonb', 'character varying')`
  const found: string[] = []
  for (const { table_name: table, column_name: column } of columns) {
    const rows = await sql`select from ${sql(table)} where position(${text} in lower(${sql(column)}::text)) > 0 limit 1`
    if (rows.length > 0) found.push(`${table}.${column}`)
  }
  return found
}

test('deleting an account erases personal data, revokes its keys and keeps the books', async () => {
  const { sql } = running.database
  const visitor = newVisitor()
  const { email, password } = await visitor.signUp('leaving@example.com')
  await visitor.topUp('50.000')
  const { key, path } = await visitor.createKey('of leaving@example.com')
  const spend = () =>
    fetch(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify({ model: 'gpt-5.5', messages: [{ role: 'user', content: 'Xin chào' }] }),
    })
  expect((await spend()).status).toBe(200)
  const invoice = { wanted: 'yes', name: 'Lan', tax_code: '', address: 'Hà Nội', email }
  expect((await visitor.post('/account/invoice', invoice)).status).toBe(303)
  await visitor.post('/account/email', { new_email: 'leaving-soon@example.com' })
  const hook = { url: 'https://hooks.example/leaving@example.com' }
  expect((await visitor.post('/account/webhooks', hook)).status).toBe(200)
  const [account] = await sql`select account_id from account where email = ${email}`
  const accountId = Number(account?.account_id)
  await running.usage(accountId)
  const books = () =>
    Promise.all([
      // `keys_version` changes with the keys.
      sql`select account_id, balance_micro_vnd, held_micro_vnd, seq from wallet where account_id = ${accountId}`,
      sql`select * from credit where account_id = ${accountId}`,
      sql`select * from usage where account_id = ${accountId}`,
      sql`select * from topup_order where account_id = ${accountId}`,
      sql`select * from bank_txn where account_id = ${accountId}`,
    ])
  const before = await books()
  expect(before.every(rows => rows.length > 0)).toBe(true)

  const page = readable((await visitor.get('/account/delete')).html)
  expect(page).toMatch(/Balance: 49\.\d{3}/)
  expect(page).toContain(`stays recorded under account number ${accountId}`)
  await stale(email)
  for (const [form, words] of [
    [{ confirm: 'yes', password }, 'That does not match.'],
    [{ confirm: email, password: 'a guess' }, 'Incorrect password.'],
  ] as const) {
    const refused = await visitor.post('/account/delete', form)
    expect([form, refused.status, readable(refused.html).includes(words)]).toEqual([form, 422, true])
  }
  const remove = () => visitor.post('/account/delete', { confirm: ` ${email.toUpperCase()} `, password })
  const cookie = visitor.cookie
  const gone = await remove()
  expect(gone.location).toBe('/account/deleted')
  expect(readable((await visitor.get(gone.location)).html)).toContain('Your account has been deleted')

  visitor.cookie = cookie
  for (const there of ['/overview', '/account', path]) expect((await visitor.get(there)).status).toBe(303)
  expect((await newVisitor().post('/signin', { email, password })).status).toBe(422)
  expect(await books()).toEqual(before)
  expect((await spend()).status).toBe(401)
  // The only trace left is the record of an email to the address that the person wanted to change to; it is deleted after 90
  // days.
  expect(await placesOf('leaving@example.com')).toEqual([])
  expect(await sql`select from webhook_secret where account_id = ${accountId}`).toHaveLength(0)
  expect(await placesOf('leaving-soon@example.com')).toEqual(['mail_sent.email', 'mail_sent.email_key'])
  expect((await audit(sql, { timeoutMs: 60_000 })).clean).toBe(true)

  // A new account can use the address, and inherits nothing from the old one.
  const again = newVisitor()
  await again.signUp(email)
  expect(readable((await again.get('/topup')).html)).not.toContain('49.')
  const [fresh] = await sql`select account_id from account where email = ${email}`
  expect(Number(fresh?.account_id)).not.toBe(accountId)
})

test('a deleted account stays closed, and operators cannot delete theirs while they have the role', async () => {
  const { sql } = running.database
  const operator = newVisitor()
  const { email, password } = await operator.signUp('boss@example.com')
  await sql`update account set is_operator = true where email = ${email}`
  const refused = await operator.post('/account/delete', { confirm: email, password })
  expect([refused.status, readable(refused.html).includes('Ask an owner')]).toEqual([422, true])
  const customer = newVisitor()
  await customer.signUp('closed@example.com')
  const [row] = await sql`select account_id from account where email = 'closed@example.com'`
  expect(readable((await customer.get('/account/delete')).html)).toContain('Balance: 0 ₫ There is nothing to refund.')
  const remove = () => customer.post('/account/delete', { confirm: 'closed@example.com' })
  const answers = await Promise.all([remove(), remove()])
  expect(answers.map(({ status }) => status)).toContain(303)
  const there = `/operator/accounts/${row?.account_id}`
  const page = await operator.get(there)
  expect(page.html).toContain(`deleted-${row?.account_id}@deleted.invalid`)
  expect(readable(page.html)).toContain('Deleted on')
  expect(page.html).not.toContain(`${there}/unblock`)
  await operator.post(`${there}/unblock`, { reason: 'sorry' })
  const [after] = await sql`select blocked_at from account where account_id = ${row?.account_id}`
  expect(after?.blocked_at).not.toBeNull()
  const lines = await sql`select action, operator_name from operator_action where account_id = ${row?.account_id}`
  expect(lines.map(line => [line.action, line.operator_name])).toEqual([['account.delete', 'customer']])
})

test('public pages work while the database fails, and signed-in pages say no more than that something went wrong', async () => {
  const own = await startTestGateway()
  try {
    const visitor = new Visitor(own.url)
    await visitor.signUp('outage@example.com')
    await own.database.sql`alter table session rename to away`
    const landing = await visitor.get('/')
    expect([landing.status, readable(landing.html).includes('Sign in')]).toEqual([200, true])
    const overview = await visitor.get('/overview')
    expect(overview.status).toBe(500)
    expect(readable(overview.html)).toContain('Something went wrong on our side')
    expect(overview.html).not.toContain('relation')
    await own.database.sql`alter table away rename to session`
    expect((await visitor.get('/overview')).status).toBe(200)
  } finally {
    await own.close()
  }
})

test('alerts are chosen by kind, and a low balance by amount; mistakes are named at their fields and nothing typed is lost', async () => {
  const visitor = newVisitor()
  await visitor.signUp('alerts@example.com')
  const first = await visitor.get('/account/alerts')
  const checked = (html: string) => [...html.matchAll(/name="([\w.]+)" value="on" checked/g)].map(match => match[1])
  expect(checked(first.html)).toContain('balance.low')
  expect(checked(first.html)).not.toContain('summary.weekly')
  expect(first.html).toMatch(/name="session\.new" value="on" checked disabled/)
  expect(first.html).not.toContain('topup.unmatched')
  const form = { 'balance.empty': 'on', 'summary.weekly': 'on' }
  for (const low of ['abc', '0', '1.000.000.001', '-5']) {
    const refused = await visitor.post('/account/alerts', { ...form, low })
    expect([low, refused.status, checked(refused.html).includes('summary.weekly')]).toEqual([low, 422, true])
    expect(refused.html).toContain(`value="${low}"`)
  }
  expect((await visitor.post('/account/alerts', { ...form, low: '75.000' })).location).toBe(
    '/account/alerts?done=saved',
  )
  const { html } = await visitor.get('/account/alerts?done=saved')
  const on = checked(html)
  expect([on.includes('balance.low'), on.includes('balance.empty'), on.includes('summary.weekly')]).toEqual([
    false,
    true,
    true,
  ])
  expect([html.includes('value="75.000"'), readable(html).includes('Saved.')]).toEqual([true, true])
})

test('who saves the alerts before becoming an operator still hears of transfers that wait, unless they switch that off', async () => {
  const visitor = newVisitor()
  const { email, password } = await visitor.signUp('later-operator@example.com')
  const isOn = async () => {
    const { html } = await visitor.get('/account/alerts')
    return /name="topup\.unmatched" value="on"( checked)?/.exec(html)?.[1] !== undefined
  }
  const { sql } = running.database
  const account = await sql`select account_id from account where email = ${email}`
  const accountId = Number(account[0]?.account_id)
  const become = async (role: 'finance' | 'support') => {
    await setRole(sql, { accountId, role, by: COMMAND_LINE })
    await visitor.post('/signin', { email, password })
  }
  await visitor.post('/account/alerts', { 'balance.low': 'on', low: '' })
  await become('finance')
  expect(await isOn()).toBe(true)
  await visitor.post('/account/alerts', { 'balance.low': 'on', low: '' })
  expect(await isOn()).toBe(false)
  await become('support')
  await visitor.post('/account/alerts', { 'balance.low': 'on', low: '' })
  await become('finance')
  expect(await isOn()).toBe(false)
})

test('a webhook shows its secret once, reports the result of a test, and belongs to its account', async () => {
  const [visitor, stranger] = [newVisitor(), newVisitor()]
  await visitor.signUp('hooks@example.com')
  await stranger.signUp('hookless@example.com')
  const refused = await visitor.post('/account/webhooks', { url: 'https://10.0.0.1/x' })
  expect([refused.status, readable(refused.html).includes('leads to a private network')]).toEqual([422, true])
  expect(refused.html).toContain('value="https://10.0.0.1/x"')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?token=quiet`
  const made = await visitor.post('/account/webhooks', { url })
  expect([made.status, made.headers.get('cache-control'), made.headers.get('content-encoding')]).toEqual([
    200,
    'no-store',
    null,
  ])
  const secret = /whsec_[\w+/=]+/.exec(made.html)?.[0] as string
  const path = /href="(\/account\/webhooks\/\d+)"/.exec(made.html)?.[1] as string
  const one = await visitor.get(path)
  expect([one.html.includes(secret), readable(one.html).includes('Nothing has been sent yet')]).toEqual([false, true])
  const good = await visitor.post(`${path}/test`)
  expect([readable(good.html).includes('Test delivered: 200.'), received.length]).toEqual([true, 1])
  receiverStatus = 500
  expect(readable((await visitor.post(`${path}/test`)).html)).toContain('The test failed: it answered 500.')
  receiverStatus = 200
  expect(readable((await visitor.get(path)).html)).toMatch(/Given up it answered 500.*Delivered/)
  const none = await visitor.post(path, {})
  expect([none.status, readable(none.html).includes('Choose at least one.')]).toEqual([422, true])
  expect((await visitor.post(path, { 'balance.low': 'on' })).location).toBe(`${path}?done=saved`)
  const next = await visitor.post(`${path}/secret`)
  expect([/whsec_[\w+/=]+/.exec(next.html)?.[0] === secret, next.html.includes('whsec_')]).toEqual([false, true])
  expect((await visitor.post(`${path}/disable`)).status).toBe(303)
  expect(readable((await visitor.get('/account/alerts')).html)).toMatch(/ 127\.0\.0\.1:\d+\/hook Off/)
  for (const verb of ['', '/test', '/secret', '/enable', '/disable', '/delete']) {
    expect([verb, (await stranger.post(path + verb, { 'balance.low': 'on' })).status]).toEqual([verb, 404])
  }
  expect((await stranger.get(path)).status).toBe(404)
  expect((await visitor.post(`${path}/enable`)).status).toBe(303)
  expect((await visitor.post(`${path}/delete`)).location).toBe('/account/alerts?done=saved')
  expect((await visitor.get(path)).status).toBe(404)
})

test('one click in an email unsubscribes from its kind without signing in; merely opening the link, or another token, does not', async () => {
  const visitor = newVisitor()
  await visitor.signUp('oneclick@example.com')
  const { sql } = running.database
  const [row] = await sql`select account_id from account where email = 'oneclick@example.com'`
  const unsubscription = { accountId: Number(row?.account_id), kind: 'balance.low' } as const
  const token = unsubscribeToken(running.secrets.peppers, unsubscription)
  const path = `/unsubscribe?token=${token}`
  const isOn = async () => (await visitor.get('/account/alerts')).html.includes('name="balance.low" value="on" checked')
  const asked = await newVisitor().get(path)
  expect([readable(asked.html).includes('Stop sending you “Balance is low”?'), await isOn()]).toEqual([true, true])
  const form = new FormData()
  form.set('List-Unsubscribe', 'One-Click')
  const foreign = { origin: 'https://mail.example' }
  const clicked = await fetch(running.url + path, { method: 'POST', headers: foreign, body: form })
  expect([clicked.status, await isOn()]).toEqual([200, false])
  await visitor.post('/account/alerts', { 'balance.low': 'on', low: '' })
  const posted = await newVisitor().post(path, { 'List-Unsubscribe': 'One-Click' }, { origin: '' })
  expect([posted.status, await isOn()]).toEqual([200, false])
  for (const wrong of [path.slice(0, -1), `${path}&token=2`.replace(token, 'x'), '/unsubscribe']) {
    expect([wrong, (await newVisitor().post(wrong)).status]).toEqual([wrong, 422])
  }
  const elsewhere = await fetch(`${running.url}/signin`, {
    method: 'POST',
    headers: { origin: running.url },
    body: form,
  })
  expect(elsewhere.status).toBe(415)
})
