/**
 * Tests signing in with Google and GitHub in a real browser, including cookies, cross-site redirects and the content security
 * policy. Local servers play both providers, on a different site from the gateway.
 */

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PASSWORD, Visitor } from '../dashboard/visitor.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { type ProviderDouble, startProvider } from '../support/identity-providers.ts'
import { freePort } from '../support/program.ts'
import { collectComplaints, expectAccessible, missingBrowser, openContext, startBrowser } from './browser.ts'

const missing = missingBrowser()
if (missing !== null) console.warn(`browser tests are skipped: ${missing}`)

describe.skipIf(missing !== null)('in a browser', () => {
  let running: TestGateway
  let google: ProviderDouble
  let github: ProviderDouble
  let browser: Browser
  let url: string
  let context: BrowserContext
  let page: Page
  let complaints: string[]
  beforeAll(async () => {
    ;[google, github] = await Promise.all([startProvider('google'), startProvider('github')])
    const port = String(await freePort())
    url = `http://localhost:${port}`
    running = await startTestGateway({
      environment: { PORT: port, PUBLIC_URL: url, ...google.environment, ...github.environment },
    })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await running?.close()
    await Promise.all([google?.close(), github?.close()])
  })
  beforeEach(async () => {
    context = await openContext(browser, { baseURL: url })
    page = await context.newPage()
    complaints = collectComplaints(page, url)
  })
  afterEach(async () => {
    google.restore()
    github.restore()
    await context.close()
  })

  /** The browser's complaints, except about loads from the two providers, which are expected. */
  const ownComplaints = () =>
    complaints.filter(text => !text.startsWith(`loads ${google.url}`) && !text.startsWith(`loads ${github.url}`))
  const goOnWith = (label: string) => page.getByRole('link', { name: `Continue with ${label}` }).click()

  test('signing in with Google leads to the requested page; GitHub is linked, too, and then either signs in', async () => {
    google.person = { id: 'g-1', email: 'new@gmail.com' }
    github.person = { id: '1', email: 'elsewhere@example.com' }
    await page.goto('/usage')
    await page.waitForURL('**/signin?next=**')
    await goOnWith('Google')
    await page.waitForURL(`${url}/usage`)
    await page.goto('/account/sign-ins')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Link GitHub' }).click()
    await expectAccessible(page)
    await goOnWith('GitHub')
    await page.getByText('GitHub is linked.').waitFor()
    for (const label of ['GitHub', 'Google']) {
      await context.clearCookies()
      await page.goto('/signin')
      await goOnWith(label)
      await page.waitForURL(`${url}/overview`)
      await page.goto('/account')
      await page.locator('main').getByText('new@gmail.com').first().waitFor()
    }
    expect(ownComplaints()).toEqual([])
  })

  test('the owner of a known address confirms it once, with the password', async () => {
    await new Visitor(url).signUp('owner@gmail.com')
    google.person = { id: 'g-2', email: 'owner@gmail.com' }
    await page.goto('/signin?next=/keys')
    await goOnWith('Google')
    await page.waitForURL(`${url}/signin/link`)
    await page.getByText('There is an account for owner@gmail.com.').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Password').fill('a guess')
    await page.keyboard.press('Enter')
    await page.getByText('Incorrect password.').waitFor()
    expect(await page.evaluate('document.activeElement.name')).toBe('password')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/keys`)
    await context.clearCookies()
    await page.goto('/signin')
    await goOnWith('Google')
    await page.waitForURL(`${url}/overview`)
    expect(ownComplaints().filter(text => !text.includes('422'))).toEqual([])
  })

  test('the owner of a known address can also confirm it by email, in the same browser', async () => {
    const owner = new Visitor(url)
    await owner.signUp('reader@example.com')
    github.person = { id: '2', email: 'reader@example.com' }
    await page.goto('/signin')
    await goOnWith('GitHub')
    await page.getByRole('button', { name: 'Send the link' }).click()
    await page.getByText('Open the link in our email in this same browser.').waitFor()
    await page.goto(await owner.mailedLink('/signin/link/confirm', 'reader@example.com'))
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Link and sign in' }).click()
    await page.waitForURL(`${url}/overview`)
    expect(ownComplaints()).toEqual([])
  })

  test('whoever cancels at the provider reads that nothing has changed, and can begin again', async () => {
    google.person = { id: 'g-3', email: 'hesitant@gmail.com' }
    google.answer = query => {
      query.delete('code')
      query.set('error', 'access_denied')
    }
    await page.goto('/signin')
    await goOnWith('Google')
    await page.getByText('You cancelled. Nothing has changed.').waitFor()
    await expectAccessible(page)
    google.restore()
    await page.getByRole('link', { name: 'Go to the sign-in page' }).click()
    await goOnWith('Google')
    await page.waitForURL(`${url}/overview`)
    expect(ownComplaints().filter(text => !text.includes('422'))).toEqual([])
  })
})
