/** One account's slow webhooks and many alerts keep back neither emails nor other accounts' webhooks. */

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createKey } from '../../src/accounts/keys.ts'
import { postWebhooks, sendMails } from '../../src/alerts/deliver.ts'
import { ALL_KINDS } from '../../src/alerts/kinds.ts'
import { findAlerts } from '../../src/alerts/run.ts'
import { createWebhook } from '../../src/alerts/webhooks.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { eventually } from '../ledger/world.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { newCustomer, type TestCustomer, testAlerts } from './world.ts'

const database = await createTestDatabase()
const { sql } = database
const alerts = testAlerts(sql)
const keySecrets = {
  service: 'SVC',
  peppers: parseSecretSet('KEY_PEPPERS', generateSecretSet()),
  encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', generateSecretSet()),
}

let posted: string[] = []
/** Posts that get no answer yet. */
const waiting: ServerResponse[] = []
const receiver = createServer((request, response) => {
  posted.push(request.url as string)
  request.resume()
  if (request.url === '/slow') waiting.push(response)
  else response.writeHead(204).end()
})
let base = ''
beforeAll(async () => {
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
})
beforeEach(async () => {
  await sql`update alert_delivery set state = 3`
  posted = []
})
afterAll(async () => {
  await alerts.webhookClient.close()
  receiver.closeAllConnections()
  receiver.close()
  await database.drop()
})

function answerAll(): void {
  for (const response of waiting.splice(0)) response.writeHead(204).end()
}

async function withWebhook(path: string): Promise<TestCustomer> {
  const customer = await newCustomer(sql)
  await createWebhook(alerts, { accountId: customer.accountId, url: base + path, kinds: ALL_KINDS })
  return customer
}

/** Makes alerts: one for each key. */
async function makeKeys({ accountId }: TestCustomer, count: number): Promise<void> {
  for (let made = 0; made < count; made++) await createKey(sql, keySecrets, { accountId })
  await findAlerts(alerts)
}

test('an account with many deliveries to slow receivers gets a share of the posts, and no email waits for them', async () => {
  const slow = await withWebhook('/slow')
  await makeKeys(slow, 10)
  const quick = await withWebhook('/quick')
  await makeKeys(quick, 1)
  const run = postWebhooks(alerts)
  await eventually(
    async () => posted.toSorted(),
    paths => paths.length >= 3,
  )
  expect(posted.toSorted()).toEqual(['/quick', '/slow', '/slow'])
  await sendMails(alerts)
  expect(alerts.mailsTo(quick.email)).toHaveLength(1)
  const answering = setInterval(answerAll, 5)
  await run
  clearInterval(answering)
  expect(posted).toHaveLength(11)
})

test('after five times as many alerts a day as are emailed, an account’s webhooks get no more', async () => {
  const few = testAlerts(sql, { limits: { mailsPerDayMax: 1 }, secrets: alerts.secrets })
  const busy = await withWebhook('/quick')
  for (let made = 0; made < 7; made++) {
    await createKey(sql, keySecrets, { accountId: busy.accountId })
    await findAlerts(few)
  }
  await postWebhooks(few)
  expect(posted).toHaveLength(5)
  await few.webhookClient.close()
})
