import { afterAll, describe, expect, test } from 'vitest'
import { createAccount, findAccountByEmail } from '../../src/accounts/accounts.ts'
import { finishRegistration, readVerification, register } from '../../src/accounts/register.ts'
import { signIn } from '../../src/accounts/sign-in.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { linkToken, newAddress, newcomer, PASSWORD, testPeople, visitor } from './people.ts'

const database = await createTestDatabase()
const { sql } = database
const people = testPeople(sql)
afterAll(() => database.drop())

test('no account exists until the link is opened and the password typed again; then the person is verified and signed in', async () => {
  const email = newAddress()
  expect(await register(people, visitor(), { email: ` ${email} `, password: PASSWORD })).toEqual({
    outcome: 'accepted',
  })
  expect(await findAccountByEmail(sql, email)).toBeNull()
  const mail = people.mails.at(-1)!
  expect(mail).toMatchObject({ to: email, subject: 'Xác nhận địa chỉ email của bạn tại SVC' })
  expect(mail.text).toContain('https://gateway.test/verify?token=')
  const token = linkToken(people, email)
  expect(await readVerification(people, token)).toEqual({ email })
  expect(await readVerification(people, token)).toEqual({ email })
  const wrong = await finishRegistration(people, visitor(), { token, password: 'another password' })
  expect(wrong).toEqual({ outcome: 'wrong_password' })
  const done = await finishRegistration(people, visitor(), { token, password: PASSWORD })
  expect(done).toMatchObject({
    outcome: 'verified',
    opened: { maxAgeSeconds: 30 * 86_400, session: { email, role: null, emailVerifiedAt: expect.any(Date) } },
  })
  expect(await findAccountByEmail(sql, email)).toMatchObject({ balanceMicroVnd: 0n })
  expect(await finishRegistration(people, visitor(), { token, password: PASSWORD })).toEqual({ outcome: 'expired' })
  expect(await readVerification(people, token)).toBeNull()
})

test('a known address gets the same answer, and an email in the visitor’s language that says so', async () => {
  const email = newAddress()
  await newcomer(people, email)
  const answer = await register(people, visitor({ language: 'en' }), {
    email: email.toUpperCase(),
    password: 'some other password',
  })
  expect(answer).toEqual({ outcome: 'accepted' })
  expect(people.mails.at(-1)).toMatchObject({ to: email.toUpperCase(), subject: 'You already have an account at SVC' })
  expect(people.mails.at(-1)?.text).not.toContain('token=')
  expect((await signIn(people, visitor(), { email, password: PASSWORD })).outcome).toBe('signed_in')
})

test('registering somebody else’s address achieves nothing', async () => {
  const email = newAddress()
  await register(people, visitor(), { email, password: 'password of a thief' })
  await register(people, visitor(), { email, password: PASSWORD })
  const token = linkToken(people, email)
  await register(people, visitor(), { email, password: 'password of a thief' })
  const laterLink = linkToken(people, email)
  const opened = await finishRegistration(people, visitor(), { token: laterLink, password: PASSWORD })
  expect(opened).toEqual({ outcome: 'wrong_password' })
  expect((await finishRegistration(people, visitor(), { token, password: PASSWORD })).outcome).toBe('verified')
  const thief = await finishRegistration(people, visitor(), { token: laterLink, password: 'password of a thief' })
  expect(thief).toEqual({ outcome: 'expired' })
  const attempt = await signIn(people, visitor(), { email, password: 'password of a thief' })
  expect(attempt).toEqual({ outcome: 'refused' })
})

test('an account that an operator created gets its password through registration, and keeps its number', async () => {
  const email = newAddress()
  const { accountId } = await createAccount(sql, email)
  const opened = await newcomer(people, email.toUpperCase())
  expect(opened.session).toMatchObject({ accountId, email })
})

test('a link never replaces a password that was set meanwhile', async () => {
  const email = newAddress()
  await register(people, visitor(), { email, password: PASSWORD })
  const { accountId } = await createAccount(sql, email)
  await sql.unsafe(`update account set password_phc = 'set meanwhile' where account_id = $1::text::bigint`, [
    String(accountId),
  ])
  const done = await finishRegistration(people, visitor(), { token: linkToken(people, email), password: PASSWORD })
  expect(done).toEqual({ outcome: 'expired' })
  const rows = await sql.unsafe('select password_phc from account where account_id = $1::text::bigint', [
    String(accountId),
  ])
  expect(rows).toEqual([{ password_phc: 'set meanwhile' }])
})

test('one link opened many times at once makes one account and one session', async () => {
  const email = newAddress()
  await register(people, visitor(), { email, password: PASSWORD })
  const token = linkToken(people, email)
  const from = visitor()
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => finishRegistration(people, from, { token, password: PASSWORD })),
  )
  expect(answers.map(answer => answer.outcome).toSorted()).toEqual(['expired', 'expired', 'expired', 'verified'])
})

test('a link works for a day and no longer', async () => {
  const email = newAddress()
  await register(people, visitor(), { email, password: PASSWORD })
  const token = linkToken(people, email)
  const age = (hours: number) =>
    sql.unsafe(
      `update email_token set expires_at = created_at + interval '1 day' - make_interval(hours => $2::text::integer)
      where email_key = $1`,
      [email, String(hours)],
    )
  await age(23)
  expect(await readVerification(people, token)).toEqual({ email })
  await age(25)
  expect(await readVerification(people, token)).toBeNull()
  expect(await finishRegistration(people, visitor(), { token, password: PASSWORD })).toEqual({ outcome: 'expired' })
})

test.each(['', 'x', `${'a'.repeat(43)}'`, 'a'.repeat(100), `${'a'.repeat(42)}\0`, 'ă'.repeat(43)])(
  'the token %j is treated like an expired one',
  async token => {
    expect(await readVerification(people, token)).toBeNull()
    expect(await finishRegistration(people, visitor(), { token, password: PASSWORD })).toEqual({ outcome: 'expired' })
  },
)

test('says what is wrong with an address and a password, both at once', async () => {
  const answer = await register(people, visitor(), { email: 'not an address', password: 'short' })
  expect(answer).toEqual({ outcome: 'invalid', email: 'malformed', password: 'too_short' })
})

test.each([
  '1,ann@example.com',
  '<ann@example.com>',
  'x:ann@example.com;',
  '(x)ann@example.com',
  'ann\u202e@example.com',
])('the address %j, which a mail server may take for another one, is refused', async email => {
  const answer = await register(people, visitor(), { email, password: PASSWORD })
  expect(answer).toEqual({ outcome: 'invalid', email: 'malformed' })
})

test('no password and no token is in the database in plain text', async () => {
  const email = newAddress()
  await register(people, visitor(), { email, password: PASSWORD })
  const token = linkToken(people, email)
  const rows = await sql.unsafe(
    `select count(*)::integer as found from email_token t where t::text like '%' || $1 || '%' or t::text like '%' || $2 || '%'`,
    [PASSWORD, token],
  )
  expect(rows[0]?.found).toBe(0)
})

describe('quotas within an hour', () => {
  const few = testPeople(
    sql,
    { mailsPerHourMax: 2, registrationsPerNetworkMax: 3 },
    { hash: async password => `$fake$${password}`, verify: async () => false },
  )

  test('an address gets no more emails than allowed', async () => {
    const email = newAddress()
    const answers = []
    for (let turn = 0; turn < 3; turn++) answers.push(await register(few, visitor(), { email, password: PASSWORD }))
    expect(answers).toEqual([
      { outcome: 'accepted' },
      { outcome: 'accepted' },
      { outcome: 'throttled', retryAfterSeconds: expect.any(Number) },
    ])
    expect(few.mails.filter(mail => mail.to === email)).toHaveLength(2)
    await sql.unsafe(`update throttle set at = at - interval '61 minutes'`)
    expect(await register(few, visitor(), { email, password: PASSWORD })).toEqual({ outcome: 'accepted' })
  })

  test('a network gets no more registrations than allowed, while another one still gets its own', async () => {
    const from = (host: number) => visitor({ ipAddress: `203.0.113.${host}` })
    const tries = [1, 2, 3, 4].map(host => register(few, from(host), { email: newAddress(), password: PASSWORD }))
    const outcomes = (await Promise.all(tries)).map(answer => answer.outcome)
    expect(outcomes.toSorted()).toEqual(['accepted', 'accepted', 'accepted', 'throttled'])
    const elsewhere = await register(few, visitor({ ipAddress: '203.0.114.1' }), {
      email: newAddress(),
      password: PASSWORD,
    })
    expect(elsewhere.outcome).toBe('accepted')
  })
})
