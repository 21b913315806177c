/**
 * The second factor: set-up, sign-in, repeated prompts and recovery, for operators (who need one in production) and for
 * customers (who may have one).
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setRole } from '../../src/accounts/operator.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { codeOf, wrongCode } from '../support/authenticator.ts'
import { PRODUCTION, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { type PageReply, readable, Visitor } from './visitor.ts'

const FACTOR = '/account/second-factor'

let running: TestGateway
let operator: Visitor
let accountId = 0
let customerId = 0
let secret = ''
/** The code used for the set-up, which must never work again. */
let spent = ''
let recoveryCodes: readonly string[] = []
const person = { email: 'operator@example.com', password: '' }
const visitor = () => new Visitor(running.url, { ...running, origin: PRODUCTION.PUBLIC_URL })

beforeAll(async () => {
  running = await startTestGateway({ environment: PRODUCTION })
  operator = visitor()
  person.password = (await operator.signUp(person.email)).password
  customerId = (await running.account(0n)).accountId
  const [row] = await running.database.sql`select account_id from account where email = ${person.email}`
  accountId = Number(row?.account_id)
  await setRole(running.database.sql, { accountId, role: 'owner', by: COMMAND_LINE })
})
afterAll(() => running.close())

const signIn = async (who: Visitor) =>
  expect((await who.post('/signin', { email: person.email, password: person.password })).location).toBe('/operator')
const adjust = () => `/operator/accounts/${customerId}/adjust`
const money = (amount: string) => ({ amount, reason: 'goodwill', submission: crypto.randomUUID() })

/** The hidden fields of the page's form with this action, as a browser would send them. */
function fieldsOf({ html }: PageReply, action: string): Record<string, string> {
  const form = html.split('<form').find(part => part.includes(`action="${action}"`)) ?? ''
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  return Object.fromEntries(fields.map(([, name, value]) => [name, plain(value as string)]))
}
const plain = (text: string) =>
  text
    .replaceAll('&amp;', '&')
    .replaceAll('&#x3D;', '=')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')

test('without a second factor no page opens except the one that sets it up', async () => {
  await signIn(operator)
  const asked = await operator.get('/operator/accounts?q=x')
  expect([asked.status, asked.location]).toEqual([303, `${FACTOR}?next=%2Foperator%2Faccounts%3Fq%3Dx`])
  expect((await operator.post(adjust(), money('1.000'))).location).toBe(FACTOR)
  expect((await operator.post(`${FACTOR}/off`)).status).toBe(403)
  expect(await running.balance(customerId)).toBe(0n)
  const page = await operator.get(asked.location)
  expect(page.status).toBe(200)
  expect(page.html).toContain('<svg')
  expect(page.headers.get('cache-control')).toBe('no-store')
  secret = /<code>([A-Z2-7 ]{39})<\/code>/.exec(page.html)?.[1] as string
  const fields = fieldsOf(page, `${FACTOR}/enrol`)
  expect(fields.next).toBe('/operator/accounts?q=x')
  const wrong = await operator.post(`${FACTOR}/enrol`, { ...fields, code: wrongCode(secret) })
  expect([wrong.status, wrong.html.includes(secret)]).toEqual([422, true])
  spent = codeOf(secret)
  const done = await operator.post(`${FACTOR}/enrol`, { ...fieldsOf(wrong, `${FACTOR}/enrol`), code: spent })
  recoveryCodes = [...done.html.matchAll(/<code>((?:[0-9A-Z]{4}-){3}[0-9A-Z]{4})<\/code>/g)].map(found => found[1]!)
  expect([done.status, recoveryCodes.length]).toEqual([200, 10])
  expect(done.html).toContain(`data-copy="${recoveryCodes.join('\n')}"`)
  expect(done.html).toContain('href="/operator/accounts?q&#x3D;x"')
  expect((await operator.get('/operator/accounts')).status).toBe(200)
})

test('a password alone opens nothing: the page asks for the code, then continues to where the person wanted to go', async () => {
  const other = visitor()
  await signIn(other)
  const { location } = await other.get('/operator/log?q=a')
  expect(location).toBe(`${FACTOR}?next=%2Foperator%2Flog%3Fq%3Da`)
  const page = await other.get(location)
  expect(page.html).not.toContain(secret)
  const { next } = fieldsOf(page, FACTOR)
  for (const code of ['', 'x', wrongCode(secret), spent]) {
    const refused = await other.post(FACTOR, { code, next: next as string })
    expect([code, refused.status, fieldsOf(refused, FACTOR).next]).toEqual([code, 422, next])
  }
  const given = await other.post(FACTOR, { code: codeOf(secret, { stepsLater: 1 }), next: next as string })
  expect(given.location).toBe('/operator/log?q=a')
  expect((await other.get('/operator')).status).toBe(200)
  const foreign = { code: recoveryCodes[0] as string, next: 'https://evil.example' }
  expect((await other.post(FACTOR, foreign)).location).toBe('/operator')
  // After set-up, the page neither offers another set-up nor shows the old secret.
  expect(readable((await other.get(FACTOR)).html)).toContain('9 recovery codes left.')
})

test('moving money requires the code again after a while, keeps what was typed, and happens once', async () => {
  const { sql } = running.database
  await sql`update session set second_factor_at = now() - interval '11 minutes' where account_id = ${accountId}`
  expect((await operator.get('/operator/accounts')).status).toBe(200)
  const form = { ...money('70.000'), reason: 'sorry & "thanks" <b>' }
  const asked = await operator.post(adjust(), form)
  expect(asked.status).toBe(200)
  expect(fieldsOf(asked, adjust())).toEqual(form)
  expect(await running.balance(customerId)).toBe(0n)
  const wrong = await operator.post(adjust(), { ...fieldsOf(asked, adjust()), second_factor: 'nothing' })
  expect([wrong.status, fieldsOf(wrong, adjust())]).toEqual([422, form])
  const right = { ...fieldsOf(wrong, adjust()), second_factor: recoveryCodes[1] as string }
  const answers = await Promise.all([operator.post(adjust(), right), operator.post(adjust(), right)])
  // The second request is refused if the code has just been used (422). If the first has already entered the factor and moved
  // the money, the second is redirected like the first (303).
  expect([
    [303, 303],
    [303, 422],
  ]).toContainEqual(answers.map(({ status }) => status).toSorted())
  expect(await running.balance(customerId)).toBe(70_000_000_000n)
  // For a while after entering a code, no further code is required.
  expect((await operator.post(adjust(), money('1.000'))).status).toBe(303)
})

test('a new authenticator and new recovery codes require the old factor, entered recently', async () => {
  await running.database.sql`update session set second_factor_at = now() - interval '1 hour'`
  for (const path of [`${FACTOR}/replace`, `${FACTOR}/codes`, `${FACTOR}/enrol`]) {
    const { status, html } = await operator.post(path)
    expect([path, status, html.includes('name="second_factor"')]).toEqual([path, 200, true])
  }
  const offered = await operator.post(`${FACTOR}/replace`, { second_factor: recoveryCodes[2] as string })
  const next = /<code>([A-Z2-7 ]{39})<\/code>/.exec(offered.html)?.[1] as string
  const done = await operator.post(`${FACTOR}/enrol`, {
    ...fieldsOf(offered, `${FACTOR}/enrol`),
    code: codeOf(next),
  })
  expect(done.status).toBe(200)
  expect(done.html).not.toContain(recoveryCodes[3])
  const other = visitor()
  await signIn(other)
  expect((await other.post(FACTOR, { code: codeOf(secret, { stepsLater: 1 }) })).status).toBe(422)
  expect((await other.post(FACTOR, { code: codeOf(next, { stepsLater: 1 }) })).status).toBe(303)
})

test('owners grant and revoke roles, except their own; a role determines which pages an operator sees', async () => {
  const helper = visitor()
  const { password } = await helper.signUp('helper@example.com')
  const give = (email: string, role: string, reason = 'joined') =>
    operator.post('/operator/team', { email, role, reason })
  expect((await give('nobody@example.com', 'support')).status).toBe(422)
  expect((await give('helper@example.com', 'support', '')).status).toBe(422)
  const self = await give(person.email, 'none')
  expect([self.status, readable(self.html)]).toEqual([422, expect.stringContaining('You cannot change your own role')])
  expect((await give('helper@example.com', 'king')).status).toBe(400)
  expect((await give('helper@example.com', 'support')).location).toBe('/operator/team?done=role')
  expect((await helper.get('/overview')).status).toBe(303)
  await helper.post('/signin', { email: 'helper@example.com', password })
  expect((await helper.get('/operator/revenue')).status).toBe(403)
  expect((await helper.get('/operator/log')).location).toContain(FACTOR)
  const list = readable((await operator.get('/operator/team')).html)
  expect(list).toContain('helper@example.com Support Not set up')
  const reset = { email: 'helper@example.com', reason: 'new phone' }
  expect((await operator.post('/operator/team/reset', reset)).location).toBe('/operator/team?done=factor')
  const unreasoned = await give('helper@example.com', 'none', ' ')
  expect([unreasoned.status, unreasoned.html]).toEqual([422, expect.stringContaining('<option value="none" selected>')])
  expect((await give('helper@example.com', 'none')).status).toBe(303)
  expect((await helper.get('/operator')).status).toBe(404)
})

describe('a customer', () => {
  const recovery = (html: string) =>
    [...html.matchAll(/<code>((?:[0-9A-Z]{4}-){3}[0-9A-Z]{4})<\/code>/g)].map(found => found[1] as string)
  const secretOf = (html: string) => /<code>([A-Z2-7 ]{39})<\/code>/.exec(html)?.[1] as string
  const stale = (email: string) => running.database.sql`
    update session set password_checked_at = now() - interval '6 minutes', second_factor_at = second_factor_at - interval '11 minutes'
     where account_id = (select account_id from account where email = ${email})`

  test('needs no second factor; setting one up requires the password, and then no page opens without the code', async () => {
    const customer = visitor()
    const { email, password } = await customer.signUp('two-steps@example.com')
    expect((await customer.get('/overview')).status).toBe(200)
    await stale(email)
    const page = await customer.get(FACTOR)
    expect([page.status, page.html.includes('name="password"')]).toEqual([200, true])
    const found = { ...fieldsOf(page, `${FACTOR}/enrol`), code: codeOf(secretOf(page.html)) }
    // Anyone who finds the session open could enrol their own phone, but does not know the password.
    const thief = await customer.post(`${FACTOR}/enrol`, { ...found, password: 'a guess' })
    expect([thief.status, readable(thief.html).includes('Incorrect password.')]).toEqual([422, true])
    expect(secretOf(thief.html)).toBe(secretOf(page.html))
    const other = visitor()
    await other.post('/signin', { email, password })
    const done = await customer.post(`${FACTOR}/enrol`, { ...found, password })
    const codes = recovery(done.html)
    expect([done.status, codes.length]).toEqual([200, 10])
    expect((await other.get('/overview')).location).toBe('/signin?next=%2Foverview')
    expect((await customer.get('/overview')).status).toBe(200)

    const phone = visitor()
    expect((await phone.post('/signin', { email, password })).location).toBe('/overview')
    for (const path of ['/overview', '/account', '/keys', '/usage', '/topup']) {
      const { location } = await phone.get(path)
      expect([path, location]).toEqual([path, `${FACTOR}?next=${encodeURIComponent(path)}`])
    }
    const kept = await phone.post('/account/password', { current: password, next: 'another long password' })
    expect(kept.status).toBe(200)
    // Until a code is entered, no page shows who is signing in.
    for (const path of ['/', '/models', FACTOR]) expect((await phone.get(path)).html).not.toContain(email)
    expect(readable((await customer.get('/account')).html)).toContain('Second factor not entered')
    expect((await phone.post(FACTOR, { code: wrongCode(secretOf(page.html)) })).status).toBe(422)
    expect((await phone.post(FACTOR, { code: codes[0] as string, next: '/keys' })).location).toBe('/keys')
    expect((await phone.get('/overview')).status).toBe(200)
    // Changing the password requires no further code, and leaves the second factor in force.
    const moved = await phone.post('/account/password', { current: password, next: 'another long password' })
    expect([moved.location, (await phone.get('/account')).status]).toEqual(['/account?done=password', 200])
  })

  test('turns it off with a fresh code, and is notified by email; a password reset by email does not remove it', async () => {
    const customer = visitor()
    const { email } = await customer.signUp('one-step@example.com')
    const page = await customer.get(FACTOR)
    const enrol = { ...fieldsOf(page, `${FACTOR}/enrol`), code: codeOf(secretOf(page.html)) }
    const codes = recovery((await customer.post(`${FACTOR}/enrol`, enrol)).html)
    const other = visitor()
    await other.post('/forgot', { email })
    const token = new URL(`http://x${await other.mailedLink('/reset', email)}`).searchParams.get('token') as string
    expect((await other.post('/reset', { token, password: 'found in the mailbox' })).status).toBe(303)
    expect((await other.get('/keys')).location).toContain(FACTOR)
    expect((await other.post(FACTOR, { code: codes[0] as string })).location).toBe('/overview')
    await stale(email)
    const asked = await other.post(`${FACTOR}/off`)
    expect([asked.status, asked.html.includes('name="second_factor"')]).toEqual([200, true])
    expect((await other.post(`${FACTOR}/off`, { second_factor: 'wrong' })).status).toBe(422)
    const off = await other.post(`${FACTOR}/off`, { second_factor: codes[1] as string })
    expect(off.location).toBe('/account?done=factor_off')
    expect(readable((await other.get(off.location)).html)).toContain('Second factor turned off.')
    const again = visitor()
    await again.post('/signin', { email, password: 'found in the mailbox' })
    expect((await again.get('/overview')).status).toBe(200)
    const subjects = async () => {
      const mails = await running.database.sql`select subject from mail_sent where email = ${email}`
      return mails.map(({ subject }) => subject as string)
    }
    const wanted = ['Second factor turned on at SVC', 'Second factor turned off at SVC']
    await expect.poll(subjects).toEqual(expect.arrayContaining(wanted))
  })

  test('is notified by email, in their language, when an owner resets it', async () => {
    const customer = visitor()
    const { email } = await customer.signUp('lost-phone@example.com')
    await running.database.sql`update account set language = 'vi' where email = ${email}`
    const reset = () => operator.post('/operator/team/reset', { email, reason: 'lost the phone' })
    const subjects = async () =>
      (await running.database.sql`select subject from mail_sent where email = ${email}`).map(({ subject }) => subject)
    expect((await reset()).location).toBe('/operator/team?done=factor')
    const page = await customer.get(FACTOR)
    await customer.post(`${FACTOR}/enrol`, {
      ...fieldsOf(page, `${FACTOR}/enrol`),
      code: codeOf(secretOf(page.html)),
    })
    expect(await subjects()).not.toContain('Đã gỡ xác thực hai lớp tại SVC')
    expect((await reset()).location).toBe('/operator/team?done=factor')
    await expect.poll(subjects).toContain('Đã gỡ xác thực hai lớp tại SVC')
    expect((await customer.get('/overview')).location).toContain('/signin')
  })
})
