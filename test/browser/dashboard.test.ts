/** The customers' pages in a real browser, where things go less smoothly: slow networks, ended sessions, very long names. */

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PEOPLE_LIMITS } from '../../src/accounts/limits.ts'
import { openSession } from '../../src/accounts/sessions.ts'
import { clearBanner, setBanner } from '../../src/operations/banner.ts'
import { REASON_CODES } from '../../src/payments/transactions.ts'
import { chatCall } from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { expectNarrow, missingBrowser, openContext, PHONE_WIDTH, startBrowser } from './browser.ts'

const missing = missingBrowser()
if (missing !== null) console.warn(`browser tests are skipped: ${missing}`)

const LONG = 'x'.repeat(100)

describe.skipIf(missing !== null)('the pages of a customer', () => {
  let running: TestGateway
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let account: TestAccount
  let session: { name: string; value: string; url: string }

  beforeAll(async () => {
    running = await startTestGateway()
    browser = await startBrowser()
    context = await openContext(browser, { baseURL: running.url, acceptDownloads: true })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    account = await running.account(10n ** 12n)
    const { sql } = running.database
    await sql`update api_key set label = ${LONG} where account_id = ${account.accountId}`
    await sql`update account set is_operator = true where account_id = ${account.accountId}`
    for (const [model, tag] of [
      ['gpt-5.5', 'short'],
      [`unknown-${LONG}`, 'y'.repeat(64)],
    ] as const) {
      const headers = { 'x-api-key': account.apiKey, 'x-svc-tag': tag }
      const reply = await fetch(`${running.url}/v1/messages`, { method: 'POST', headers, body: chatCall(model) })
      expect([model, reply.status, (await reply.text()) !== '']).toEqual([model, 200, true])
    }
    await running.gateway.readiness.idle()
    const visitor = { ipAddress: '127.0.0.1', userAgent: 'test', language: 'en' } as const
    const { token } = await openSession(sql, PEOPLE_LIMITS, { accountId: account.accountId, visitor })
    session = { name: 'session', value: token, url: running.url }
  })
  afterAll(async () => {
    await browser?.close()
    await running?.close()
  })
  beforeEach(async () => {
    await context.addCookies([session])
    page = await context.newPage()
  })
  afterEach(() => page.close())

  /** Holds back the answers to a filter until the returned function is called. */
  async function holdBack(pattern: string): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route(pattern, async route => {
      await promise
      // The page may have withdrawn the request meanwhile.
      await route.continue().catch(() => {})
    })
    return resolve
  }

  test('the last of several quick choices decides what a slow network shows, and it shows that it is loading', async () => {
    await page.goto('/usage')
    let release = await holdBack('**/usage?*')
    await page.locator('select[name=measure]').selectOption('calls')
    await page.locator('select[name=measure]').selectOption('tokens')
    const replaced = page.waitForEvent('requestfailed', request => request.url().includes('measure=tokens'))
    await page.locator('select[name=status]').selectOption('error')
    await replaced
    expect(await page.locator('#usage[aria-busy="true"]').count()).toBe(1)
    release()
    await page.getByText('No calls', { exact: true }).waitFor()
    expect(page.url()).toContain('status=error')
    expect(await page.locator('#usage[aria-busy]').count()).toBe(0)

    await page.goto('/models')
    release = await holdBack('**/models?*')
    const search = page.getByLabel('Search by name, id or task')
    for (const letters of ['g', 'gr', 'grok']) {
      const asking = page.waitForRequest(request => request.url().includes(`q=${letters}&`))
      await search.fill(letters)
      await asking
    }
    release()
    await page.getByText('2 found').waitFor()

    await page.goto('/models/claude-opus-5')
    release = await holdBack('**/models/claude-opus-5?*')
    for (const calls of ['2', '20', '200']) {
      const asking = page.waitForRequest(request => request.url().endsWith(`calls=${calls}`))
      await page.getByLabel('Calls', { exact: true }).fill(calls)
      await asking
    }
    release()
    await page.getByText('Total for 200 calls').first().waitFor()
  })

  test('a period that is too long or ends before it begins is corrected, and the page says which days it shows', async () => {
    await page.goto('/usage?from=2026-01-01&to=2026-01-31')
    const note = page.getByText('These figures are from')
    expect(await note.count()).toBe(0)
    await page.getByLabel('From').fill('2020-01-01')
    await page.getByText('These figures are from 31/01/2025 to 31/01/2026').waitFor()
    await page.getByLabel('From').fill('2026-02-03')
    await page.getByText('These figures are from 31/01/2026 to 31/01/2026').waitFor()
    await page.getByLabel('From').fill('2026-01-30')
    await note.waitFor({ state: 'detached' })
  })

  test('after the session has ended, a filter and an export lead to the sign-in page, and back from there', async () => {
    for (const use of [
      () => page.locator('select[name=measure]').selectOption('tokens'),
      () => page.getByRole('link', { name: /^Export CSV/ }).click(),
    ]) {
      await page.goto('/usage?tag=short')
      await page.locator('.calls').getByText('gpt-5.5').waitFor()
      let hasDownloaded = false
      page.on('download', () => {
        hasDownloaded = true
      })
      await context.clearCookies({ name: 'session' })
      await use()
      await page.waitForURL(/\/signin\?next=%2Fusage%3F/)
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      expect(hasDownloaded).toBe(false)
      await context.addCookies([session])
    }
  })

  test('a button that is pressed twice to copy keeps its name', async () => {
    await page.clock.install()
    await page.goto('/models/gpt-5.5')
    const button = await page.getByRole('button', { name: 'Copy gpt-5.5', exact: true }).first().elementHandle()
    for (const waitMs of [1_000, 10_000]) {
      await button?.click()
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe('gpt-5.5')
      expect(await button?.getAttribute('aria-label')).toBe('Copied')
      await page.clock.runFor(waitMs)
    }
    expect(await button?.getAttribute('aria-label')).toBe('Copy gpt-5.5')
  })

  test('names of any length leave amounts in sight', async () => {
    await page.goto('/usage')
    const call = (await page.locator('.calls .when a').first().getAttribute('href')) as string
    for (const width of [1280, 800, 320]) {
      await page.setViewportSize({ width, height: 900 })
      for (const path of [
        '/overview',
        '/keys',
        `/keys/${account.keyId}`,
        '/usage',
        '/usage?by=key',
        '/usage?by=tag',
        call,
        `/operator/accounts/${account.accountId}`,
        '/operator/calls',
      ]) {
        await page.goto(path)
        // The table of a chart is the only one that may scroll sideways.
        const wide = await page.evaluate<string[]>(`[document.documentElement,
          ...document.querySelectorAll('.table-frame:not(.chart-table)')]
          .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.outerHTML.slice(0, 80))`)
        expect([path, width, wide]).toEqual([path, width, []])
      }
    }
  })

  test('an address of any length, and a link in the banner, stay on the screen of a phone', async () => {
    const { sql } = running.database
    const email = `${'a'.repeat(64)}@${'b'.repeat(60)}.example.com`
    const [before] = await sql`select email from account where account_id = ${account.accountId}`
    await sql`update account set email = ${email} where account_id = ${account.accountId}`
    const until = new Date(Date.now() + 3_600_000)
    await setBanner(sql, { vi: LONG, en: LONG, until })
    await page.setViewportSize({ width: PHONE_WIDTH, height: 800 })
    for (const path of ['/account', '/account/email', '/account/delete', '/account/alerts', '/account/sign-ins']) {
      await page.goto(path)
      await expectNarrow(page)
    }
    // Pages may show what they knew of the banner five seconds ago.
    await expect
      .poll(async () => (await page.goto('/')) && page.locator('.ribbon.note').count(), { timeout: 30_000 })
      .toBe(1)
    await expectNarrow(page)
    await clearBanner(sql)
    await sql`update account set email = ${before?.email} where account_id = ${account.accountId}`
  })

  test('questions before money moves keep long addresses and references in their frame on a phone', async () => {
    const { sql } = running.database
    const { accountId } = await running.account(0n)
    await sql`update account set email = ${`${'a'.repeat(64)}@${'b'.repeat(60)}.example.com`} where account_id = ${accountId}`
    await page.setViewportSize({ width: PHONE_WIDTH, height: 800 })
    const ask = async (path: string, fields: Readonly<Record<string, string>>) => {
      await page.goto(path)
      const form = page.locator('form[method=post]').filter({ has: page.locator('[name=amount]') })
      for (const [name, value] of Object.entries(fields)) await form.locator(`[name=${name}]`).fill(value)
      await form.locator('[name=reason]').press('Enter')
      await page.locator('.ask').waitFor()
      await expectNarrow(page)
    }
    await ask(`/operator/accounts/${accountId}`, { amount: '2.000.000', reason: 'goodwill' })
    await ask('/operator/transfers', { reference: `FT${LONG}`, amount: '2.000.000', memo: LONG, reason: 'seen' })
  })

  test('transfers that wait, whatever the reason, and those that they may be the same as stay on the screen of a phone', async () => {
    const { sql } = running.database
    await sql`
      insert into bank_txn (provider, provider_ref, bank_ref, account_no, amount_vnd, direction, content, via, state, state_at, reason)
      select 'signed', 'narrow' || reason, ${LONG}, '1', 50000, 1, ${LONG}, 1, 2, now(), reason
        from unnest(string_to_array(${Object.values(REASON_CODES).join()}, ',')::smallint[]) reason`
    await page.setViewportSize({ width: PHONE_WIDTH, height: 800 })
    for (const [language, twins] of [
      ['vi', 'Có thể trùng với'],
      ['en', 'May be the same as'],
    ] as const) {
      await page.goto(`/operator/transfers?language=${language}`)
      expect(await page.getByText(twins).count()).toBe(Object.keys(REASON_CODES).length)
      await expectNarrow(page)
    }
  })
})
