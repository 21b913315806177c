/** Sign-in with Google and GitHub (simulated by local servers), including attempts that must fail. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { PEOPLE_LIMITS } from '../../src/accounts/limits.ts'
import { networkOf } from '../../src/accounts/network.ts'
import { blockAccount } from '../../src/accounts/operator.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { openSession } from '../../src/accounts/sessions.ts'
import { codeOf } from '../support/authenticator.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { type ProviderDouble, startProvider } from '../support/identity-providers.ts'
import { type PageReply, readable, Visitor } from './visitor.ts'

type ProviderName = 'google' | 'github'

let running: TestGateway
let google: ProviderDouble
let github: ProviderDouble
const doubles = () => ({ google, github })
beforeAll(async () => {
  ;[google, github] = await Promise.all([startProvider('google'), startProvider('github')])
  running = await startTestGateway({ environment: { ...google.environment, ...github.environment } })
})
afterAll(async () => {
  await running.close()
  await Promise.all([google.close(), github.close()])
})
beforeEach(() => running.database.sql`delete from throttle`)
afterEach(() => {
  google.restore()
  github.restore()
})

const visitor = () => new Visitor(running.url)
let people = 0
/** A new person with a Gmail address. */
const gmail = () => ({ id: `g-${++people}`, email: `person${people}@gmail.com` })

/** Goes from our page to the provider and returns the path to which the provider redirects back, without opening that path. */
async function way(who: Visitor, name: ProviderName, next = '/overview'): Promise<string> {
  const { location } = await who.get(`/signin/${name}?next=${encodeURIComponent(next)}`)
  return there(location)
}

async function there(url: string): Promise<string> {
  const answer = await fetch(url, { redirect: 'manual' })
  const back = new URL(answer.headers.get('location') ?? '')
  expect(back.origin).toBe('http://gateway.test')
  return back.pathname + back.search
}

const signIn = async (who: Visitor, name: ProviderName, next?: string): Promise<PageReply> =>
  who.get(await way(who, name, next))

async function accountOf(email: string) {
  const [row] = await running.database.sql`
    select account_id::integer as id, password_phc is not null as has_password, email_verified_at is not null as verified
      from account where email = ${email}`
  return row as { id: number; has_password: boolean; verified: boolean } | undefined
}
const isSignedIn = async (who: Visitor) => (await who.get('/account')).status === 200
const subjects = async (email: string) => {
  const rows = await running.database.sql`select subject from mail_sent where email = ${email} order by mail_id`
  return rows.map(({ subject }) => subject as string)
}
const expectRefused = async (reply: PageReply, who: Visitor, words: string) => {
  expect([reply.status, readable(reply.html).includes(words), await isSignedIn(who)]).toEqual([422, true, false])
}
const EXPIRED = 'This sign-in took more than 10 minutes'
const FAILED = 'The provider could not confirm who you are'

describe('a person who signs in for the first time', () => {
  test('has a verified account at once, and is recognised later by the provider’s id, not by the address', async () => {
    const person = gmail()
    google.person = person
    const first = visitor()
    expect((await first.get('/signin?next=%2Fkeys')).html).toContain('href="/signin/google?next&#x3D;%2Fkeys"')
    const done = await signIn(first, 'google', '/keys')
    expect([done.status, done.location, await isSignedIn(first)]).toEqual([303, '/keys', true])
    expect(done.headers.getSetCookie().join()).toMatch(/sign-in=;/)
    const account = await accountOf(person.email)
    expect(account).toMatchObject({ has_password: false, verified: true })
    expect(readable((await first.get('/account/sign-ins')).html)).toContain(`Google On ${person.email}`)
    const { html: page } = await first.get('/account')
    expect([page.includes('name="current"'), page.includes('href="/forgot"')]).toEqual([false, true])
    google.person = { ...person, email: 'renamed@example.com' }
    const second = visitor()
    expect((await signIn(second, 'google')).location).toBe('/overview')
    expect((await second.get('/account')).html).toContain(person.email)
    expect(await accountOf('renamed@example.com')).toBeUndefined()
  })

  test('from GitHub gets an account for the primary, verified address only', async () => {
    const emails = [
      { email: 'first@example.com', primary: false, verified: true },
      { email: 'main@example.com', primary: true, verified: true },
    ]
    github.person = { id: '41', email: 'shown@example.com', emails }
    const who = visitor()
    expect((await signIn(who, 'github')).location).toBe('/overview')
    expect((await who.get('/account')).html).toContain('main@example.com')
    for (const [id, list] of [
      ['42', [{ email: 'unproved@example.com', primary: true, verified: false }]],
      ['43', [{ email: 'second@example.com', primary: false, verified: true }]],
      ['44', []],
    ] as const) {
      github.person = { id, email: 'shown@example.com', emails: list }
      const stranger = visitor()
      await expectRefused(await signIn(stranger, 'github'), stranger, 'no verified primary email address')
    }
    google.person = { id: 'unproved', email: 'unproved@gmail.com', isVerified: false }
    const stranger = visitor()
    await expectRefused(await signIn(stranger, 'google'), stranger, 'no verified primary email address')
    expect([await accountOf('unproved@example.com'), await accountOf('unproved@gmail.com')]).toEqual([
      undefined,
      undefined,
    ])
  })

  test('twice at the same moment gets one account', async () => {
    const person = gmail()
    google.person = person
    const browsers = Array.from({ length: 4 }, visitor)
    const ways = await Promise.all(browsers.map(each => way(each, 'google')))
    const answers = await Promise.all(browsers.map((each, at) => each.get(ways[at] as string)))
    expect(answers.map(({ location }) => location)).toEqual(Array(4).fill('/overview'))
    const rows = await running.database.sql`select from account where email = ${person.email}`
    expect(rows).toHaveLength(1)
  })
})

describe('a provider’s answer is refused', () => {
  test('in a different browser than the one that started the sign-in, so that nobody is signed in to somebody else’s account', async () => {
    google.person = gmail()
    const attacker = visitor()
    const back = await way(attacker, 'google')
    const victim = visitor()
    await expectRefused(await victim.get(back), victim, EXPIRED)
    // The redirect is refused even after the victim has started a sign-in of their own.
    await victim.get('/signin/google')
    await expectRefused(await victim.get(back), victim, FAILED)
  })

  test('the second time, after ten minutes, and from a different provider than the one that was asked', async () => {
    google.person = gmail()
    const again = visitor()
    const back = await way(again, 'google')
    expect((await again.get(back)).location).toBe('/overview')
    again.cookie = again.cookie.replace(/\bsession=[^;]+; /, '')
    expect((await again.get(back)).status).toBe(422)

    const slow = visitor()
    const late = await way(slow, 'google')
    await running.database.sql`update sign_in_attempt set expires_at = now()`
    await expectRefused(await slow.get(late), slow, EXPIRED)

    const mixed = visitor()
    const swapped = (await way(mixed, 'google')).replace('/signin/google/', '/signin/github/')
    await expectRefused(await mixed.get(swapped), mixed, EXPIRED)
    const told = github.tokenRequests.length
    github.person = { id: '50', email: 'mixed@example.com' }
    github.answer = query => query.set('iss', google.url)
    const other = visitor()
    await expectRefused(await signIn(other, 'github'), other, FAILED)
    // GitHub was not asked to exchange the code for a token.
    expect(github.tokenRequests.length).toBe(told)
  })

  test.each([
    ['another state', (query: URLSearchParams) => query.set('state', 'x'.repeat(43))],
    ['no state', (query: URLSearchParams) => query.delete('state')],
    ['another issuer', (query: URLSearchParams) => query.set('iss', 'https://accounts.evil.example')],
    ['no issuer where one is promised', (query: URLSearchParams) => query.delete('iss')],
    ['a code that was never given', (query: URLSearchParams) => query.set('code', 'made-up')],
    ['no code', (query: URLSearchParams) => query.delete('code')],
  ])('with %s', async (_, change) => {
    google.person = gmail()
    google.answer = change
    const who = visitor()
    await expectRefused(await signIn(who, 'google'), who, FAILED)
  })

  test.each([
    ['another nonce', { nonce: 'x'.repeat(43) }],
    ['no nonce', { nonce: undefined }],
    ['another audience', { aud: 'somebody-else' }],
    ['another issuer', { iss: 'https://accounts.evil.example' }],
    ['expired', { iat: 1, exp: 3600 }],
    ['nobody in it', { sub: undefined }],
  ])('with a token that has %s', async (_, change) => {
    google.person = gmail()
    google.claims = claims => Object.assign(claims, change)
    const who = visitor()
    await expectRefused(await signIn(who, 'google'), who, FAILED)
  })

  test('with a token that somebody else signed', async () => {
    google.person = gmail()
    google.forges = true
    const who = visitor()
    await expectRefused(await signIn(who, 'google'), who, FAILED)
  })

  test('when the person cancels, and when the provider is down, each with an explanation', async () => {
    google.person = gmail()
    google.answer = query => {
      query.delete('code')
      query.set('error', 'access_denied')
    }
    const who = visitor()
    await expectRefused(await signIn(who, 'google'), who, 'You cancelled.')
    google.restore()
    const back = await way(who, 'google')
    google.isDown = true
    await expectRefused(await who.get(back), who, FAILED)
  })

  test('and a target outside our own pages is ignored', async () => {
    google.person = gmail()
    for (const next of ['https://evil.example', '//evil.example', '/\\evil.example']) {
      expect((await signIn(visitor(), 'google', next)).location).toBe('/overview')
    }
  })
})

describe('an address that has an account', () => {
  test('is linked only by its owner, who enters the password once; then the provider is enough, and the owner is notified', async () => {
    const owner = visitor()
    const person = gmail()
    const { email, password } = await owner.signUp(person.email)
    google.person = person
    const who = visitor()
    expect((await signIn(who, 'google', '/usage')).location).toBe('/signin/link')
    expect(await isSignedIn(who)).toBe(false)
    const question = await who.get('/signin/link')
    expect(readable(question.html)).toContain(`There is an account for ${email}.`)
    const wrong = await who.post('/signin/link', { password: 'a guess' })
    expect([wrong.status, readable(wrong.html).includes('Incorrect password.')]).toEqual([422, true])
    expect(await isSignedIn(who)).toBe(false)
    const agree = () => who.post('/signin/link', { password })
    const answers = await Promise.all([agree(), agree()])
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 422])
    expect(await isSignedIn(who)).toBe(true)
    await expect.poll(() => subjects(email)).toContain('Google was linked to your account at SVC')
    const later = visitor()
    expect((await signIn(later, 'google')).location).toBe('/overview')
    // A browser that has not signed in through Google cannot open the page that asks for the password.
    expect((await visitor().get('/signin/link')).status).toBe(422)
  })

  test('is linked by an emailed link that works only in the browser that requested it', async () => {
    const { email } = await visitor().signUp('mailbox@example.com')
    github.person = { id: '60', email }
    const who = visitor()
    await signIn(who, 'github')
    expect((await who.post('/signin/link/mail')).location).toBe('/signin/link/sent')
    const link = await who.mailedLink('/signin/link/confirm', email)
    const token = new URL(`http://x${link}`).searchParams.get('token') as string
    // `who` may be a stranger whose GitHub account claims the owner's address. The link must fail in the owner's own browser.
    const owner = visitor()
    for (const browser of [owner, visitor()]) {
      expect((await browser.get(link)).status).toBe(422)
      expect((await browser.post('/signin/link/confirm', { token })).status).toBe(422)
    }
    expect((await who.post('/signin/link/confirm', { token: 'x'.repeat(43) })).status).toBe(422)
    expect(await isSignedIn(who)).toBe(false)
    expect(readable((await who.get(link)).html)).toContain(`signing in to your account ${email} with`)
    expect((await who.post('/signin/link/confirm', { token })).location).toBe('/overview')
    expect([await isSignedIn(who), (await who.get(link)).status]).toEqual([true, 422])
  })

  test('with a second factor still requires it', async () => {
    const owner = visitor()
    const person = gmail()
    const { password } = await owner.signUp(person.email)
    const page = await owner.get('/account/second-factor')
    const secret = /<code>([A-Z2-7 ]{39})<\/code>/.exec(page.html)?.[1] as string
    const offer = /name="offer" value="([^"]+)"/.exec(page.html)?.[1] as string
    expect((await owner.post('/account/second-factor/enrol', { offer, code: codeOf(secret) })).status).toBe(200)
    google.person = person
    const who = visitor()
    await signIn(who, 'google')
    expect((await who.post('/signin/link', { password })).status).toBe(303)
    expect((await who.get('/overview')).location).toContain('/account/second-factor')
    const later = visitor()
    await signIn(later, 'google')
    expect((await later.get('/keys')).location).toContain('/account/second-factor')
  })

  test('and is blocked stays closed', async () => {
    const person = gmail()
    google.person = person
    await signIn(visitor(), 'google')
    const { id } = (await accountOf(person.email))!
    await blockAccount(running.database.sql, { accountId: id, by: COMMAND_LINE, reason: 'test' })
    const who = visitor()
    await expectRefused(await signIn(who, 'google'), who, 'This account is blocked.')
    github.person = { id: '61', email: person.email }
    await expectRefused(await signIn(who, 'github'), who, 'This account is blocked.')
  })
})

describe('somebody who registered an address without verifying it', () => {
  test('loses password, session and linked sign-ins once the owner of the address signs in', async () => {
    const { sql } = running.database
    const person = gmail()
    // The attacker registered but could not confirm, because the link went to the owner's mailbox.
    const attacker = visitor()
    await attacker.post('/register', { email: person.email, password: 'chosen by the attacker' })
    const link = await attacker.mailedLink('/verify', person.email)
    google.person = person
    expect((await signIn(visitor(), 'google')).location).toBe('/overview')
    expect((await visitor().get(link)).status).toBe(410)
    const guess = { email: person.email, password: 'chosen by the attacker' }
    expect((await visitor().post('/signin', guess)).status).toBe(422)

    // An unverified account with another person's password, session and GitHub sign-in.
    const other = gmail()
    const { accountId } = await createAccount(sql, other.email)
    const [known] = await sql`select password_phc from account where password_phc is not null limit 1`
    await sql`update account set password_phc = ${known?.password_phc} where account_id = ${accountId}`
    const opened = await openSession(sql, PEOPLE_LIMITS, {
      accountId,
      visitor: { ipAddress: '10.0.0.1', userAgent: '', language: 'en' },
    })
    await sql`insert into identity (provider, subject, account_id, email, is_authoritative)
              values (2, '70', ${accountId}, ${other.email}, false)`
    const squatter = visitor()
    squatter.cookie = `session=${opened.token}`
    expect(await isSignedIn(squatter)).toBe(true)
    google.person = other
    const owner = visitor()
    expect((await signIn(owner, 'google')).location).toBe('/overview')
    expect(await accountOf(other.email)).toEqual({ id: accountId, has_password: false, verified: true })
    expect([await isSignedIn(squatter), await isSignedIn(owner)]).toEqual([false, true])
    github.person = { id: '70', email: other.email }
    expect((await signIn(visitor(), 'github')).location).toBe('/signin/link')
  })

  test('through a provider that does not run the mailbox takes over no account, and is locked out by a password reset', async () => {
    const { sql } = running.database
    const made = 'by-an-operator@example.com'
    await createAccount(sql, made)
    github.person = { id: '71', email: made }
    expect((await signIn(visitor(), 'github')).location).toBe('/signin/link')
    google.person = { id: 'g-71', email: made }
    expect((await signIn(visitor(), 'google')).location).toBe('/signin/link')

    // Google verified these addresses once, but does not run their mailboxes.
    for (const [email, hd] of [
      ['squatted@example.com', undefined],
      ['own-domain@example.com', 'example.com'],
    ] as const) {
      google.person = { id: `g-${email}`, email, ...(hd !== undefined && { hd }) }
      const squatter = visitor()
      expect((await signIn(squatter, 'google')).location).toBe('/overview')
      const owner = visitor()
      await owner.post('/forgot', { email })
      const token = new URL(`http://x${await owner.mailedLink('/reset', email)}`).searchParams.get('token') as string
      expect((await owner.post('/reset', { token, password: 'found in the mailbox' })).location).toBe('/overview')
      expect(await isSignedIn(squatter)).toBe(false)
      expect((await signIn(visitor(), 'google')).location).toBe(hd === undefined ? '/signin/link' : '/overview')
    }
    // The owner can also register, because the account has no password.
    const email = 'registers@example.com'
    github.person = { id: '72', email }
    const squatter = visitor()
    await signIn(squatter, 'github')
    await visitor().signUp(email)
    expect(await isSignedIn(squatter)).toBe(false)
    expect((await signIn(visitor(), 'github')).location).toBe('/signin/link')
  })
})

describe('from the account’s page', () => {
  const stale = (email: string) => running.database.sql`
    update session set password_checked_at = now() - interval '6 minutes'
     where account_id = (select account_id from account where email = ${email})`
  const link = async (who: Visitor, name: ProviderName, form = {}) => {
    const begun = await who.post(`/account/sign-ins/${name}`, form)
    expect([begun.status, begun.location]).toEqual([303, `/account/sign-ins/${name}`])
    const page = await who.get(begun.location)
    const url = new RegExp(`href="(${doubles()[name].url}[^"]+)"`).exec(page.html)?.[1] as string
    return there(url.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='))
  }

  test('linking a provider requires the password; a link can be removed, unless it is the last way to sign in', async () => {
    const owner = visitor()
    const { email, password } = await owner.signUp('collector@example.com')
    await stale(email)
    expect((await owner.post('/account/sign-ins/google')).status).toBe(422)
    expect((await owner.post('/account/sign-ins/google', { password: 'a guess' })).status).toBe(422)
    google.person = { id: 'g-80', email: 'other-name@gmail.com' }
    github.person = { id: '80', email: 'third-name@example.com' }
    expect((await owner.get(await link(owner, 'google', { password }))).location).toBe(
      '/account/sign-ins?done=linked_google',
    )
    expect((await owner.get(await link(owner, 'github'))).location).toBe('/account/sign-ins?done=linked_github')
    const page = readable((await owner.get('/account/sign-ins?done=linked_google')).html)
    expect(page).toContain('Google is linked.')
    for (const name of ['google', 'github'] as const) {
      const who = visitor()
      expect((await signIn(who, name)).location).toBe('/overview')
      expect((await who.get('/account')).html).toContain(email)
    }
    await running.database.sql`update account set password_phc = null where email = ${email}`
    const remove = (name: ProviderName) => owner.post(`/account/sign-ins/${name}/remove`)
    const answers = await Promise.all([remove('google'), remove('github')])
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 422])
    expect(answers.map(({ html }) => readable(html)).join()).toContain('This is the last way in')
    const gone = answers[0]?.status === 303 ? 'google' : 'github'
    await expect
      .poll(() => subjects(email))
      .toContain(`${gone === 'google' ? 'Google' : 'GitHub'} was removed from your account at SVC`)
    expect((await remove(gone)).status).toBe(404)
    // People without a password prove that the account is theirs by signing in again.
    await stale(email)
    const asked = await owner.post(`/account/sign-ins/${gone}`)
    expect([asked.status, readable(asked.html).includes('This account has no password.')]).toEqual([422, true])
    const left = gone === 'google' ? 'github' : 'google'
    await signIn(owner, left)
    expect((await owner.post(`/account/sign-ins/${gone}`)).status).toBe(303)
  })

  test('nobody can be made to link a sign-in that somebody else began or already uses', async () => {
    const owner = visitor()
    const { email } = await owner.signUp('target@example.com')
    const attacker = visitor()
    await attacker.signUp('attacker@example.com')
    google.person = { id: 'g-attacker', email: 'attacker@gmail.com' }
    const back = await link(attacker, 'google')
    expect((await owner.get(back)).status).toBe(422)
    // An account starts linking, and another account finishes it in the same browser.
    const shared = visitor()
    shared.cookie = attacker.cookie
    const again = await link(shared, 'google')
    const attempt = /sign-in=[^;]+/.exec(shared.cookie)?.[0]
    owner.cookie = `${owner.cookie}; ${attempt}`
    expect((await owner.get(again)).status).toBe(422)
    expect(readable((await owner.get('/account/sign-ins')).html)).not.toContain('attacker@gmail.com')
    // The attacker's Google account is already linked to the attacker's own account.
    expect((await attacker.get(await link(attacker, 'google'))).location).toBe('/account/sign-ins?done=linked_google')
    const taken = await owner.get(await link(owner, 'google'))
    expect(taken.location).toBe('/account/sign-ins?done=taken_google')
    expect(readable((await owner.get(taken.location)).html)).toContain('is linked to another account')
    const who = visitor()
    await signIn(who, 'google')
    expect((await who.get('/account')).html).not.toContain(email)
  })

  test('an account without a password can be deleted after signing in again, and the next sign-in starts a new account', async () => {
    const person = gmail()
    google.person = person
    const owner = visitor()
    await signIn(owner, 'google')
    const before = await accountOf(person.email)
    await owner.topUp('50.000')
    const { path } = await owner.createKey('own')
    await stale(person.email)
    expect((await owner.get(path)).html).toContain('href="/signin/google?next')
    expect((await owner.post(`${path}/show`, { password: '' })).html).not.toMatch(/sk-svc-/)
    const refused = await owner.post('/account/delete', { confirm: person.email })
    expect([refused.status, refused.html.includes('href="/signin/google?next')]).toEqual([422, true])
    expect((await signIn(owner, 'google', '/account/delete')).location).toBe('/account/delete')
    expect((await owner.post('/account/delete', { confirm: person.email })).location).toBe('/account/deleted')
    const again = visitor()
    expect((await signIn(again, 'google')).location).toBe('/overview')
    expect((await accountOf(person.email))?.id).not.toBe(before?.id)
  })
})

test('no token, code or secret of a sign-in is stored', async () => {
  const { sql } = running.database
  google.person = gmail()
  const who = visitor()
  await who.get('/signin/google')
  const [attempt] = await sql`select * from sign_in_attempt order by expires_at desc limit 1`
  const token = /sign-in=([^;]+)/.exec(who.cookie)?.[1] as string
  expect(JSON.stringify(attempt)).not.toContain(token)
  const columns = await sql`select column_name from information_schema.columns
    where table_name in ('identity', 'sign_in_attempt') and column_name ~ 'token|code|secret|nonce|state|verifier'`
  expect(columns).toHaveLength(0)
})

test('a network that begins attempts without end is told to wait, and leaves no more rows behind', async () => {
  const { sql } = running.database
  const begun = async () => Number((await sql`select count(*) from sign_in_attempt`)[0]?.count)
  const network = networkOf('127.0.0.1')
  await sql`insert into throttle (kind, subject, attempts)
    values (14, ${network}, ${PEOPLE_LIMITS.attemptsPerNetworkMax - 1})`
  const before = await begun()
  expect((await visitor().get('/signin/google')).location).toContain(google.url)
  const refused = await visitor().get('/signin/github')
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  expect(await begun()).toBe(before + 1)
})
