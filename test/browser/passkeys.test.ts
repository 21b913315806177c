/**
 * Tests passkeys in a real browser with virtual devices: adding one, signing in and approving payments with it, cancelling, and
 * pages without scripts.
 */

import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setRole } from '../../src/accounts/operator.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { freePort } from '../support/program.ts'
import {
  collectComplaints,
  expectAccessible,
  expectKeyboard,
  expectLight,
  missingBrowser,
  openContext,
  openMailedLink,
  startBrowser,
} from './browser.ts'

const missing = missingBrowser()
if (missing !== null) console.warn(`browser tests are skipped: ${missing}`)

const EMAIL = 'operator@example.com'
const PASSWORD = 'mot cau dai de nho'
const FACTOR = '/account/second-factor'
const PHONE = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true } as const

describe.skipIf(missing !== null)('in a browser', () => {
  let running: TestGateway
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let devices: CDPSession
  let complaints: string[]
  let base: string
  beforeAll(async () => {
    // Browsers trust `localhost` without TLS, but the gateway must know its origin, and so its port, before it starts.
    const port = await freePort()
    base = `http://localhost:${port}`
    running = await startTestGateway({ environment: { PORT: String(port), PUBLIC_URL: base } })
    browser = await startBrowser()
    context = await openContext(browser, { baseURL: base })
    page = await context.newPage()
    complaints = collectComplaints(page, base)
    devices = await context.newCDPSession(page)
    await devices.send('WebAuthn.enable')
  })
  afterAll(async () => {
    await browser?.close()
    await running?.close()
  })

  async function addDevice(): Promise<void> {
    const options = { ...PHONE, isUserVerified: true, automaticPresenceSimulation: true }
    await devices.send('WebAuthn.addVirtualAuthenticator', { options })
  }

  async function signIn(): Promise<void> {
    await context.clearCookies()
    await page.goto('/signin')
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(({ pathname }) => pathname !== '/signin')
  }
  async function expectUsable(): Promise<void> {
    await expectAccessible(page)
    await expectKeyboard(page)
  }
  const heading = () => page.getByRole('heading', { level: 1 }).innerText()

  test('a passkey is added with the keyboard, and opens the next session', async () => {
    await page.goto('/register')
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByRole('link', { name: 'Development outbox' }).last().click()
    await openMailedLink(page, EMAIL, /\/verify\?token=/)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Confirm and sign in' }).click()
    await expect.poll(heading).toBe('Overview')
    const [row] = await running.database.sql`select account_id from account where email = ${EMAIL}`
    await setRole(running.database.sql, { accountId: Number(row?.account_id), role: 'owner', by: COMMAND_LINE })
    await signIn()
    await page.goto(FACTOR)
    await page.getByRole('link', { name: 'Use a passkey instead of an app' }).click()
    await expectUsable()
    await addDevice()
    await page.getByLabel('Name').fill('office laptop')
    await page.getByLabel('Name').press('Enter')
    await expect.poll(heading).toBe('Recovery codes')
    expect(await page.locator('.recovery-codes li').count()).toBe(10)
    await signIn()
    await page.goto('/operator')
    await expect.poll(heading).toBe('Confirm it is you')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Use a passkey' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${base}/operator`)
  })

  test('pages with passkeys are light, and say when an attempt was cancelled', async () => {
    for (const path of [FACTOR, `${FACTOR}/passkeys`]) {
      await expectLight(page, path)
      await expectUsable()
    }
    await signIn()
    await page.goto(FACTOR)
    await page.evaluate(`navigator.credentials.get = async () => { throw new DOMException('', 'NotAllowedError') }`)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByText('Cancelled, or it took too long. Try again.').waitFor()
    await expectAccessible(page)
    expect(complaints).toEqual([])
  })

  test('without scripts, the page asks for a code instead of a passkey, and says so', async () => {
    const plain = await openContext(browser, { baseURL: base, javaScriptEnabled: false })
    const silent = await plain.newPage()
    await silent.goto('/signin')
    await silent.getByLabel('Email').fill(EMAIL)
    await silent.getByLabel('Password').fill(PASSWORD)
    await silent.getByRole('button', { name: 'Sign in' }).click()
    await silent.waitForURL(({ pathname }) => pathname === FACTOR)
    const hint = silent.locator('noscript p')
    expect([await hint.isVisible(), await hint.textContent()]).toEqual([
      true,
      expect.stringContaining('need JavaScript'),
    ])
    expect(await silent.getByRole('button', { name: 'Use a passkey' }).count()).toBe(0)
    await silent.getByLabel('Recovery code').waitFor()
    await plain.close()
  })
})
