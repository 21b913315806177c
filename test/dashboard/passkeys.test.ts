/** Passkeys as a second factor: adding, using and removing them, and refusing invalid answers from devices. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setRole } from '../../src/accounts/operator.ts'
import { COMMAND_LINE, listActions } from '../../src/accounts/operator-log.ts'
import { countRecoveryCodes } from '../../src/accounts/recovery-codes.ts'
import { resetSecondFactor } from '../../src/accounts/second-factor.ts'
import { codeOf } from '../support/authenticator.ts'
import { PRODUCTION, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { type CreationOptions, PasskeyDevice, type RequestOptions } from '../support/passkey-device.ts'
import { readable, Visitor } from './visitor.ts'

const FACTOR = '/account/second-factor'
const PASSKEYS = `${FACTOR}/passkeys`
const ORIGIN = PRODUCTION.PUBLIC_URL

let running: TestGateway
let operator: Visitor
let operatorId = 0
let customerId = 0
const laptop = new PasskeyDevice(ORIGIN)
const phone = new PasskeyDevice(ORIGIN)
const person = { email: 'operator@example.com', password: '' }
const visitor = () => new Visitor(running.url, { ...running, origin: ORIGIN })

beforeAll(async () => {
  running = await startTestGateway({ environment: { ...PRODUCTION, LIMIT_PASSKEYS_MAX: '3' } })
  operator = visitor()
  person.password = (await operator.signUp(person.email)).password
  customerId = (await running.account(0n)).accountId
  operatorId = await idOf(person.email)
  await setRole(running.database.sql, { accountId: operatorId, role: 'owner', by: COMMAND_LINE })
  await signIn(operator)
})
afterAll(() => running.close())

async function idOf(email: string): Promise<number> {
  return Number((await running.database.sql`select account_id from account where email = ${email}`)[0]?.account_id)
}
const signIn = (who: Visitor) => who.post('/signin', { ...person })
async function options<Options>(who: Visitor, purpose: string): Promise<Options> {
  const { status, html, headers } = await who.post(`${PASSKEYS}/options`, { purpose })
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
    200,
    'application/json; charset=utf-8',
    'no-store',
  ])
  return JSON.parse(html) as Options
}
const toCreate = (who: Visitor) => options<CreationOptions>(who, 'register')
const toSign = (who: Visitor) => options<RequestOptions>(who, 'give')
const give = (who: Visitor, answer: string, form: Record<string, string> = {}) =>
  who.post(FACTOR, { code: '', second_factor_passkey: answer, ...form })
const adjust = () => `/operator/accounts/${customerId}/adjust`
const money = (amount: string) => ({ amount, reason: 'goodwill', submission: crypto.randomUUID() })
const stale = () => running.database.sql`update session set second_factor_at = now() - interval '11 minutes'
  where second_factor_at is not null`
const recovery = (html: string) =>
  [...html.matchAll(/<code>((?:[0-9A-Z]{4}-){3}[0-9A-Z]{4})<\/code>/g)].map(found => found[1] as string)

describe('an operator', () => {
  let codes: readonly string[] = []

  test('can use a passkey instead of an app: it opens the pages and comes with recovery codes', async () => {
    const elsewhere = visitor()
    await signIn(elsewhere)
    expect((await operator.get('/operator')).location).toContain(FACTOR)
    expect((await operator.get(FACTOR)).html).toContain(`href="${PASSKEYS}?next`)
    const page = await operator.get(`${PASSKEYS}?next=%2Foperator%2Flog`)
    expect([page.status, page.html.includes('value="/operator/log"')]).toEqual([200, true])
    const asked = await toCreate(operator)
    expect(asked).toMatchObject({
      rp: { id: 'gateway.test', name: 'SVC' },
      user: { name: person.email },
      attestation: 'none',
      timeout: 300_000,
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    })
    const done = await operator.post(PASSKEYS, { name: 'laptop', passkey: laptop.create(asked), next: '/operator/log' })
    codes = recovery(done.html)
    expect([done.status, codes.length, done.headers.get('cache-control')]).toEqual([200, 10, 'no-store'])
    expect(done.html).toContain('href="/operator/log"')
    expect((await operator.get('/operator')).status).toBe(200)
    expect((await elsewhere.get('/account')).location).toContain('/signin')
    expect(readable((await operator.get('/operator/team')).html)).toContain(`${person.email} You Owner On`)
  })

  test('signs in with a passkey or a recovery code; each challenge is answered once, in its own session', async () => {
    const other = visitor()
    await signIn(other)
    const { location } = await other.get('/operator/log')
    const page = await other.get(location)
    expect([page.html.includes('data-passkey="give"'), readable(page.html)]).toEqual([
      true,
      expect.stringContaining('Use your passkey, or enter a recovery code.'),
    ])
    expect(page.html).toContain('<noscript>')
    const asked = await toSign(other)
    expect(asked).toMatchObject({
      rpId: 'gateway.test',
      userVerification: 'required',
      allowCredentials: [{ type: 'public-key' }],
    })
    const answer = laptop.sign(asked)
    // The challenge belongs to one session; another session of the same person cannot use it.
    const thief = visitor()
    await signIn(thief)
    expect((await give(thief, answer)).status).toBe(422)
    expect((await thief.get('/operator')).location).toContain(FACTOR)
    const given = await give(other, answer, { next: '/operator/log' })
    expect([given.status, given.location]).toEqual([303, '/operator/log'])
    expect((await other.get('/operator')).status).toBe(200)
    const replayed = await give(thief, answer)
    expect([replayed.status, readable(replayed.html)]).toEqual([
      422,
      expect.stringContaining('expired or was already used'),
    ])
    expect((await give(thief, '', { code: codes[0] as string })).location).toBe('/operator')
  })

  test('of eight simultaneous answers to one challenge, only one is accepted', async () => {
    const other = visitor()
    await signIn(other)
    const answer = laptop.sign(await toSign(other))
    const answers = await Promise.all(Array.from({ length: 8 }, () => give(other, answer)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, ...Array(7).fill(422)])
  })

  test('a challenge is worthless after it expires, or for another purpose', async () => {
    const other = visitor()
    await signIn(other)
    const late = laptop.sign(await toSign(other))
    await running.database.sql`update passkey_challenge set expires_at = now() - interval '1 second'`
    expect((await give(other, late)).status).toBe(422)
    expect((await other.post(`${PASSKEYS}/options`, { purpose: 'register' })).status).toBe(403)
    const created = await toCreate(operator)
    const misused = { ...created, rpId: created.rp.id }
    expect((await give(operator, laptop.sign(misused))).status).toBe(422)
    expect((await operator.post(`${PASSKEYS}/options`, { purpose: 'both' })).status).toBe(400)
  })

  test.each([
    ['for another site', { origin: 'https://gateway.test.evil.example' }],
    ['to another challenge', { challenge: Buffer.alloc(32, 7).toString('base64url') }],
    ['by a device that has not checked who holds it', { isUnverified: true }],
  ])('an answer %s is refused, and leaves nothing behind', async (_, lie) => {
    const other = visitor()
    await signIn(other)
    const refused = await give(other, laptop.sign(await toSign(other), lie))
    expect([refused.status, readable(refused.html)]).toEqual([422, expect.stringContaining('could not be confirmed')])
    expect((await other.get('/operator')).location).toContain(FACTOR)
    const created = await operator.post(PASSKEYS, { name: 'x', passkey: phone.create(await toCreate(operator), lie) })
    expect(created.status).toBe(422)
  })

  test('an answer that is not a passkey’s is refused', async () => {
    const other = visitor()
    await signIn(other)
    const stub = `{"id":"${'A'.repeat(43)}","rawId":1,"response":null}`
    for (const answer of ['', '{}', 'null', '[]', '{"id":"x"}', stub, 'x'.repeat(20_000)]) {
      await toSign(other)
      expect([answer.slice(0, 20), (await give(other, answer)).status]).toEqual([answer.slice(0, 20), 422])
      await toCreate(operator)
      const created = await operator.post(PASSKEYS, { name: 'x', passkey: answer })
      expect([answer.slice(0, 20), created.status]).toEqual([answer.slice(0, 20), 422])
    }
  })

  test('a passkey of another account is refused, and cannot be added to a second one', async () => {
    const customer = visitor()
    await customer.signUp('stranger@example.com')
    const theirs = new PasskeyDevice(ORIGIN)
    const added = await customer.post(PASSKEYS, { name: 'mine', passkey: theirs.create(await toCreate(customer)) })
    expect([added.status, recovery(added.html).length]).toEqual([200, 10])
    const other = visitor()
    await signIn(other)
    expect((await give(other, theirs.sign(await toSign(other)))).status).toBe(422)
    const taken = await operator.post(PASSKEYS, { name: 'theirs', passkey: theirs.create(await toCreate(operator)) })
    expect([taken.status, readable(taken.html)]).toEqual([422, expect.stringContaining('already in use')])
  })

  test('moving money requires the passkey again, keeps what was typed, and happens once', async () => {
    await stale()
    const form = { ...money('70.000'), reason: 'sorry & "thanks" <b>' }
    const asked = await operator.post(adjust(), form)
    expect([asked.status, asked.html.includes('data-passkey="give"')]).toEqual([200, true])
    const forged = { ...form, second_factor: '', second_factor_passkey: phone.sign(await toSign(operator)) }
    const refused = await operator.post(adjust(), forged)
    expect([refused.status, refused.html.includes('goodwill')]).toEqual([422, false])
    expect(refused.html).toContain('sorry &amp; &quot;thanks&quot; &lt;b&gt;')
    expect(refused.html).not.toContain('authenticatorData')
    expect(await running.balance(customerId)).toBe(0n)
    const right = { ...form, second_factor: '', second_factor_passkey: laptop.sign(await toSign(operator)) }
    const answers = await Promise.all([operator.post(adjust(), right), operator.post(adjust(), right)])
    expect([
      [303, 303],
      [303, 422],
    ]).toContainEqual(answers.map(({ status }) => status).toSorted())
    expect(await running.balance(customerId)).toBe(70_000_000_000n)
    expect((await operator.post(adjust(), money('1.000'))).status).toBe(303)
  })

  test('adds further passkeys up to the limit, confirming with the first while the page keeps the new one', async () => {
    await stale()
    const passkey = phone.create(await toCreate(operator))
    const asked = await operator.post(PASSKEYS, { name: '<phone>', passkey })
    expect([asked.status, asked.html.includes('&quot;attestationObject&quot;')]).toEqual([200, true])
    const confirmed = {
      name: '<phone>',
      passkey,
      second_factor: '',
      second_factor_passkey: laptop.sign(await toSign(operator)),
    }
    expect((await operator.post(PASSKEYS, confirmed)).location).toBe(`${FACTOR}?done=added`)
    expect((await operator.post(PASSKEYS, { name: 'again', passkey })).status).toBe(422)
    expect(await countRecoveryCodes(running.database.sql, operatorId)).toBe(9)
    const list = await operator.get(`${FACTOR}?done=added`)
    expect(readable(list.html)).toMatch(/Passkey added\..*laptop.*&lt;phone&gt;.*Never/)
    const third = await operator.post(PASSKEYS, {
      passkey: new PasskeyDevice(ORIGIN).create(await toCreate(operator)),
      name: '3',
    })
    expect(third.status).toBe(303)
    const more = await operator.post(PASSKEYS, {
      passkey: new PasskeyDevice(ORIGIN).create(await toCreate(operator)),
      name: '4',
    })
    expect([more.status, readable(more.html)]).toEqual([422, expect.stringContaining('You have 3 passkeys')])
  })

  test('a device whose counter goes back is refused as a copy, and the log says so', async () => {
    const other = visitor()
    await signIn(other)
    expect((await give(other, phone.sign(await toSign(other), { signCount: 50 }))).status).toBe(303)
    for (const signCount of [50, 49, 0]) {
      const copy = visitor()
      await signIn(copy)
      const refused = await give(copy, phone.sign(await toSign(copy), { signCount }))
      expect([signCount, refused.status, readable(refused.html)]).toEqual([
        signCount,
        422,
        expect.stringContaining('may have been copied'),
      ])
      expect((await copy.get('/operator')).location).toContain(FACTOR)
    }
    const actions = await listActions(running.database.sql, { accountId: operatorId })
    expect(actions.filter(({ action }) => action === 'passkey.copied')).toHaveLength(3)
    const next = visitor()
    await signIn(next)
    expect((await give(next, phone.sign(await toSign(next), { signCount: 51 }))).status).toBe(303)
  })

  test('removes a passkey with the second factor, but never the last one; a removed passkey opens nothing', async () => {
    const { sql } = running.database
    const rows = await sql`select passkey_id, name from passkey where account_id = ${operatorId} order by passkey_id`
    const [first, second, third] = rows.map(row => `${PASSKEYS}/${row.passkey_id}/remove`) as [string, string, string]
    await stale()
    const asked = await operator.post(second)
    expect([asked.status, asked.html.includes('data-passkey="give"')]).toEqual([200, true])
    const signed = { second_factor: '', second_factor_passkey: laptop.sign(await toSign(operator)) }
    expect((await operator.post(second, signed)).location).toBe(`${FACTOR}?done=removed`)
    const other = visitor()
    await signIn(other)
    expect((await give(other, phone.sign(await toSign(other)))).status).toBe(422)
    expect((await operator.post(second)).status).toBe(404)
    expect((await operator.post(third)).status).toBe(303)
    const last = await operator.post(first)
    expect([last.status, readable(last.html)]).toEqual([422, expect.stringContaining('your only second factor')])
    expect((await operator.post(`${FACTOR}/off`)).status).toBe(403)
    const theirs = await sql`select passkey_id from passkey where account_id <> ${operatorId}`
    expect((await operator.post(`${PASSKEYS}/${theirs[0]?.passkey_id}/remove`)).status).not.toBe(303)
    expect(await sql`select 1 from passkey where account_id <> ${operatorId}`).toHaveLength(1)
  })

  test('can use an app in addition to the passkey; either is enough', async () => {
    await stale()
    const signed = { second_factor: '', second_factor_passkey: laptop.sign(await toSign(operator)) }
    const offered = await operator.post(`${FACTOR}/replace`, signed)
    const secret = /<code>([A-Z2-7 ]{39})<\/code>/.exec(offered.html)?.[1] as string
    // The page asks for a code from the new app, so no passkey is offered.
    expect(offered.html).not.toContain('data-passkey')
    const offer = /name="offer" value="([^"]+)"/.exec(offered.html)?.[1] as string
    expect((await operator.post(`${FACTOR}/enrol`, { offer, code: codeOf(secret) })).status).toBe(200)
    const one = visitor()
    await signIn(one)
    expect(readable((await one.get(FACTOR)).html)).toContain('Use your passkey, or enter the code')
    expect((await give(one, laptop.sign(await toSign(one)))).status).toBe(303)
    const other = visitor()
    await signIn(other)
    expect((await other.post(FACTOR, { code: codeOf(secret, { stepsLater: 1 }) })).status).toBe(303)
  })

  test('after losing everything is reset by another owner, which removes the passkeys, too', async () => {
    const { sql } = running.database
    await resetSecondFactor(sql, { accountId: operatorId, by: COMMAND_LINE, reason: 'lost' })
    expect(await sql`select 1 from passkey where account_id = ${operatorId}`).toEqual([])
    expect(await countRecoveryCodes(sql, operatorId)).toBe(0)
  })
})

describe('a customer', () => {
  test('enters the password first, is notified by email, and loses the passkeys with the account', async () => {
    const { sql } = running.database
    const customer = visitor()
    const { email, password } = await customer.signUp('passkeys@example.com')
    const accountId = await idOf(email)
    await sql`update session set password_checked_at = now() - interval '6 minutes' where account_id = ${accountId}`
    const device = new PasskeyDevice(ORIGIN)
    const page = await customer.get(PASSKEYS)
    expect([page.status, page.html.includes('name="password"')]).toEqual([200, true])
    const thief = { name: 'x', passkey: device.create(await toCreate(customer)), password: 'a guess' }
    const refused = await customer.post(PASSKEYS, thief)
    expect([refused.status, readable(refused.html)]).toEqual([422, expect.stringContaining('Incorrect password.')])
    expect(await sql`select 1 from passkey where account_id = ${accountId}`).toEqual([])
    const added = await customer.post(PASSKEYS, {
      ...thief,
      passkey: device.create(await toCreate(customer)),
      password,
    })
    expect([added.status, recovery(added.html).length]).toEqual([200, 10])
    const phone = visitor()
    await phone.post('/signin', { email, password })
    expect((await phone.get('/keys')).location).toContain(FACTOR)
    for (const path of ['/', FACTOR]) expect((await phone.get(path)).html).not.toContain(email)
    expect((await give(phone, device.sign(await toSign(phone)), { next: '/keys' })).location).toBe('/keys')
    const second = new PasskeyDevice(ORIGIN)
    await phone.post(PASSKEYS, { name: 'second', passkey: second.create(await toCreate(phone)) })
    const subjects = async () => {
      const mails = await sql`select subject from mail_sent where email = ${email}`
      return mails.map(({ subject }) => subject as string)
    }
    const wanted = ['Second factor turned on at SVC', 'A passkey was added to your account at SVC']
    await expect.poll(subjects).toEqual(expect.arrayContaining(wanted))
    const gone = await phone.post('/account/delete', { confirm: email, email, password })
    expect(gone.location).toBe('/account/deleted')
    expect(await sql`select 1 from passkey where account_id = ${accountId}`).toEqual([])
  })

  test('turns the second factor off with one passkey', async () => {
    const customer = visitor()
    const { email, password } = await customer.signUp('off@example.com')
    const device = new PasskeyDevice(ORIGIN)
    await customer.post(PASSKEYS, { name: 'x', passkey: device.create(await toCreate(customer)) })
    await stale()
    const signed = { second_factor: '', second_factor_passkey: device.sign(await toSign(customer)) }
    expect((await customer.post(`${FACTOR}/off`, signed)).location).toBe('/account?done=factor_off')
    const again = visitor()
    await again.post('/signin', { email, password })
    expect((await again.get('/overview')).status).toBe(200)
  })
})
