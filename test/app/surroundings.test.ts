/**
 * Development mode: its tools cannot be reached from outside, its warnings are clear, and a failure to print the welcome
 * message never prevents a start.
 */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { environmentConfig } from '../../src/app/foundation.ts'
import { remarksOf } from '../../src/app/surroundings.ts'
import { greet } from '../../src/app/welcome.ts'
import { createLog } from '../../src/lib/log.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { Visitor } from '../dashboard/visitor.ts'
import { startTestGateway, TEST_BANK, type TestGateway } from '../support/gateway.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const SECRET = 'a-secret-of-a-service-0123456789'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

let running: TestGateway | null = null
afterEach(async () => {
  await running?.close()
  running = null
})

async function start(environment: Readonly<Record<string, string>>): Promise<Visitor> {
  running = await startTestGateway({ environment })
  return new Visitor(running.url)
}

/** Requests the page of sent emails with these headers, and returns the reply's status. */
async function outbox(headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const answer = await fetch(`${running?.url}/development/outbox`, { headers: { accept: 'text/html', ...headers } })
  return answer.status
}

test('emails are shown to somebody on this machine, but never through a proxy or under a foreign host name', async () => {
  await start({ TRUSTED_PROXIES: '127.0.0.1' })
  expect(await outbox()).toBe(200)
  for (const name of ['x-forwarded-for', 'x-real-ip']) expect(await outbox({ [name]: '127.0.0.1' })).toBe(404)
  expect(await outbox({ forwarded: 'for=127.0.0.1' })).toBe(404)
  expect(await outbox({ via: '1.1 proxy' })).toBe(404)
  expect(await rawStatus('/development/outbox', 'attacker.example')).toBe(404)
  expect(await rawStatus('/development/outbox', 'localhost:8080')).toBe(200)
})

/** Sends a request with this `Host` header, which `fetch` cannot set, and returns the reply's status. */
async function rawStatus(path: string, host: string): Promise<number | undefined> {
  const { request } = await import('node:http')
  const { hostname, port } = new URL(running?.url ?? '')
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers: { host, accept: 'text/html' } }, answer => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

test('another machine of the network cannot see the emails', async () => {
  const { networkInterfaces } = await import('node:os')
  const outside = Object.values(networkInterfaces())
    .flat()
    .find(address => address?.family === 'IPv4' && !address.internal)?.address
  if (outside === undefined) return
  await start({ HOST: '0.0.0.0' })
  const { port } = new URL(running?.url ?? '')
  const answer = await fetch(`http://${outside}:${port}/development/outbox`, { headers: { accept: 'text/html' } })
  expect(answer.status).toBe(404)
})

test.each<[string, Readonly<Record<string, string>>]>([
  ['a bank account', TEST_BANK],
  ["a secret of a bank's service", { SEPAY_WEBHOOK_SECRET: SECRET }],
  ["a provider's credential", { UPSTREAM_ANTHROPIC_API_KEY: SECRET }],
  ['credentials of AWS', { AWS_ACCESS_KEY_ID: 'AKIA0000000000000000', AWS_SECRET_ACCESS_KEY: SECRET }],
])('with %s no email is shown and no transfer simulated', async (_what, environment) => {
  const visitor = await start(environment)
  expect(await outbox()).toBe(404)
  const { simulation } = await import('../../src/app/back-office.ts').then(({ createPayments }) =>
    createPayments({ config: environmentConfig(environment), sql: database.sql, onCredited() {}, report() {} }),
  )
  expect(simulation).toBe(false)
  expect((await visitor.get('/')).html).not.toContain('/development/outbox')
})

test('a transfer is not simulated for somebody behind a proxy', async () => {
  const visitor = await start({})
  await visitor.signUp('owner@example.com')
  const { location } = await visitor.post('/topup', { amount: '50000' })
  const before = await visitor.get(location)
  expect(before.html).toContain(`${location}/simulate`)
  const forwarded = { 'x-forwarded-for': '127.0.0.1' }
  expect((await visitor.get(location, forwarded)).html).not.toContain(`${location}/simulate`)
  expect((await visitor.post(`${location}/simulate`, {}, forwarded)).status).toBe(404)
  expect((await visitor.post(`${location}/simulate`)).status).toBe(303)
})

const remarks = (environment: Readonly<Record<string, string>>) =>
  remarksOf(environmentConfig(environment), { all: ['anthropic', 'openai'], sandboxed: ['openai'] })

test('a gateway that listens on the network warns in one line at start-up', () => {
  expect(remarks({})).toEqual([])
  for (const HOST of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) expect(remarks({ HOST })).toEqual([])
  for (const HOST of ['0.0.0.0', '::', '10.0.0.7']) {
    const [remark, ...more] = remarks({ HOST })
    expect([remark?.facts, more]).toEqual([{ host: HOST }, []])
    expect(remark?.message).toMatch(/^this address is open to the network/)
  }
})

test('a gateway with real credentials and the sandbox says in one line what is simulated and what is not', () => {
  const [remark, ...more] = remarks({ ...TEST_BANK, SEPAY_API_KEY: SECRET, UPSTREAM_ANTHROPIC_API_KEY: SECRET })
  expect(more).toEqual([])
  expect(remark?.facts).toEqual({ real: ['anthropic', 'bank account', 'sepayApiKey'], simulated: ['openai'] })
  expect(JSON.stringify(remark)).not.toContain(SECRET)
  expect(remarks({ ...TEST_BANK, SANDBOX: 'off' })).toEqual([])
})

test('a database that fails while the first key is created does not stop the gateway', async () => {
  const written: string[] = []
  const lines: string[] = []
  const log = createLog('warn', { to: { write: (line: string) => lines.push(line) } })
  const peppers = parseSecretSet('KEY_PEPPERS', generateSecretSet())
  const foundation = {
    config: environmentConfig({}),
    secrets: { service: 'svc', peppers, encryption: peppers },
    databaseUrl: database.url,
    databaseDirectUrl: null,
    sql: database.sql,
    embedded: false,
    close: async () => {},
  }
  await database.sql.unsafe('alter table account rename to gone')
  await greet(foundation, { url: 'http://127.0.0.1:1', sandboxed: [], write: text => written.push(text), log })
  await database.sql.unsafe('alter table gone rename to account')
  expect(written).toEqual([])
  expect(lines.join('')).toContain('could not create a key for a first call')
  await greet(foundation, { url: 'http://127.0.0.1:1', sandboxed: [], write: text => written.push(text), log })
  expect(written.join('')).toMatch(/API key {4}sk-svc-/)
})
