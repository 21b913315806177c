/** Every route says how it authenticates, and does what it says. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogue } from '../../src/catalogue/current.ts'
import { PAGES } from '../../src/dashboard/pages.ts'
import { CHAT_ROUTES, OTHER_ROUTES } from '../../src/http/endpoints.ts'
import { createServer } from '../../src/http/server.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { Visitor } from './visitor.ts'

const SECRET = 'a-secret-of-enough-length'

let running: TestGateway
let customer: Visitor
beforeAll(async () => {
  running = await startTestGateway({ environment: { SEPAY_API_KEY: SECRET } })
  customer = new Visitor(running.url)
  await customer.signUp('customer@example.com')
})
afterAll(() => running.close())

/** Parameters that name nothing. */
function filled(path: string): string {
  return path.replace(':id', '999999').replace(':code', 'ST0000000000').replace('/*', '/claude-opus-5')
}

test('a route that does not say how it authenticates keeps the server from starting', () => {
  const server = createServer({
    services: { catalogue, nowMs: () => 0 },
    limits: {},
    banking: { providers: new Map() },
  } as never)
  const handler = () => 'x'
  expect(() => server.get('/forgotten', handler)).toThrow('GET /forgotten does not say how it authenticates')
  expect(() => server.get('/declared', { config: { authentication: 'none' } }, handler)).not.toThrow()
})

test('the server has the routes of the two tables and no others', () => {
  const declared = new Set(
    [...CHAT_ROUTES, ...OTHER_ROUTES, ...PAGES].map(
      ({ method, path }) => `${method} ${path.replace(/\/$/, '') || '/'}`,
    ),
  )
  const unknown: string[] = []
  const lines = running.gateway.server.printRoutes({ commonPrefix: false }).split('\n')
  const path: string[] = []
  for (const line of lines) {
    const found = /^((?:│ {3}| {4})*)(?:├──|└──) (\S+) \(([A-Z, ]+)\)/.exec(line)
    if (found === null) continue
    const depth = (found[1] as string).length / 4
    path.length = depth
    path[depth] = found[2] as string
    for (const method of (found[3] ?? '').split(', ').filter(name => /^[A-Z]+$/.test(name) && name !== 'HEAD')) {
      const url = path
        .join('')
        .replace(/^\/?/, '/')
        .replace(/([^/])\*$/, '$1/*')
        .replace(/(.)\/$/, '$1')
      if (!declared.has(`${method} ${url}`)) unknown.push(`${method} ${url}`)
    }
  }
  expect(unknown.sort()).toEqual([
    'GET /*',
    'GET /assets/:file',
    'GET /development/outbox',
    'POST /webhooks/bank/sepay',
  ])
})

test('pages for people send strangers to sign in, and to nothing else', async () => {
  const stranger = new Visitor(running.url)
  const pages = PAGES.filter(page => page.authentication === 'session')
  expect(pages.length).toBeGreaterThan(15)
  for (const { method, path } of pages) {
    const url = filled(path)
    const reply = method === 'GET' ? await stranger.get(url) : await stranger.post(url)
    const next = method === 'GET' ? `?next=${encodeURIComponent(url)}` : ''
    expect([method, path, reply.status, reply.location]).toEqual([method, path, 303, `/signin${next}`])
  }
})

test('operator pages do not exist for strangers, for customers, and for API keys', async () => {
  const { apiKey } = await running.account(0n)
  const key = new Visitor(running.url)
  key.headers.authorization = `Bearer ${apiKey}`
  key.headers['x-api-key'] = apiKey
  const pages = PAGES.filter(page => page.authentication === 'operator')
  expect(pages.length).toBeGreaterThan(12)
  for (const { method, path } of pages) {
    for (const visitor of [new Visitor(running.url), customer, key]) {
      const url = filled(path)
      const reply = method === 'GET' ? await visitor.get(url) : await visitor.post(url)
      expect([method, path, reply.status]).toEqual([method, path, 404])
    }
  }
})

test('no form is taken from another site, whatever it says of itself', async () => {
  const pages = PAGES.filter(page => page.method === 'POST')
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${running.url}.evil.example` },
    { origin: '', 'sec-fetch-site': 'cross-site' },
    { origin: '', 'sec-fetch-site': 'same-site' },
    { origin: '', 'sec-fetch-site': 'none' },
    { origin: '' },
  ]
  for (const { path } of pages) {
    for (const headers of foreign) {
      expect([path, headers, (await customer.post(filled(path), {}, headers)).status]).toEqual([path, headers, 403])
    }
  }
  // From the address of the pages themselves, and from a browser that sends no origin.
  expect((await customer.post('/topup', { amount: '1' }, { origin: 'http://gateway.test' })).status).toBe(422)
  expect((await customer.post('/topup', { amount: '1' }, { origin: '', 'sec-fetch-site': 'same-origin' })).status).toBe(
    422,
  )
})

test('webhooks want their signature, and are not there without a secret', async () => {
  const body = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
  expect((await fetch(`${running.url}/webhooks/bank/sepay`, body)).status).toBe(401)
  for (const name of ['payos', 'casso', 'signed', 'simulated', 'manual']) {
    expect((await fetch(`${running.url}/webhooks/bank/${name}`, body)).status).toBe(404)
  }
})

test('in production the session cookie is bound to the host, and there is no outbox', async () => {
  const production = await startTestGateway({
    environment: {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://gateway.test',
      DATABASE_URL: 'postgres://unused',
      KEY_ENCRYPTION_KEYS: `1:${Buffer.alloc(32, 1).toString('base64')}`,
      KEY_PEPPERS: `1:${Buffer.alloc(32, 2).toString('base64')}`,
    },
  })
  try {
    const visitor = new Visitor(production.url)
    expect((await visitor.get('/development/outbox')).status).toBe(404)
    const { headers } = await visitor.get('/?language=vi')
    expect(headers.getSetCookie()[0]).toContain('Secure')
    expect(headers.get('strict-transport-security')).toContain('max-age=')
    // Nothing but the public address counts as ours.
    const form = { email: 'a@example.com', password: 'x' }
    expect((await visitor.post('/signin', form)).status).toBe(403)
    expect((await visitor.post('/signin', form, { origin: 'https://gateway.test' })).status).toBe(422)
    const old = 'session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    expect((await visitor.get('/overview', { cookie: old })).status).toBe(303)
  } finally {
    await production.close()
  }
})
