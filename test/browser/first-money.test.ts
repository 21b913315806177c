/**
 * Follows a new customer in a real browser, from the front page through the first calls to the email that warns of a low
 * balance. Counts clicks, but not typing.
 */

import { join } from 'node:path'
import OpenAI from 'openai'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readOutbox } from '../../src/lib/outbox.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { transferMoney } from '../support/transfers.ts'
import { collectComplaints, missingBrowser, openContext, openMailedLink, startBrowser } from './browser.ts'

const missing = missingBrowser()
if (missing !== null) console.warn(`browser tests are skipped: ${missing}`)

const EMAIL = 'person@example.com'
const PASSWORD = 'mot cau dai de nho'
const CLICKS_MAX = 13
/** The model with the highest price per call (1,900 ₫), so that a few calls empty a small wallet. */
const DEAR = 'req/claude-fable-5'
const DEAR_VND = 1_900
const TOP_UP_VND = 50_000

describe.skipIf(missing !== null)('a new customer', () => {
  let running: TestGateway
  let browser: Browser
  let page: Page
  let complaints: string[]
  let clicks = 0
  beforeAll(async () => {
    running = await startTestGateway()
    browser = await startBrowser()
    const context = await openContext(browser, { baseURL: running.url })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await context.exposeFunction('countClick', () => clicks++)
    await context.addInitScript(`addEventListener('click', event => { if (event.isTrusted) countClick() }, true)`)
    page = await context.newPage()
    complaints = collectComplaints(page, running.url)
  })
  afterAll(async () => {
    await browser?.close()
    await running?.close()
  })

  const read = () => page.evaluate<string>('navigator.clipboard.readText()')

  test('spends the first money, and is told by email when a fifth is left', async () => {
    await page.goto('/')
    await page.getByRole('link', { name: 'Create an account' }).first().click()
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByRole('link', { name: 'Development outbox' }).last().click()
    await openMailedLink(page, EMAIL, /\/verify\?token=/)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Confirm and sign in' }).click()
    await page.getByRole('link', { name: 'Top up from 50.000 ₫' }).click()
    await page.getByLabel('Amount').fill(String(TOP_UP_VND))
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Copy Transfer memo' }).click()
    const transfer = { memo: await read(), amountVnd: TOP_UP_VND, environment: {} }
    expect(await transferMoney(running.database.sql, transfer)).toBe('credited')
    await page.getByText('Your balance is now 50.000 ₫.').waitFor()
    await page.getByRole('link', { name: 'Create an API key' }).click()
    await page.getByLabel('Key name').fill('laptop')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByRole('button', { name: 'Copy Key' }).click()

    const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: await read() })
    const calls = Math.ceil((TOP_UP_VND * 0.8) / DEAR_VND)
    for (let call = 0; call < calls; call++) {
      await client.chat.completions.create({ model: DEAR, messages: [{ role: 'user', content: 'Xin chào' }] })
    }
    await running.gateway.readiness.idle()
    expect(clicks).toBeGreaterThan(0)
    expect(clicks).toBeLessThanOrEqual(CLICKS_MAX)

    const left = 'Your SVC balance is low: '
    await expect
      .poll(
        async () =>
          (await readOutbox(join(running.dataDir, 'outbox'))).filter(({ subject }) => subject.includes(left)).length,
        // The gateway checks balances a few times a minute.
        { timeout: 120_000, interval: 500 },
      )
      .toBe(1)
    await page.goto('/development/outbox')
    expect(await page.getByText(left).innerText()).toContain(`${(TOP_UP_VND - calls * DEAR_VND).toLocaleString('de')}`)
    expect(complaints).toEqual([])
  })
})
