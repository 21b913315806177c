/** What pages reveal to browsers: headers and cookies, no secrets in addresses, no internals in errors. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PAGES } from '../../src/dashboard/pages.ts'
import { PASSWORD, type PageReply, Visitor } from '../dashboard/visitor.ts'
import { PRODUCTION, startTestGateway, type TestGateway } from '../support/gateway.ts'

let running: TestGateway
let production: TestGateway
let operator: Visitor
beforeAll(async () => {
  running = await startTestGateway({ environment: { TRUSTED_PROXIES: '192.0.2.7' } })
  production = await startTestGateway({ environment: PRODUCTION })
  operator = new Visitor(running.url)
  await operator.signUp('operator@example.com')
  await running.database.sql`update account set is_operator = true where email = 'operator@example.com'`
})
afterAll(async () => {
  await running.close()
  await production.close()
})

function filled(path: string): string {
  return path.replace(':id', '1').replace(':code', 'ST0000000000').replace('*', 'claude-opus-5')
}

function expectSafe({ headers, html }: PageReply, path: string) {
  const policy = new Map(
    (headers.get('content-security-policy') ?? '').split('; ').map(rule => [rule.split(' ')[0], rule]),
  )
  expect([path, policy.get('default-src')]).toEqual([path, "default-src 'none'"])
  expect([path, policy.get('script-src')]).toEqual([path, "script-src 'self'"])
  expect([path, policy.get('style-src')]).toEqual([path, "style-src 'self'"])
  expect([path, policy.get('frame-ancestors')]).toEqual([path, "frame-ancestors 'none'"])
  expect([path, policy.get('base-uri'), policy.get('form-action')]).toEqual([
    path,
    "base-uri 'none'",
    "form-action 'self'",
  ])
  expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff'])
  expect([path, headers.get('x-frame-options')]).toEqual([path, 'DENY'])
  expect([path, headers.get('referrer-policy')]).toEqual([path, 'same-origin'])
  expect([path, headers.get('cross-origin-opener-policy')]).toEqual([path, 'same-origin'])
  expect([path, headers.get('cache-control') ?? '']).toEqual([
    path,
    expect.stringMatching(/no-store|no-cache|^public, max-age=300$/),
  ])
  expect([path, headers.get('server'), headers.get('x-powered-by')]).toEqual([path, null, null])
  expect([path, /<script(?![^>]+src=)|\son\w+="|\sstyle="|javascript:/i.test(html)]).toEqual([path, false])
}

/** Files that are identical for everybody. */
const ALIKE_FOR_ALL = ['/openapi.json', '/robots.txt', '/sitemap.xml', '/favicon.ico']

test('every page, for everybody and with every status, has the security headers', async () => {
  for (const { method, path } of PAGES) {
    for (const visitor of [operator, new Visitor(running.url)]) {
      if (path === '/signout') continue
      const reply =
        method === 'GET'
          ? await visitor.get(filled(path))
          : await visitor.post(filled(path), {}, { origin: 'https://evil.example' })
      expectSafe(reply, `${method} ${path}`)
      if (visitor === operator && !ALIKE_FOR_ALL.includes(path)) {
        expect([path, reply.headers.get('cache-control')]).toEqual([path, 'no-store'])
      }
    }
  }
})

test('in production pages promise TLS, too', async () => {
  const visitor = new Visitor(production.url)
  const { html } = await visitor.get('/')
  const style = /"(\/assets\/app\.[^"]+)"/.exec(html)?.[1] as string
  for (const path of ['/', '/signin', '/overview', '/operator', '/nothing', style, '/assets/none.js']) {
    const { headers } = await visitor.get(path)
    expect([path, headers.get('strict-transport-security')]).toEqual([path, expect.stringMatching(/^max-age=\d{8}/)])
  }
})

test('browsers are told not to guess the type of scripts and styles', async () => {
  const { html } = await operator.get('/')
  const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path as string)
  expect(files.length).toBeGreaterThan(2)
  for (const path of [...files, '/assets/none.js', '/assets/..%2f..%2fpackage.json']) {
    const { headers, status } = await operator.get(path)
    expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff'])
    expect([200, 404]).toContain(status)
  }
})

test('scripts and other sites cannot get at cookies', async () => {
  const visitor = new Visitor(running.url)
  const reply = await visitor.post('/signin', { email: 'operator@example.com', password: PASSWORD })
  const cookie = reply.headers.getSetCookie().find(line => line.startsWith('session=')) as string
  expect(cookie).toMatch(/; HttpOnly/)
  expect(cookie).toMatch(/; SameSite=Lax/)
  expect(cookie).toMatch(/; Path=\//)
  expect(cookie).not.toMatch(/; Domain=/)
  expect(decodeURIComponent(cookie.split(/[=;]/)[1] as string)).toMatch(/^[\w-]{43}$/)
})

describe('addresses', () => {
  test('no form sends a password, a token or a key in an address, and no link contains a key or a session', async () => {
    const customer = new Visitor(running.url)
    await customer.signUp('customer@example.com')
    await customer.topUp('100000')
    const { key } = await customer.createKey('own')
    for (const { method, path } of PAGES) {
      if (method !== 'GET') continue
      const { html, location } = await customer.get(filled(path))
      for (const [form] of html.matchAll(/<form[\s\S]*?<\/form>/g)) {
        const isGet = !/<form[^>]+method="post"/i.test(form)
        if (isGet)
          expect([path, /type="password"|name="(token|key|password)"/.test(form) && !/name="key"/.test(form)]).toEqual([
            path,
            false,
          ])
      }
      const links = [...html.matchAll(/(?:href|action|src|hx-\w+)="([^"]*)"/g)].map(([, to]) => to as string)
      for (const to of [...links, location]) {
        expect([path, to.includes(key), to.includes(customer.cookie.replace(/^.*session=/, ''))]).toEqual([
          path,
          false,
          false,
        ])
      }
    }
  })

  test('the page of an emailed link passes its address on to nobody', async () => {
    const { headers, html } = await operator.get(`/reset?token=${'a'.repeat(43)}`)
    expect(headers.get('referrer-policy')).toBe('same-origin')
    expect(html).not.toMatch(/https?:\/\/(?!gateway\.test)/)
  })
})

test('errors reveal no internals, as a page and as JSON', async () => {
  const { sql } = running.database
  await sql`alter table topup_order rename to topup_order_away`
  try {
    const page = await operator.get('/operator/orders')
    expect(page.status).toBe(500)
    expectSafe(page, '/operator/orders')
    expect(page.html).not.toMatch(/topup_order|relation|select|\.ts:\d|node_modules|postgres/i)
  } finally {
    await sql`alter table topup_order_away rename to topup_order`
  }
  for (const path of ['/nothing', '/v1/nothing', '/assets/nothing.js', '/keys/%00', '/models/%2e%2e%2fetc']) {
    for (const accept of ['text/html', 'application/json']) {
      const { status, html } = await operator.get(path, { accept })
      expect([path, status]).toEqual([path, expect.toSatisfy((code: number) => code === 400 || code === 404)])
      expect(html).not.toMatch(/\.ts:\d|node_modules|Fastify|FST_/)
    }
  }
})

test('what people type comes back as text, even if it looks like a template or like markup', async () => {
  const texts = [
    '{{7*7}}',
    '{{constructor.constructor}}',
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '#{7*7}',
    '{{{t "signin.title"}}}',
  ]
  for (const typed of texts) {
    const query = encodeURIComponent(typed)
    const replies = await Promise.all([
      operator.get(`/operator/accounts?q=${query}`),
      operator.get(`/operator/orders?q=${query}`),
      operator.get(`/models?q=${query}`),
      operator.get(`/signin?next=${query}`),
      operator.get(`/usage?model=${query}&from=${query}`),
      new Visitor(running.url).post('/signin', { email: typed, password: 'x' }),
      new Visitor(running.url).post('/register', { email: typed, password: 'x' }),
      operator.post('/topup', { amount: typed }),
    ])
    for (const { html, status } of replies) {
      expect(status).toBeLessThan(500)
      expect(html).not.toContain('<script>alert')
      expect(html).not.toContain('<img src=x')
      expect(html).not.toMatch(/>\s*49\s*</)
    }
    await running.database.sql`delete from throttle`
  }
})

describe('the address of a visitor', () => {
  const networks = async () =>
    (await running.database.sql`select subject from throttle`).map(({ subject }) => subject as string)
  const fail = (headers: Record<string, string>) =>
    new Visitor(running.url).post('/signin', { email: 'nobody@example.com', password: 'wrong' }, headers)

  test('is not taken from a header that anybody but a trusted proxy sent', async () => {
    await running.database.sql`delete from throttle`
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip']) {
      await fail({ [name]: name === 'forwarded' ? 'for=203.0.113.9' : '203.0.113.9' })
    }
    expect((await networks()).join()).toContain('127.0.0.0/24')
    expect((await networks()).join()).not.toContain('203.0.113')
  })

  test('is taken from a trusted proxy’s header, and only from the part that the proxy itself added', async () => {
    const behind = await startTestGateway({ environment: { TRUSTED_PROXIES: '127.0.0.1,192.0.2.7' } })
    try {
      const visitor = new Visitor(behind.url)
      // The client wrote the first address itself; the proxies that we trust added the others.
      const headers = { 'x-forwarded-for': '10.9.9.9, 203.0.113.9, 192.0.2.7' }
      await visitor.post('/signin', { email: 'nobody@example.com', password: 'wrong' }, headers)
      const rows = await behind.database.sql`select subject from throttle`
      const subjects = rows.map(({ subject }) => subject as string).join()
      expect(subjects).toContain('203.0.113.0/24')
      expect(subjects).not.toContain('10.9.9')
    } finally {
      await behind.close()
    }
  })
})
