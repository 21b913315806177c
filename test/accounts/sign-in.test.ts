import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEmail } from '../../src/accounts/accounts.ts'
import { networkOf } from '../../src/accounts/network.ts'
import { blockAccount } from '../../src/accounts/operator.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { finishRegistration, readVerification, register } from '../../src/accounts/register.ts'
import { changePassword, readReset, requestReset, resetPassword } from '../../src/accounts/reset.ts'
import { listSessions, readSession } from '../../src/accounts/sessions.ts'
import { confirmPassword, isPasswordFresh, signIn } from '../../src/accounts/sign-in.ts'
import { sweepPeople } from '../../src/accounts/sweep.ts'
import type { OpenedSession } from '../../src/accounts/types.ts'
import { eventually } from '../ledger/world.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { linkToken, newAddress, newcomer, PASSWORD, testPeople, visitor } from './people.ts'

const database = await createTestDatabase()
const { sql } = database
const people = testPeople(sql)
const email = newAddress()
let opened: OpenedSession
beforeAll(async () => {
  opened = await newcomer(people, email)
})
afterAll(() => database.drop())

/** Services with a trivial password hash, so that hundreds of sign-in attempts take no time. */
const quick = testPeople(
  sql,
  {},
  { hash: async password => `$quick$${password}`, verify: async (_, password) => password === PASSWORD },
)
const attempt = (password: string, from = visitor(), address = email) =>
  signIn(quick, from, { email: address, password })

describe('signing in', () => {
  test('gives a session of its own each time, whatever the case of the address', async () => {
    const answer = await signIn(people, visitor(), { email: ` ${email.toUpperCase()}`, password: PASSWORD })
    expect(answer).toMatchObject({ outcome: 'signed_in', opened: { session: { email, device: 'Chrome, Windows' } } })
    expect(answer.outcome === 'signed_in' && answer.opened.token).not.toBe(opened.token)
  })

  test('matches capitals of every alphabet in the same way, whatever the language of the database', async () => {
    const [name, domain] = newAddress().split('@')
    await newcomer(people, `Ünal.${name}@${domain}`)
    for (const address of [`ünal.${name}@${domain}`, `ÜNAL.${name}@${domain}`]) {
      expect((await attempt(PASSWORD, visitor(), address)).outcome).toBe('signed_in')
    }
    // Some databases lowercase İ to a plain i, and would then not count guesses in this spelling against the account.
    expect(readEmail(`V\u0130CTIM@${domain}`)).toBe(`Vi\u0307CTIM@${domain}`)
  })

  test.each([
    ['a wrong password', email, 'not the password'],
    ['an address without an account', 'nobody@example.com', PASSWORD],
    ['no address at all', '\0', PASSWORD],
    ['a password that is longer than any', email, 'x'.repeat(100_000)],
  ])('%s is refused in the same words', async (_, address, password) => {
    expect(await signIn(people, visitor(), { email: address, password })).toEqual({ outcome: 'refused' })
  })

  test('only somebody who knows the password learns that an account is blocked; it gets no link either', async () => {
    const { session } = await newcomer(people)
    const address = session.email
    await blockAccount(sql, { accountId: session.accountId, by: COMMAND_LINE, reason: 'test' })
    expect(await signIn(people, visitor(), { email: address, password: PASSWORD })).toEqual({ outcome: 'blocked' })
    expect(await signIn(people, visitor(), { email: address, password: 'not it' })).toEqual({ outcome: 'refused' })
    expect(await confirmPassword(people, visitor(), session, PASSWORD)).toEqual({ outcome: 'refused' })
    const count = people.mails.length
    expect(await requestReset(people, visitor(), { email: address })).toEqual({ outcome: 'accepted' })
    expect(people.mails).toHaveLength(count)
  })

  test('the stored hash is not a password', async () => {
    const rows = await sql.unsafe('select password_phc from account where email = $1', [email])
    expect(await signIn(people, visitor(), { email, password: rows[0]?.password_phc })).toEqual({ outcome: 'refused' })
  })
})

describe('throttling', () => {
  const clear = () => sql.unsafe('delete from throttle')
  const later = (interval: string) =>
    sql.unsafe(`update throttle set at = at - $1::text::interval, blocked_until = blocked_until - $1::text::interval`, [
      interval,
    ])

  test('the right password of an account is checked a hundred times an hour; then its owner waits, and nobody else', async () => {
    const [mine, other] = [newAddress(), newAddress()]
    for (const address of [mine, other]) await newcomer(people, address)
    await clear()
    let checked = 0
    const counting = testPeople(
      sql,
      {},
      {
        hash: async password => password,
        verify: async () => {
          checked++
          return true
        },
      },
    )
    const enter = (address: string, from = visitor()) =>
      signIn(counting, from, { email: address, password: PASSWORD }).then(({ outcome }) => outcome)
    for (let turn = 0; turn < 100; turn++) expect(await enter(mine)).toBe('signed_in')
    expect(await enter(mine.toUpperCase(), visitor({ ipAddress: '203.0.113.9' }))).toBe('throttled')
    expect(checked).toBe(100)
    expect(await enter(other)).toBe('signed_in')
    await later('61 minutes')
    expect(await enter(mine)).toBe('signed_in')
  })

  let hosts = 0
  /** A visitor with a new address in the same network. */
  const here = () => visitor({ ipAddress: `198.51.100.${hosts++ % 250}` })

  test('after 5 wrong passwords from one network, sign-ins there wait for a minute, then two; later all is forgotten', async () => {
    await clear()
    for (let turn = 0; turn < 5; turn++) expect(await attempt('wrong', here())).toEqual({ outcome: 'refused' })
    const wait = await attempt(PASSWORD, here())
    expect(wait).toMatchObject({ outcome: 'throttled' })
    expect(wait.outcome === 'throttled' && wait.retryAfterSeconds).toBeLessThanOrEqual(60)
    await later('61 seconds')
    expect(await attempt('wrong', here())).toEqual({ outcome: 'refused' })
    const longer = await attempt(PASSWORD, here())
    expect(longer.outcome === 'throttled' && longer.retryAfterSeconds).toBeGreaterThan(60)
    for (let turn = 0; turn < 12; turn++) {
      await later('1 hour')
      await attempt('wrong', here())
    }
    const longest = await attempt(PASSWORD, here())
    expect(longest.outcome === 'throttled' && longest.retryAfterSeconds).toBeLessThanOrEqual(3_600)
    await later('1 hour')
    expect((await attempt(PASSWORD, here())).outcome).toBe('signed_in')
    for (let turn = 0; turn < 4; turn++) expect(await attempt('wrong', here())).toEqual({ outcome: 'refused' })
    await later('25 hours')
    for (let turn = 0; turn < 4; turn++) expect(await attempt('wrong', here())).toEqual({ outcome: 'refused' })
  })

  test('of 100 guesses at once 5 are checked', async () => {
    await clear()
    const guesses = await Promise.all(Array.from({ length: 100 }, () => attempt('wrong', here())))
    expect(guesses.filter(answer => answer.outcome === 'refused')).toHaveLength(5)
  })

  test('a stranger’s guesses lock out neither other networks nor a known device', async () => {
    await clear()
    for (let turn = 0; turn < 30; turn++) await attempt('wrong', here())
    expect((await attempt(PASSWORD, here())).outcome).toBe('throttled')
    const home = await attempt(PASSWORD, visitor({ ipAddress: '203.0.113.5' }))
    expect(home.outcome).toBe('signed_in')
    const { device } = (home as Extract<typeof home, { outcome: 'signed_in' }>).opened
    // The owner's device is let in even from the stranger's network.
    expect((await attempt(PASSWORD, { ...here(), device })).outcome).toBe('signed_in')
    expect((await attempt(PASSWORD, { ...here(), device: device.replace(/.$/, 'x') })).outcome).toBe('throttled')
  })

  test('guesses from everywhere are limited to one a minute, and never lock out a known device', async () => {
    await clear()
    const known = await attempt(PASSWORD)
    if (known.outcome !== 'signed_in') throw new Error(known.outcome)
    const { device } = known.opened
    const guesses = await Promise.all(Array.from({ length: 200 }, () => attempt('wrong')))
    expect(guesses.filter(answer => answer.outcome === 'refused')).toHaveLength(50)
    for (let minute = 0; minute < 5; minute++) {
      await later('61 seconds')
      const more = await Promise.all(Array.from({ length: 20 }, () => attempt('wrong')))
      expect(more.filter(answer => answer.outcome === 'refused')).toHaveLength(1)
      const wait = await attempt(PASSWORD)
      expect(wait.outcome === 'throttled' && wait.retryAfterSeconds).toBeLessThanOrEqual(60)
    }
    expect((await attempt(PASSWORD, visitor({ device }))).outcome).toBe('signed_in')
  })

  test('an owner on a new device gets in by email while strangers guess everywhere and use up the emails', async () => {
    await clear()
    const own = await newcomer(people)
    const { email } = own.session
    for (let turn = 0; turn < 50; turn++) await attempt('wrong', visitor(), email)
    expect((await attempt(PASSWORD, visitor(), email)).outcome).toBe('throttled')
    // Registration emails do not count towards the limit on reset emails.
    for (let turn = 0; turn < 9; turn++) await register(quick, visitor(), { email, password: `${PASSWORD} khác` })
    const asked = []
    for (let turn = 0; turn < 9; turn++) asked.push((await requestReset(people, visitor(), { email })).outcome)
    expect(asked).toEqual([...Array(5).fill('accepted'), ...Array(4).fill('throttled')])
    const links = () => people.mails.filter(({ to, text }) => to === email && text.includes('/reset?'))
    await eventually(
      async () => links().length,
      count => count === 5,
    )
    const given = { token: linkToken(people, email), password: `${PASSWORD} mới` }
    const changed = await resetPassword(people, visitor(), given)
    if (changed.outcome !== 'changed') throw new Error(changed.outcome)
    // From now on, other people's guesses do not throttle this device.
    const signedIn = await signIn(people, visitor({ device: changed.opened.device }), {
      email,
      password: given.password,
    })
    expect(signedIn.outcome).toBe('signed_in')
  })

  test('a known device has five guesses, too, and then has to wait', async () => {
    await clear()
    const known = await attempt(PASSWORD)
    if (known.outcome !== 'signed_in') throw new Error(known.outcome)
    const { device } = known.opened
    const guess = (password: string) => attempt(password, visitor({ device }))
    for (let turn = 0; turn < 5; turn++) expect((await guess('wrong')).outcome).toBe('refused')
    expect((await guess(PASSWORD)).outcome).toBe('throttled')
    await later('61 seconds')
    expect((await guess(PASSWORD)).outcome).toBe('signed_in')
  })

  test('a sweep forgets failures, and keeps a device for its time', async () => {
    await clear()
    const known = await attempt(PASSWORD, here())
    if (known.outcome !== 'signed_in') throw new Error(known.outcome)
    await attempt('wrong', here())
    const rows = async () => (await sql`select count(*)::integer as count from throttle`)[0]?.count
    await later('2 days')
    await sweepPeople(people)
    expect(await rows()).toBe(1)
    await later('180 days')
    await sweepPeople(people)
    expect(await rows()).toBe(0)
  })

  test('an address without an account is throttled in the same way, so that nobody learns whether it has one', async () => {
    await clear()
    const outcomes = []
    for (let turn = 0; turn < 6; turn++) outcomes.push((await attempt('wrong', here(), 'nobody@example.com')).outcome)
    expect(outcomes).toEqual(['refused', 'refused', 'refused', 'refused', 'refused', 'throttled'])
  })

  test('a host that guesses at many accounts has to wait, its neighbours do not, and a success does not clear its failures', async () => {
    await clear()
    const from = () => visitor({ ipAddress: '2001:db8:7:1::1' })
    for (let turn = 0; turn < 19; turn++) {
      expect((await attempt('wrong', from(), `victim${turn}@example.com`)).outcome).toBe('refused')
    }
    expect((await attempt(PASSWORD, from())).outcome).toBe('signed_in')
    expect((await attempt('wrong', from(), 'last@example.com')).outcome).toBe('refused')
    expect((await attempt(PASSWORD, from())).outcome).toBe('throttled')
    const neighbour = visitor({ ipAddress: '2001:db8:7:ffff::9' })
    expect((await attempt(PASSWORD, neighbour)).outcome).toBe('signed_in')
    expect((await attempt(PASSWORD, visitor({ ipAddress: '2001:db8:8::1' }))).outcome).toBe('signed_in')
  })

  test('a network whose hosts guess at many accounts waits as a whole', async () => {
    await clear()
    const from = (host: number) => visitor({ ipAddress: `192.0.2.${host}` })
    const guesses = Array.from({ length: 200 }, (_, turn) => attempt('wrong', from(turn), `victim${turn}@example.com`))
    expect((await Promise.all(guesses)).filter(({ outcome }) => outcome === 'refused')).toHaveLength(200)
    expect((await attempt(PASSWORD, from(250))).outcome).toBe('throttled')
    expect((await attempt(PASSWORD)).outcome).toBe('signed_in')
  })

  test('existing sessions keep working while their account is throttled', async () => {
    await clear()
    for (let turn = 0; turn < 6; turn++) await attempt('wrong', here())
    expect(await attempt(PASSWORD, here())).toMatchObject({ outcome: 'throttled' })
    expect(await readSession(people, opened.token)).toMatchObject({ email })
    await clear()
  })

  test.each([
    ['203.0.113.9', '203.0.113.0/24'],
    ['::ffff:203.0.113.9', '203.0.113.0/24'],
    ['2001:db8:7:1::1', '2001:db8:7::/48'],
    ['not an address', 'unknown'],
  ])('%s is of the network %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

describe('typing the password again', () => {
  test('counts as recent for five minutes', async () => {
    const { session, token } = await newcomer(people)
    const minutes = (count: number) => new Date(session.passwordCheckedAt.getTime() + count * 60_000)
    expect(isPasswordFresh(people, session, minutes(4.9))).toBe(true)
    expect(isPasswordFresh(people, session, minutes(5.1))).toBe(false)
    await sql.unsafe(
      `update session set password_checked_at = now() - interval '1 hour' where session_id = $1::text::bigint`,
      [String(session.sessionId)],
    )
    expect(await confirmPassword(people, visitor(), session, 'wrong')).toEqual({ outcome: 'refused' })
    expect(isPasswordFresh(people, (await readSession(people, token))!)).toBe(false)
    expect(await confirmPassword(people, visitor(), session, PASSWORD)).toEqual({ outcome: 'confirmed' })
    expect(isPasswordFresh(people, (await readSession(people, token))!)).toBe(true)
  })
})

describe('a new password', () => {
  test('set through an emailed link ends every session, signs in, and the owner is notified', async () => {
    const before = await newcomer(people)
    const address = before.session.email
    expect(await requestReset(people, visitor({ language: 'en' }), { email: address })).toEqual({ outcome: 'accepted' })
    await eventually(
      async () => people.mails.at(-1)?.subject,
      subject => subject === 'Choose a new password at SVC',
    )
    const token = linkToken(people, address)
    expect(await readReset(people, token)).toEqual({ email: address })
    const short = await resetPassword(people, visitor(), { token, password: 'short' })
    expect(short).toEqual({ outcome: 'invalid', password: 'too_short' })
    const answers = await Promise.all(
      [1, 2].map(() => resetPassword(people, visitor(), { token, password: 'a new password' })),
    )
    expect(answers.map(answer => answer.outcome).toSorted()).toEqual(['changed', 'expired'])
    expect(await readSession(people, before.token)).toBeNull()
    expect(await listSessions(people, before.session.accountId)).toHaveLength(1)
    expect(people.mails.at(-1)?.subject).toBe('Mật khẩu của bạn tại SVC đã được thay đổi')
    expect((await signIn(people, visitor(), { email: address, password: PASSWORD })).outcome).toBe('refused')
    expect((await signIn(people, visitor(), { email: address, password: 'a new password' })).outcome).toBe('signed_in')
  })

  test('an unknown address gets the same answer and no email', async () => {
    const count = people.mails.length
    expect(await requestReset(people, visitor(), { email: 'nobody@example.com' })).toEqual({ outcome: 'accepted' })
    expect(await requestReset(people, visitor(), { email: 'no address' })).toEqual({
      outcome: 'invalid',
      email: 'malformed',
    })
    expect(people.mails).toHaveLength(count)
  })

  test('a link for one purpose does not work for the other', async () => {
    const { session } = await newcomer(people)
    await requestReset(people, visitor(), { email: session.email })
    await eventually(
      async () => people.mails.at(-1)?.subject,
      subject => subject === 'Đặt lại mật khẩu của bạn tại SVC',
    )
    const token = linkToken(people, session.email)
    expect(await readReset(people, token)).toEqual({ email: session.email })
    expect(await readVerification(people, token)).toBeNull()
    const finished = await finishRegistration(people, visitor(), { token, password: PASSWORD })
    expect(finished).toEqual({ outcome: 'expired' })
  })

  test('set with the old one ends every session except the new one that it opens', async () => {
    const first = await newcomer(people)
    const { email: address } = first.session
    await signIn(people, visitor(), { email: address, password: PASSWORD })
    const wrong = await changePassword(people, visitor(), first.session, { current: 'wrong', next: 'a new password' })
    expect(wrong).toEqual({ outcome: 'refused' })
    const weak = await changePassword(people, visitor(), first.session, { current: PASSWORD, next: '1234567890' })
    expect(weak).toEqual({ outcome: 'invalid', password: 'too_common' })
    expect(await listSessions(people, first.session.accountId)).toHaveLength(2)
    const done = await changePassword(people, visitor(), first.session, { current: PASSWORD, next: 'a new password' })
    expect(done.outcome).toBe('changed')
    expect(await readSession(people, first.token)).toBeNull()
    expect(await listSessions(people, first.session.accountId)).toHaveLength(1)
    expect(done.outcome === 'changed' && (await readSession(people, done.opened.token))).toMatchObject({
      email: address,
    })
  })

  test('an email that cannot be sent is reported, and the change of the password still succeeds', async () => {
    const { session } = await newcomer(people)
    const broken = {
      ...people,
      mailer: { send: () => Promise.reject(new Error('the mail server is down')), close: () => {} },
    }
    const done = await changePassword(broken, visitor(), session, { current: PASSWORD, next: 'a new password' })
    expect(done.outcome).toBe('changed')
    expect(people.failures).toEqual([new Error('the mail server is down')])
  })
})
