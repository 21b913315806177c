/** Webhooks are signed as receivers expect, retried, disabled after many failures, and never sent to internal addresses. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { Agent } from 'undici'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { testWebhook } from '../../src/alerts/deliver.ts'
import type { DeliveryOutcome } from '../../src/alerts/delivery-counts.ts'
import { ALL_KINDS } from '../../src/alerts/kinds.ts'
import { findAlerts } from '../../src/alerts/run.ts'
import { createWebhookClient } from '../../src/alerts/webhook-client.ts'
import { readWebhookSecrets, rotateWebhookSecrets } from '../../src/alerts/webhook-secrets.ts'
import {
  createWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  listDeliveries,
  listWebhooks,
  readWebhook,
  rotateWebhookSecret,
  setWebhookKinds,
} from '../../src/alerts/webhooks.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { HOSTILE_HOSTS } from '../support/hostile-hosts.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { deliverAlerts, newCustomer, spend, type TestCustomer, testAlerts, topUp } from './world.ts'

const database = await createTestDatabase()
const { sql } = database
const alerts = testAlerts(sql)

interface Received {
  readonly headers: Record<string, string>
  readonly body: string
}

let receiver: Server
let base = ''
let received: Received[] = []
let answer: (response: ServerResponse) => unknown
/** Stands in for a service on the internal network: no webhook may ever connect to it. */
let canary: TcpServer
let canaryPort = 0
let canaryHits = 0

beforeAll(async () => {
  receiver = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() })
    answer(response)
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  canary = createTcpServer(socket => {
    canaryHits++
    socket.destroy()
  })
  await new Promise<void>(resolve => canary.listen({ port: 0, host: '::' }, resolve))
  canaryPort = (canary.address() as AddressInfo).port
})
beforeEach(() => {
  received = []
  answer = response => response.writeHead(204).end()
})
afterAll(async () => {
  await alerts.webhookClient.close()
  receiver.closeAllConnections()
  receiver.close()
  canary.close()
  await database.drop()
})

async function newWebhook(customer: TestCustomer, path = '/hook', kinds = ALL_KINDS) {
  const created = await createWebhook(alerts, { accountId: customer.accountId, url: base + path, kinds })
  if (created.outcome !== 'created') throw new Error(`the webhook was not created: ${created.outcome}`)
  return created
}

/** Spends the customer's whole balance, then searches for new alerts. */
async function emptied(customer: TestCustomer): Promise<void> {
  await topUp(sql, customer, 100_000)
  await spend(sql, customer, 100_000)
  await findAlerts(alerts)
}

const skipPause = ({ accountId }: TestCustomer) =>
  sql`update alert_delivery set next_at = now() where account_id = ${accountId} and state = 0`

/** Counts since this file started: attempts to deliver to webhooks, by outcome, and webhooks disabled for failing. */
function counted() {
  const tries = (wanted: DeliveryOutcome) =>
    alerts.counts.attempts.find(([{ channel, outcome }]) => channel === 'webhook' && outcome === wanted)?.[1] as number
  const disabled = alerts.counts.disabledWebhooks.find(([{ reason }]) => reason === 'failures')?.[1] as number
  return { failed: tries('failed'), given_up: tries('given_up'), delivered: tries('delivered'), disabled }
}

test('a delivery verifies with the standard library under the secret that was shown once', async () => {
  const customer = await newCustomer(sql)
  const { webhook, secret } = await newWebhook(customer)
  await emptied(customer)
  await deliverAlerts(alerts)
  expect(received).toHaveLength(1)
  const { headers, body } = received[0] as Received
  const payload = new Webhook(secret).verify(body, headers)
  expect(payload).toEqual({
    type: 'balance.empty',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    data: { balance: '0', currency: 'VND' },
  })
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'svc-webhooks/1' })
  expect(() => new Webhook(secret).verify(body.replace('"0"', '"1"'), headers)).toThrow()
  const [logged] = await listDeliveries(sql, webhook, 10)
  expect(logged).toMatchObject({ kind: 'balance.empty', state: 'delivered', tries: 1, status: 204, fault: null })
  const [row] = await sql`select ciphertext from webhook_secret where webhook_id = ${webhook.webhookId}`
  expect(row?.ciphertext.toString('utf8')).not.toContain(secret.slice(6))
})

test('a webhook gets the kinds that it was created for, even if their emails are off, and nothing of other accounts', async () => {
  const [customer, other] = [await newCustomer(sql), await newCustomer(sql)]
  const { webhook } = await newWebhook(customer, '/low', ['balance.low'])
  await newWebhook(other, '/other')
  await emptied(customer)
  await deliverAlerts(alerts)
  expect(received).toEqual([])
  expect(await setWebhookKinds(sql, { ...webhook, accountId: other.accountId }, ['balance.empty'])).toBe(false)
  await setWebhookKinds(sql, webhook, ['balance.empty'])
  await emptied(customer)
  await deliverAlerts(alerts)
  expect(received.map(({ body }) => JSON.parse(body).type)).toEqual(['balance.empty'])
})

test('for a day after a rotation both secrets verify, then only the new one', async () => {
  const customer = await newCustomer(sql)
  const { webhook, secret } = await newWebhook(customer)
  const next = await rotateWebhookSecret(alerts, webhook)
  await testWebhook(alerts, webhook)
  const { headers, body } = received[0] as Received
  for (const each of [secret, next])
    expect(new Webhook(each).verify(body, headers)).toMatchObject({ type: 'webhook.test' })
  await sql`update webhook_secret set expires_at = now() where expires_at is not null`
  await testWebhook(alerts, webhook)
  const later = received[1] as Received
  expect(() => new Webhook(secret).verify(later.body, later.headers)).toThrow()
  expect(new Webhook(next).verify(later.body, later.headers)).toMatchObject({ type: 'webhook.test', data: {} })
})

test('failures are retried under the same id, with growing pauses; then the webhook is disabled and its owner told', async () => {
  const customer = await newCustomer(sql)
  const { webhook } = await newWebhook(customer)
  answer = response => response.writeHead(500).end('no')
  await emptied(customer)
  const pauses: number[] = []
  const before = counted()
  for (let tries = 0; tries < 10; tries++) {
    await deliverAlerts(alerts)
    const [row] = await sql`select extract(epoch from next_at - now())::integer as pause from alert_delivery
      where webhook_id = ${webhook.webhookId}`
    pauses.push(row?.pause)
    await skipPause(customer)
  }
  const HOUR = 3_600
  const expected = [5, 300, 1_800, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]
  for (const [index, seconds] of expected.entries()) {
    expect(pauses[index]).toBeGreaterThanOrEqual(seconds - 3)
    expect(pauses[index]).toBeLessThanOrEqual(seconds * 1.1)
  }
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(received).toHaveLength(10)
  const off = await readWebhook(sql, webhook)
  expect([off?.disabledFor, off?.disabledAt]).toEqual(['failures', expect.any(Date)])
  const after = counted()
  const counts = (['failed', 'given_up', 'delivered', 'disabled'] as const).map(name => after[name] - before[name])
  expect(counts).toEqual([9, 1, 0, 1])
  const [logged] = await listDeliveries(sql, webhook, 10)
  expect(logged).toMatchObject({ state: 'given_up', tries: 10, status: 500, fault: 'status' })
  await deliverAlerts(alerts)
  const mails = alerts.mailsTo(customer.email).map(mail => mail.subject)
  expect(mails).toContain(`The webhook to ${new URL(base).host} was switched off`)
  await emptied(customer)
  await deliverAlerts(alerts)
  expect(received).toHaveLength(10)
  await enableWebhook(sql, webhook)
  answer = response => response.writeHead(200).end()
  await emptied(customer)
  await deliverAlerts(alerts)
  expect(received).toHaveLength(11)
})

test('a webhook that accepts other deliveries stays on when one is given up', async () => {
  const customer = await newCustomer(sql)
  const { webhook } = await newWebhook(customer)
  answer = response => response.writeHead(500).end()
  await emptied(customer)
  await sql`update alert_delivery set tries = 9 where webhook_id = ${webhook.webhookId}`
  await sql`update webhook set delivered_at = now() where webhook_id = ${webhook.webhookId}`
  await deliverAlerts(alerts)
  const [logged] = await listDeliveries(sql, webhook, 10)
  expect([logged?.state, (await readWebhook(sql, webhook))?.disabledAt]).toEqual(['given_up', null])
})

test.each([
  ['410 ends it at once', (response: ServerResponse) => response.writeHead(410).end(), 'gone', 410],
  [
    'a redirect is a failure and is not followed',
    (response: ServerResponse) => response.writeHead(307, { location: `http://127.0.0.1:${canaryPort}/` }).end(),
    'redirect',
    307,
  ],
  ['a connection that ends is a failure', (response: ServerResponse) => response.socket?.destroy(), 'connection', null],
  ['silence is a failure', () => {}, 'timeout', null],
  [
    'an endless answer is not read',
    (response: ServerResponse) => response.writeHead(200).write('x'.repeat(100_000)),
    null,
    200,
  ],
  [
    'an answer that does not get beyond interim replies is a failure',
    (response: ServerResponse) => response.socket?.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(1_000)),
    'connection',
    null,
  ],
] as const)('%s', async (_name, given, fault, status) => {
  const customer = await newCustomer(sql)
  const { webhook } = await newWebhook(customer)
  answer = given
  await emptied(customer)
  const short = testAlerts(sql, {
    secrets: alerts.secrets,
    webhookClient: createWebhookClient({
      timeoutMs: fault === 'timeout' ? 300 : 60_000,
      privateNetworks: ['127.0.0.1/32'],
    }),
  })
  await deliverAlerts(short)
  const [logged] = await listDeliveries(sql, webhook, 10)
  expect([logged?.fault, logged?.status, canaryHits]).toEqual([fault, status, 0])
  expect((await readWebhook(sql, webhook))?.disabledFor ?? null).toBe(fault === 'gone' ? 'gone' : null)
  receiver.closeAllConnections()
})

test('a receiver may ask for a longer pause, up to a day', async () => {
  const customer = await newCustomer(sql)
  const { webhook } = await newWebhook(customer)
  answer = response => response.writeHead(503, { 'retry-after': '600' }).end()
  await emptied(customer)
  await deliverAlerts(alerts)
  const [soon] = await listDeliveries(sql, webhook, 1)
  expect(Math.round((Number(soon?.nextAt) - Date.now()) / 60_000)).toBe(10)
  answer = response => response.writeHead(503, { 'retry-after': '999999' }).end()
  await skipPause(customer)
  await deliverAlerts(alerts)
  const [late] = await listDeliveries(sql, webhook, 1)
  expect(Math.round((Number(late?.nextAt) - Date.now()) / 3_600_000)).toBe(24)
})

test('a test event is sent at once and only once, even to a disabled webhook, and the number of tests is limited', async () => {
  const customer = await newCustomer(sql)
  const { webhook } = await newWebhook(customer)
  await disableWebhook(sql, webhook, 'owner')
  answer = response => response.writeHead(400).end()
  expect(await testWebhook(alerts, webhook)).toMatchObject({ outcome: 'failed', status: 400 })
  await skipPause(customer)
  await deliverAlerts(alerts)
  expect(received).toHaveLength(1)
  const strict = testAlerts(sql, { secrets: alerts.secrets, limits: { webhookTestsMax: 2 } })
  expect(await testWebhook(strict, webhook)).not.toBeNull()
  expect(await testWebhook(strict, webhook)).toBeNull()
  expect(received).toHaveLength(2)
})

test('a webhook that is disabled or deleted gets none of the waiting deliveries', async () => {
  const customer = await newCustomer(sql)
  const { webhook } = await newWebhook(customer)
  await emptied(customer)
  await disableWebhook(sql, webhook, 'owner')
  await enableWebhook(sql, webhook)
  await deliverAlerts(alerts)
  expect(received).toEqual([])
  await emptied(customer)
  await deleteWebhook(alerts, webhook)
  await deliverAlerts(alerts)
  expect([received, await listWebhooks(sql, customer.accountId)]).toEqual([[], []])
  expect(await sql`select from webhook_secret where webhook_id = ${webhook.webhookId}`).toHaveLength(0)
})

test('an account can have only a few webhooks, even if it creates them all at once', async () => {
  const { accountId } = await newCustomer(sql)
  const make = (path: string) => createWebhook(alerts, { accountId, url: base + path, kinds: ALL_KINDS })
  const same = await Promise.all(Array.from({ length: 5 }, () => make('/0')))
  expect(same.map(({ outcome }) => outcome).sort()).toEqual(['created', ...Array(4).fill('exists')])
  const made = [same[0], ...(await Promise.all(Array.from({ length: 8 }, (_, index) => make(`/${index + 1}`))))]
  expect(await listWebhooks(sql, accountId)).toHaveLength(alerts.limits.webhooksMax)
  expect(made.filter(each => each?.outcome === 'limit')).toHaveLength(9 - alerts.limits.webhooksMax)
})

test('secrets are encrypted with the new key, and one that cannot be decrypted is named', async () => {
  const customer = await newCustomer(sql)
  const { webhook, secret } = await newWebhook(customer)
  const { encryption } = alerts.secrets
  const next = generateSecretSet().replace(/^1:/, '2:')
  const old = `1:${encryption.secrets.get(1)?.toString('base64')}`
  const both = parseSecretSet('KEY_ENCRYPTION_KEYS', `${old},${next}`)
  await sql`update webhook_secret set ciphertext = '\\x00' where webhook_id <> ${webhook.webhookId}`
  const others =
    await sql`select distinct webhook_id::integer as id from webhook_secret where webhook_id <> ${webhook.webhookId}`
  expect((await rotateWebhookSecrets(sql, both)).toSorted()).toEqual(others.map(row => row.id).toSorted())
  expect(await readWebhookSecrets(sql, parseSecretSet('KEY_ENCRYPTION_KEYS', next), webhook)).toEqual([secret])
  await expect(readWebhookSecrets(sql, encryption, webhook)).rejects.toThrow('not configured')
})

test.each(HOSTILE_HOSTS)('never posts to the host %s', async host => {
  const client = createWebhookClient({ timeoutMs: 2_000, privateNetworks: [] })
  for (const port of ['', ':8443', `:${canaryPort}`]) {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}${port}/`
      expect([url, await client.post(url, {}, '{}')]).toEqual([
        url,
        { fault: expect.stringMatching(/^(url|address)$/) },
      ])
    }
  }
  expect(canaryHits).toBe(0)
  await client.close()
})

test('a host name is only posted to if all its addresses are allowed at the moment of connecting', async () => {
  const inside = { timeoutMs: 2_000, privateNetworks: ['127.0.0.2/32'] }
  for (const addresses of [['127.0.0.1'], ['127.0.0.2', '127.0.0.1'], ['169.254.169.254'], ['::ffff:127.0.0.1'], []]) {
    const client = createWebhookClient({ ...inside, resolve: async () => addresses })
    expect(await client.post(`http://inside.test:${canaryPort}/`, {}, '{}')).toEqual({ fault: 'address' })
    expect(await client.post('https://inside.test/', {}, '{}')).toEqual({ fault: 'address' })
    await client.close()
  }
  expect(canaryHits).toBe(0)
})

test('no host is remembered that did not answer in time', async () => {
  const dispatch = vi.spyOn(Agent.prototype, 'dispatch')
  answer = () => {}
  const inside = { timeoutMs: 100, privateNetworks: ['127.0.0.1/32'], resolve: async () => ['127.0.0.1'] }
  const client = createWebhookClient(inside)
  for (const host of ['a.test', 'b.test']) {
    expect(await client.post(`http://${host}:${new URL(base).port}/`, {}, '{}')).toEqual({ fault: 'timeout' })
  }
  const agents = new Set(dispatch.mock.contexts as Agent[])
  dispatch.mockRestore()
  expect(agents.size).toBeGreaterThan(0)
  for (const agent of agents) await expect.poll(() => Object.keys(agent.stats), { timeout: 5_000 }).toEqual([])
  await client.close()
})

test('addresses that are not allowed are refused when they are entered', async () => {
  const strict = testAlerts(sql, { webhookClient: createWebhookClient({ timeoutMs: 500, privateNetworks: [] }) })
  const { accountId } = await newCustomer(sql)
  const outcomes = {
    'http://example.com/': 'url',
    'https://user:secret@example.com/': 'url',
    'https://example.com/#part': 'url',
    'https://example.com:22/': 'url',
    'ftp://example.com/': 'url',
    'example.com': 'url',
    '': 'url',
    [`https://example.com/${'x'.repeat(2_000)}`]: 'url',
    'https://10.0.0.1/': 'address',
    'https://[fd00:ec2::254]/': 'address',
    'https://example.com:8443/hook?token=x': 'created',
  }
  for (const [url, outcome] of Object.entries(outcomes)) {
    const made = await createWebhook(strict, { accountId, url, kinds: ALL_KINDS })
    expect([url, made.outcome]).toEqual([url, outcome])
  }
})
