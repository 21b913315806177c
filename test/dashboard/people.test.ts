/** Registering, signing in and out, passwords and sessions, as a person meets them. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { PASSWORD, readable, Visitor } from './visitor.ts'

let running: TestGateway
beforeAll(async () => {
  running = await startTestGateway()
})
afterAll(() => running.close())

/** From an address of its own, so that no test is throttled for another. */
function newVisitor(): Visitor {
  return new Visitor(running.url)
}

test('registering, confirming by mail, signing out and in again', async () => {
  const visitor = newVisitor()
  const { email, password } = await visitor.signUp('lan@example.com')
  const overview = await visitor.get('/overview')
  expect(readable(overview.html)).toContain('Three steps to your first call')
  expect(overview.headers.get('cache-control')).toBe('no-store')
  expect((await visitor.get('/signin')).location).toBe('/overview')
  const out = await visitor.post('/signout')
  expect([out.status, out.location]).toEqual([303, '/'])
  expect((await visitor.get('/overview')).location).toBe('/signin?next=%2Foverview')
  const form = await visitor.get('/signin?next=%2Fkeys')
  expect(form.html).toContain('name="next" value="/keys"')
  expect((await visitor.post('/signin', { email, password, next: '/keys' })).location).toBe('/keys')
})

test('the session cookie is out of reach of scripts and other sites', async () => {
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

test('after five wrong passwords there is a wait, which says how long', async () => {
  const visitor = newVisitor()
  const form = { email: 'throttled@example.com', password: 'wrong' }
  for (let attempt = 0; attempt < 5; attempt++) expect((await visitor.post('/signin', form)).status).toBe(422)
  const sixth = await visitor.post('/signin', form)
  expect(sixth.status).toBe(429)
  expect(Number(sixth.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(readable(sixth.html)).toContain('Too many attempts')
})

test('bad input is named beside its field, and what was typed stays, but for the password', async () => {
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

test('a confirmation link works once, needs the password, and survives a mail scanner', async () => {
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

test('links that have grown old say so, and do nothing', async () => {
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

test('changing the password wants the present one and ends all other sessions', async () => {
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

test('public pages are there while the database is not, and pages for people say no more than that they failed', async () => {
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
