/** Every route declares how it authenticates, and refuses every other kind of credential. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blockAccount, setRole } from '../../src/accounts/operator.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { mayDo, OPERATOR_NEEDS, OPERATOR_ROLES, type OperatorRole } from '../../src/accounts/roles.ts'
import { catalogue } from '../../src/catalogue/current.ts'
import { TABS } from '../../src/dashboard/operator/frame.ts'
import type { OperatorPage } from '../../src/dashboard/page.ts'
import { PAGES } from '../../src/dashboard/pages.ts'
import { MODEL_ENDPOINTS } from '../../src/endpoints/index.ts'
import { API_ROUTES } from '../../src/http/endpoints.ts'
import { createServer } from '../../src/http/server.ts'
import { Visitor } from '../dashboard/visitor.ts'
import { startTestGateway, TEST_BANK, type TestGateway } from '../support/gateway.ts'
import { transferMoney } from '../support/transfers.ts'
import { collectRoutes, type RegisteredRoute } from './registered-routes.ts'

const PROVIDERS = {
  ...TEST_BANK,
  SEPAY_API_KEY: 'a-secret-of-enough-length',
  PAYOS_CHECKSUM_KEY: 'a-checksum-key-of-enough-length',
  CASSO_CHECKSUM_KEY: 'another-checksum-key-of-length',
  BANK_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
}

let running: TestGateway
let routes: readonly RegisteredRoute[]
/** A visitor for each kind of credential, keyed by its description. */
const credentials: Record<string, Visitor> = {}
/** Signed-in operators, by their role. */
const operators: Partial<Record<OperatorRole, Visitor>> = {}
/** Paths of objects that another customer owns, such as a key, keyed by the route that they match. */
const owned: Record<string, string> = {}

beforeAll(async () => {
  const collected = collectRoutes()
  running = await startTestGateway({ environment: PROVIDERS })
  collected.stop()
  routes = collected.routes

  const visitor = () => new Visitor(running.url, running)
  const withKey = (apiKey: string) => {
    const holder = visitor()
    Object.assign(holder.headers, { 'x-api-key': apiKey, authorization: `Bearer ${apiKey}` })
    return holder
  }
  const { sql } = running.database
  const customer = visitor()
  await customer.signUp('customer@example.com')
  const order = await customer.order('100000')
  await transferMoney(sql, { memo: order.replace('/topup/', ''), amountVnd: 100_000 })
  const key = await customer.createKey('own')
  const hook = await customer.post('/account/webhooks', { url: 'https://hooks.example/x' })
  await fetch(`${running.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': key.key }, body: '{}' })
  await running.gateway.readiness.idle()
  const [called] = await sql`select call_id from usage`
  const [session] = await sql`select session_id from session order by session_id desc limit 1`
  const [passkey] = await sql`insert into passkey (credential_id, account_id, public_key, sign_count, transports, name)
    select 'x', account_id, 'x', 0, '', 'own' from session where session_id = ${session?.session_id} returning passkey_id`
  Object.assign(owned, {
    '/topup/:code': order,
    '/keys/:id': key.path,
    '/account/webhooks/:id': /\/account\/webhooks\/\d+/.exec(hook.html)?.[0] as string,
    '/usage/:id': `/usage/${called?.call_id}`,
    '/account/sessions/:id': `/account/sessions/${session?.session_id}`,
    '/account/second-factor/passkeys/:id': `/account/second-factor/passkeys/${passkey?.passkey_id}`,
  })

  const stranger = visitor()
  await stranger.signUp('another@example.com')
  const operator = visitor()
  await operator.signUp('operator@example.com')
  await sql`update account set is_operator = true where email = 'operator@example.com'`
  for (const role of OPERATOR_ROLES) {
    const email = `${role}@example.com`
    const { password } = await visitor().signUp(email)
    const [row] = await sql`select account_id from account where email = ${email}`
    await setRole(sql, { accountId: Number(row?.account_id), role, by: COMMAND_LINE })
    operators[role] = visitor()
    expect((await operators[role].post('/signin', { email, password })).location).toBe('/operator')
  }
  const ended = visitor()
  await ended.signUp('ended@example.com')
  const { cookie } = ended
  await ended.post('/signout')
  ended.cookie = cookie

  const good = await running.account(10n ** 12n)
  const revoked = await running.account(10n ** 12n)
  await sql`update api_key set revoked_at = now(), encryption_id = null, encryption_iv = null, ciphertext = null
            where key_id = ${revoked.keyId}`
  const blocked = await running.account(10n ** 12n)
  await blockAccount(sql, { accountId: blocked.accountId, by: COMMAND_LINE, reason: 'test' })
  Object.assign(credentials, {
    nothing: visitor(),
    'a session': stranger,
    'a session that has ended': ended,
    'an operator’s session': operator,
    'an API key': withKey(good.apiKey),
    'a revoked key': withKey(revoked.apiKey),
    'a key of a blocked account': withKey(blocked.apiKey),
    'a key that never was': withKey(`${good.apiKey.slice(0, -2)}xx`),
    'a key as a session': visitor(),
    'a session as a key': withKey(stranger.cookie.replace(/^session=/, '')),
    'an operator’s session as a key': withKey(operator.cookie.replace(/^session=/, '')),
  })
  ;(credentials['a key as a session'] as Visitor).cookie = `session=${good.apiKey}`
})
afterAll(() => running.close())

/** The path with placeholder values that match nothing. */
function filled(path: string): string {
  return path
    .replace(':id', '999999')
    .replace(':code', 'ST0000000000')
    .replace(':file', 'app.css')
    .replace('*', 'claude-opus-5')
}

function call(visitor: Visitor, { method, path, isPage }: RegisteredRoute, to = filled(path)) {
  const accept = isPage ? 'text/html' : '*/*'
  const isApi = /^\/(v1|webhooks|playground\/v1)\//.test(path)
  if (method === 'POST') {
    return isApi
      ? visitor.post(to, {}, { accept, 'content-type': 'application/json' })
      : visitor.post(to, {}, { accept: 'text/html' })
  }
  return method === 'HEAD' ? visitor.head(to, { accept }) : visitor.get(to, { accept })
}

const ofClass = (authentication: string) => routes.filter(route => route.authentication === authentication)

/**
 * Calls every route that has this kind of authentication with each of the named credentials, and returns the response statuses.
 */
async function statuses(authentication: string, names: readonly string[]) {
  const found: [name: string, route: string, status: number, location: string][] = []
  for (const route of ofClass(authentication)) {
    for (const name of names) {
      const { status, location } = await call(credentials[name] as Visitor, route)
      found.push([name, `${route.method} ${route.path}`, status, location])
    }
  }
  return found
}

const all = () => Object.keys(credentials)
const others = (...own: string[]) => all().filter(name => !own.includes(name))

describe('declarations', () => {
  test('a route that does not declare how it authenticates keeps the server from starting', () => {
    const server = bareServer({ production: true })
    const handler = () => 'x'
    expect(() => server.get('/forgotten', handler)).toThrow('GET /forgotten does not say how it authenticates')
    expect(() => server.get('/declared', { config: { authentication: 'none' } }, handler)).not.toThrow()
  })

  test('a route for development keeps a production server from starting', () => {
    const config = { authentication: 'development' } as const
    expect(() => bareServer({ production: true }).get('/tool', { config }, () => 'x')).toThrow('for development only')
    expect(() => bareServer({ production: false }).get('/tool', { config }, () => 'x')).not.toThrow()
  })

  test('every route of the server declares how it authenticates', () => {
    expect(routes.length).toBeGreaterThan(100)
    expect(routes.filter(route => route.authentication === undefined)).toEqual([])
    expect([...new Set(routes.map(route => route.authentication))].sort()).toEqual([
      'key',
      'none',
      'operator',
      'playground',
      'session',
      'signature',
    ])
  })

  test('the server has the routes of the two tables and no others, each in the class of its row', () => {
    const row = ({
      method,
      path,
      authentication,
    }: {
      method: string
      path: string
      authentication?: string | undefined
    }) => `${method} ${path} ${authentication}`
    const declared = new Set([...API_ROUTES, ...PAGES].map(row))
    const beside = routes.filter(route => route.method !== 'HEAD' && !declared.has(row(route))).map(row)
    expect(beside.sort()).toEqual([
      'GET /* none',
      'GET /assets/:file none',
      ...MODEL_ENDPOINTS.map(({ path }) => `POST /playground${path} playground`).sort(),
      'POST /webhooks/bank/casso signature',
      'POST /webhooks/bank/payos signature',
      'POST /webhooks/bank/sepay signature',
      'POST /webhooks/bank/signed signature',
    ])
    const present = new Set(routes.map(row))
    expect([...declared].filter(route => !present.has(route))).toEqual([])
  })
})

describe('each class with every credential that is not its own', () => {
  test('routes of the API refuse everything but a good key', async () => {
    for (const found of await statuses('key', others('an API key'))) expect(found[2], found.join(' ')).toBe(401)
    for (const found of await statuses('key', ['an API key'])) expect([200, 400], found.join(' ')).toContain(found[2])
  })

  test('signed-in pages send everybody else to sign in', async () => {
    for (const found of await statuses('session', others('a session', 'an operator’s session'))) {
      expect(found[2], found.join(' ')).toBe(303)
      expect(found[3], found.join(' ')).toMatch(/^\/signin(\?next=|$)/)
    }
  })

  test('calls of the playground are refused without a session, and a session alone is not enough for another site', async () => {
    expect(ofClass('playground')).toHaveLength(MODEL_ENDPOINTS.length)
    for (const found of await statuses('playground', others('a session', 'an operator’s session'))) {
      expect(found[2], found.join(' ')).toBe(401)
    }
    for (const { path } of ofClass('playground')) {
      const headers = { origin: 'https://evil.example', 'content-type': 'application/json' }
      const { status } = await (credentials['a session'] as Visitor).post(path, {}, headers)
      expect([path, status]).toEqual([path, 403])
    }
  })

  test('operator pages do not exist for strangers, customers and API keys', async () => {
    expect(ofClass('operator').length).toBeGreaterThan(12)
    for (const found of await statuses('operator', others('an operator’s session'))) {
      expect(found[2], found.join(' ')).toBe(404)
    }
    for (const found of await statuses('operator', ['an operator’s session'])) {
      expect([200, 303, 404, 422], found.join(' ')).toContain(found[2])
      if (!found[1].includes(':')) expect(found[2], found.join(' ')).not.toBe(404)
    }
  })

  test('each operator page is open to the roles that its declaration names, and refuses the others', async () => {
    const pages = PAGES.filter((page): page is OperatorPage => page.authentication === 'operator')
    expect(pages.length).toBe(ofClass('operator').filter(({ method }) => method !== 'HEAD').length)
    const wrong: unknown[] = []
    for (const role of OPERATOR_ROLES) {
      const operator = operators[role] as Visitor
      for (const { method, path, needs } of pages) {
        const { status } = await call(operator, { method, path, isPage: true } as RegisteredRoute)
        if ((status === 403) === mayDo(role, needs) || status >= 500) wrong.push([role, method, path, needs, status])
      }
      // A role sees exactly the tabs that it may open.
      const home = await operator.get('/operator')
      for (const { path, needs } of TABS) {
        const isShown = home.html.includes(`href="${path}"`)
        if (isShown !== mayDo(role, needs)) wrong.push([role, 'tab', path])
        expect(pages.find(page => page.method === 'GET' && page.path === path)?.needs, path).toBe(needs)
      }
    }
    expect(wrong).toEqual([])
  })

  test('only an owner can manage the service and the team, and read-only roles can change nothing', () => {
    const granted = (role: OperatorRole) => OPERATOR_NEEDS.filter(need => mayDo(role, need))
    expect(granted('owner')).toEqual(OPERATOR_NEEDS)
    expect(granted('finance')).toEqual(['read', 'business', 'money'])
    expect(granted('support')).toEqual(['read', 'customers'])
    expect(granted('read-only')).toEqual(['read', 'business'])
    expect(OPERATOR_NEEDS.filter(need => mayDo(null, need))).toEqual([])
    // Roles that may not change anything can submit only one form: it starts the audit.
    const looking = PAGES.filter(page => page.authentication === 'operator' && page.method === 'POST')
      .filter(page => ['read', 'business'].includes((page as OperatorPage).needs))
      .map(({ path }) => path)
    expect(looking).toEqual(['/operator/audit'])
  })

  test('webhooks refuse every credential but their signature', async () => {
    expect(ofClass('signature')).toHaveLength(4)
    for (const found of await statuses('signature', all())) expect(found[2], found.join(' ')).toBe(401)
    // One provider's secret does not work for another.
    const holder = new Visitor(running.url)
    holder.headers.authorization = `Apikey ${PROVIDERS.SEPAY_API_KEY}`
    for (const route of ofClass('signature').filter(({ path }) => !path.endsWith('sepay'))) {
      expect((await call(holder, route)).status, route.path).toBe(401)
    }
  })

  test('public and development routes answer everybody alike, whatever credential they send', async () => {
    // These pages share their path with the API, so requests with an API key do not get them. The API itself serves only `/`; on
    // the other paths, such requests get a 404.
    const browserPaths = PAGES.filter(page => page.sharesPath && page.path !== '/').map(page => page.path)
    expect(browserPaths).toEqual(['/models', '/models/*'])
    for (const route of [...ofClass('none'), ...ofClass('development')]) {
      // Clears the throttles of failed sign-ins, which would change the statuses compared here.
      await running.database.sql`delete from throttle`
      const plain = await call(credentials.nothing as Visitor, route)
      expect([401, 403, 500], `${route.method} ${route.path}`).not.toContain(plain.status)
      for (const name of others('a session', 'an operator’s session')) {
        await running.database.sql`delete from throttle`
        const visitor = credentials[name] as Visitor
        const { status } = await call(visitor, route)
        const isApiRequest = browserPaths.includes(route.path) && visitor.headers['x-api-key'] !== undefined
        const expected = isApiRequest ? 404 : plain.status
        expect([name, route.method, route.path, status]).toEqual([name, route.method, route.path, expected])
      }
    }
  })
})

test('every page with a number in its address answers 404 for what belongs to somebody else', async () => {
  const customer = credentials['a session'] as Visitor
  const pages = ofClass('session').filter(({ path }) => path.includes(':'))
  expect(pages.length).toBeGreaterThan(8)
  const before = await running.database.sql`select * from api_key where label = 'own'`
  for (const route of pages) {
    const base = Object.keys(owned).find(start => route.path.startsWith(start))
    expect(base, `${route.path}: whose number is it?`).toBeDefined()
    const to = route.path.replace(base as string, owned[base as string] as string)
    expect([route.method, to, (await call(customer, route, to)).status]).toEqual([route.method, to, 404])
  }
  expect(await running.database.sql`select * from api_key where label = 'own'`).toEqual(before)
})

test('filters of the usage page and its export show nothing of somebody else’s key', async () => {
  const customer = credentials['a session'] as Visitor
  const keyId = (owned['/keys/:id'] as string).split('/').at(-1)
  for (const path of [`/usage?key=${keyId}`, `/usage.csv?key=${keyId}`]) {
    const { status, html } = await customer.get(path)
    expect([200, 404]).toContain(status)
    expect(html).not.toMatch(/\bown\b/)
  }
})

function bareServer({ production }: { production: boolean }) {
  return createServer({
    services: { catalogue, nowMs: () => 0 },
    limits: { headersTimeoutMs: 1000, requestTimeoutMs: 1000, unreadMs: 1000 },
    banking: { providers: new Map() },
    production,
    readiness: {},
  } as never)
}
