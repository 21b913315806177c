/**
 * An operator's bad morning in a real browser: the operator starts at the first page, finds each problem and deals with it. Every
 * click is counted, and Enter in a search field counts as one.
 */

import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE_LIMITS } from '../../src/accounts/limits.ts'
import { openSession } from '../../src/accounts/sessions.ts'
import { rollUpCalls } from '../../src/ledger/roll-up.ts'
import { chatCall, goodMessage } from '../support/chat.ts'
import { startTestGateway, TEST_BANK, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { end, head, type ScriptedUpstream, startScriptedUpstream, write } from '../support/scripted-upstream.ts'
import { changedTables } from '../support/tables.ts'
import { transferMoney } from '../support/transfers.ts'
import { collectComplaints, missingBrowser, openContext, startBrowser } from './browser.ts'

const missing = missingBrowser()
if (missing !== null) console.warn(`browser tests are skipped: ${missing}`)

/** Maximum number of clicks for dealing with a problem. */
const CLICKS_MAX = 5
/** The model that is sold below its cost. */
const LOSING = 'claude-opus-5'

describe.skipIf(missing !== null)('on a bad morning', () => {
  let running: TestGateway
  let provider: ScriptedUpstream
  let browser: Browser
  let page: Page
  let customer: TestAccount
  let operator: TestAccount
  let complaints: string[]
  let isDown = false
  let clicks = 0

  beforeAll(async () => {
    const overloaded = [head(529, {}), write('{"type":"error","error":{"type":"overloaded_error"}}'), end()]
    provider = await startScriptedUpstream(() => (isDown ? overloaded : goodMessage))
    const tables = changedTables({ targets: { [LOSING]: ['anthropic'] } })
    running = await startTestGateway({ tables, upstreams: { anthropic: provider.url }, environment: TEST_BANK })
    customer = await running.account(10n ** 12n)
    browser = await startBrowser()
    page = await (await openContext(browser, { baseURL: running.url })).newPage()
    complaints = collectComplaints(page, running.url)
    await signIn()
  })
  afterAll(async () => {
    await browser?.close()
    await running?.close()
    await provider?.close()
  })

  async function signIn(): Promise<void> {
    const { sql } = running.database
    operator = await running.account(0n)
    await sql`update account set is_operator = true where account_id = ${operator.accountId}`
    const visitor = { ipAddress: '127.0.0.1', userAgent: 'test', language: 'en' } as const
    const { token } = await openSession(sql, PEOPLE_LIMITS, { accountId: operator.accountId, visitor })
    await page.context().addCookies([{ name: 'session', value: token, url: running.url }])
  }

  async function begin(): Promise<void> {
    await page.goto('/operator')
    clicks = 0
  }

  async function click(target: Locator): Promise<void> {
    clicks++
    await target.click()
  }

  async function search(field: Locator, text: string): Promise<void> {
    await field.fill(text)
    clicks++
    await field.press('Enter')
  }

  /** Makes a call, and returns the `x-request-id` of its reply. */
  async function call(): Promise<string> {
    const headers = { 'x-api-key': customer.apiKey }
    const reply = await fetch(`${running.url}/v1/messages`, { method: 'POST', headers, body: chatCall(LOSING) })
    await reply.arrayBuffer()
    return reply.headers.get('x-request-id') as string
  }

  function expectFew(): void {
    expect(complaints).toEqual([])
    expect(clicks).toBeGreaterThan(0)
    expect(clicks).toBeLessThanOrEqual(CLICKS_MAX)
  }

  test('a customer complains about a failed call: its id finds it, and its page says what went wrong where', async () => {
    isDown = true
    const failed = await call()
    isDown = false
    await running.gateway.readiness.idle()
    await begin()
    await click(page.getByRole('link', { name: 'Calls', exact: true }))
    await search(page.getByLabel('Request ID'), failed)
    const attempt = page.getByRole('row').filter({ hasText: 'anthropic#1' }).first()
    await attempt.getByText('529').waitFor()
    expectFew()
  })

  test('a transfer did not match: it is credited to the customer whose email address is entered', async () => {
    expect(await transferMoney(running.database.sql, { memo: 'thanks', amountVnd: 75_000 })).not.toBe('credited')
    const before = await running.balance(customer.accountId)
    await begin()
    await click(page.getByRole('link', { name: 'Unmatched transfers: 1' }))
    const card = page.getByRole('article').filter({ hasText: 'thanks' })
    await card.getByLabel('Email, order code or customer number').fill(customer.email)
    await card.getByLabel('Reason').first().fill('named by phone')
    await click(card.getByRole('button', { name: 'Credit' }))
    await page.getByText('Nothing to review').waitFor()
    expect(await running.balance(customer.accountId)).toBe(before + 75_000_000_000n)
    expectFew()
  })

  test('a provider is down: it is taken out of service in all processes, with a reason and an end', async () => {
    isDown = true
    const trouble = page.getByRole('link', { name: 'anthropic is failing' })
    // Repeat the calls: after each failure the gateway avoids the provider for a while, so few calls reach it.
    await expect
      .poll(async () => {
        for (let calls = 0; calls < 4; calls++) await call()
        await running.gateway.readiness.idle()
        await rollUpCalls(running.database.sql, { lagSeconds: 0 })
        await begin()
        return trouble.count()
      })
      .toBe(1)
    isDown = false
    await click(trouble)
    await page.getByLabel('Reason').fill('overloaded since seven')
    await click(page.getByRole('button', { name: 'Take out of service' }))
    await page.getByText(`${operator.email}: overloaded since seven`).waitFor()
    await expect.poll(() => running.gateway.upstreams.find('anthropic')?.outOfServiceMs ?? 0).toBeGreaterThan(0)
    expectFew()
  })

  test('a model sells below its cost: the first page names it and links to its figures', async () => {
    await running.database.sql`update usage_daily set upstream_cost_micro_vnd = charged_micro_vnd * 2 + 1000000,
      upstream_cost_calls = calls where entry_id = ${LOSING}`
    await begin()
    await click(page.getByRole('link', { name: 'Models that sell below cost: 1' }))
    await page.locator('#below-cost').getByText(LOSING).first().waitFor()
    expectFew()
  })

  test('a key has leaked: it is revoked for good', async () => {
    await begin()
    await click(page.getByRole('link', { name: 'Accounts', exact: true }))
    await search(page.getByLabel('Email or account number'), customer.email)
    await click(page.getByRole('link', { name: customer.email }))
    await click(page.getByText('Limits, revoke'))
    const form = page.locator('form[action$="/keys/revoke"]').first()
    await form.getByLabel('Reason').fill('found in a public repository')
    await click(form.getByRole('button'))
    await page.getByText('Key revoked.').waitFor()
    const reply = await fetch(`${running.url}/v1/key`, { headers: { authorization: `Bearer ${customer.apiKey}` } })
    expect(reply.status).toBe(401)
    expectFew()
  })
})
