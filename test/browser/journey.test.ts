/**
 * Follows a customer from registration to the CSV export of a call, in a real browser and with a real SDK, then tests single
 * pages. An operator enters the bank transfer.
 */

import { readFileSync } from 'node:fs'
import OpenAI from 'openai'
import type { Browser, BrowserContext, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PAGES } from '../../src/dashboard/pages.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { transferMoney } from '../support/transfers.ts'
import {
  collectComplaints,
  expectAccessible,
  expectKeyboard,
  expectLight,
  expectNarrow,
  missingBrowser,
  openContext,
  openMailedLink,
  startBrowser,
} from './browser.ts'

const missing = missingBrowser()
if (missing !== null) console.warn(`browser tests are skipped: ${missing}`)

const EMAIL = 'person@example.com'
const PASSWORD = 'mot cau dai de nho'

/** Files, answers to the pages' scripts, and redirects to identity providers. */
const NOT_PAGES = /\.(json|txt|xml|ico|csv|png)$|\/(google|github)(\/callback)?$|\/(state|bill|passkeys)$/

/** The pages of the dashboard that are not among these URLs. */
function pagesBeside(urls: readonly string[]): string[] {
  const paths = urls.map(url => url.replace(/\?.*/, ''))
  const shown = PAGES.filter(({ method, path }) => method === 'GET' && !NOT_PAGES.test(path)).map(({ path }) => path)
  return shown.filter(path => {
    const pattern = new RegExp(`^${path.replace(/:\w+/g, '[^/]+').replace('*', '.+')}$`)
    return !paths.some(each => pattern.test(each))
  })
}

describe.skipIf(missing !== null)('in a browser', () => {
  let running: TestGateway
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let complaints: string[]
  beforeAll(async () => {
    running = await startTestGateway()
    browser = await startBrowser()
    context = await openContext(browser, { baseURL: running.url, acceptDownloads: true })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    page = await context.newPage()
    complaints = collectComplaints(page, running.url)
  })
  afterAll(async () => {
    await browser?.close()
    await running?.close()
  })

  test('register, verify, top up, call with the SDK, see the row, export it', async () => {
    await page.goto('/')
    await page.getByRole('link', { name: 'Create an account' }).first().click()
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByRole('link', { name: 'Development outbox' }).last().click()
    await openMailedLink(page, EMAIL, /\/verify\?token=/)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Confirm and sign in' }).click()
    await expect.poll(() => page.getByRole('heading', { level: 1 }).innerText()).toBe('Overview')

    await page.getByRole('link', { name: 'Top up from 50.000 ₫' }).click()
    await page.getByRole('button', { name: '100.000 ₫', exact: true }).click()
    await page.getByText('Waiting for your transfer.').waitFor()
    await page.getByRole('button', { name: 'Copy Transfer memo' }).click()
    const memo = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(memo).toMatch(/^ST[0-9A-Z]{10}$/)
    const transfer = {
      memo: `MBVCB.1.${memo.toLowerCase()}.CT tu 001 NGUYEN VAN A`,
      amountVnd: 100_000,
      environment: {},
    }
    expect(await transferMoney(running.database.sql, transfer)).toBe('credited')
    // The page polls by itself, without a reload.
    await page.getByText('100.000 ₫ received').waitFor()
    await page.getByRole('link', { name: 'Balance 100.000 ₫' }).waitFor()
    await page.getByText('Your balance is now 100.000 ₫.').waitFor()

    await page.getByRole('link', { name: 'Create an API key' }).click()
    await page.getByLabel('Key name').fill('laptop')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByRole('button', { name: 'Copy Key' }).click()
    const apiKey = await page.evaluate<string>('navigator.clipboard.readText()')

    const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey })
    const reply = await client.chat.completions
      .create({ model: 'gpt-5.5', messages: [{ role: 'user', content: 'Xin chào' }] })
      .withResponse()
    const cost = reply.response.headers.get('x-svc-cost-vnd') as string
    await running.gateway.readiness.idle()

    await page.goto('/usage')
    const row = page.getByRole('row').filter({ hasText: 'gpt-5.5' }).filter({ hasText: 'laptop' })
    await row.waitFor()
    expect(await row.innerText()).toContain(`${cost.replace('.', ',')}\u00a0₫`)
    const bar = page.locator('.bars a').last()
    await bar.hover()
    await page.locator('.tip').filter({ hasText: 'gpt-5.5' }).waitFor()
    await bar.click()
    await page.waitForURL(/from=.*#calls$/)
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export CSV (1 row)' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toMatch(/^usage-.*\.csv$/)
    const csv = readFileSync(await download.path(), 'utf8')
    expect(csv.trim().split('\r\n').length).toBe(2)
    expect(csv).toContain(`,${cost},`)
    expect(complaints).toEqual([])
  })

  test('an order says that the server cannot be reached, and continues once it can', async () => {
    await page.goto('/topup')
    await page.getByLabel('Amount (₫)').fill('55.000')
    await page.getByLabel('Amount (₫)').press('Enter')
    await page.getByText('Waiting for your transfer.').waitFor()
    const offline = page.getByText('The server cannot be reached')
    for (const refuse of [
      (route: Route) => route.abort(),
      (route: Route) => route.fulfill({ status: 503, contentType: 'text/html', body: '<p>gone</p>' }),
    ]) {
      expect(await offline.isVisible()).toBe(false)
      await page.route('**/state', refuse)
      await offline.waitFor()
      expect(await page.getByText('Waiting for your transfer.').isVisible()).toBe(true)
      expect(await page.locator('#fault').isVisible()).toBe(false)
      await page.unroute('**/state')
      await offline.waitFor({ state: 'hidden' })
    }
    await page.getByRole('button', { name: 'Copy everything' }).click()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(/Amount: 55000\nTransfer memo: ST/)
    await page.getByText('Open your banking app').click()
    expect(await page.getByRole('link', { name: 'Vietcombank' }).getAttribute('href')).toBe(
      'https://dl.vietqr.io/pay?app=vcb',
    )
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Save the QR code' }).click()
    expect((await downloading).suggestedFilename()).toMatch(/^ST\w{10}\.png$/)
    await page.getByRole('button', { name: 'Cancel this order' }).click()
    complaints.length = 0
  })

  test('filters change the page and its address without a reload', async () => {
    await page.goto('/models')
    await page.evaluate('window.stays = true')
    await page.getByLabel('Search by name, id or task').pressSequentially('grok')
    await page.getByText('2 found').waitFor()
    await page.getByLabel('Compare Grok 4.3').check()
    await page.getByLabel('Served by').selectOption('aws')
    await page.getByText('1 found').waitFor()
    expect(await page.getByText('svc/grok-4.3').count()).toBe(1)
    expect(page.url()).toContain('channel=aws')
    expect(await page.getByLabel('Compare Grok 4.3').isChecked()).toBe(true)
    // Enter submits the search, as in any form, and keeps the filters.
    await page.getByLabel('Served by').selectOption('')
    await page.getByLabel('Search by name, id or task').fill('gemni')
    await page.getByText('closest match: “gemini”').waitFor()
    expect(await page.evaluate('window.stays')).toBe(true)
    await page.getByLabel('Search by name, id or task').press('Enter')
    await page.waitForURL(/q=gemni/)
    await page.getByLabel('Compare Gemini 3.5 Flash').check()
    await page.getByRole('button', { name: 'Compare (2–4 models)' }).click()
    await page.waitForURL('/compare?model=grok-4.3&model=gemini-3.5-flash')
    await page.getByLabel('Input tokens per call').fill('400000')
    await page.getByRole('row', { name: /Grok 4\.3 Per call cheapest 850 ₫/ }).waitFor()
    await page.getByLabel('Calls').fill('none')
    await page.getByText('Enter a number from 1 to 100.000.000.').waitFor()
    await page.getByRole('link', { name: 'Gemini 3.5 Flash' }).first().click()
    await page.getByText('Responses', { exact: true }).click()
    await page.getByText('TypeScript', { exact: true }).last().click()
    await page.getByText('await client.responses.create').waitFor()
    await page.goto('/usage')
    await page.getByLabel('Status').selectOption('error')
    await page.getByText('No calls', { exact: true }).waitFor()
    await page.getByRole('link', { name: '7 days' }).click()
    await page.waitForURL(/from=/)
    expect(await page.getByLabel('Status').inputValue()).toBe('error')
    expect(complaints).toEqual([])
  })

  test('a filter shows that it is loading; if that fails, the old data stays, with a message and a way to retry', async () => {
    await page.goto('/usage')
    const rows = page.locator('.calls tbody tr')
    const shown = await rows.count()
    expect(shown).toBeGreaterThan(0)
    const fault = page.getByText('New data could not be loaded.')
    let answer = () => {}
    const failures: readonly (readonly [string, (route: Route) => Promise<void>])[] = [
      ['calls', route => route.fulfill({ status: 503, contentType: 'text/html', body: '<h1>no</h1>' })],
      ['tokens', route => route.abort()],
    ]
    for (const [measure, fail] of failures) {
      const answered = new Promise<void>(resolve => {
        answer = resolve
      })
      await page.route('**/usage?*', async route => {
        await answered
        await fail(route)
      })
      await page.locator('select[name=measure]').selectOption(measure)
      await page.locator('#usage[aria-busy="true"]').waitFor()
      answer()
      await fault.waitFor()
      expect(await page.locator('#usage[aria-busy]').count()).toBe(0)
      expect(await rows.count()).toBe(shown)
      await expectAccessible(page)
      await page.unroute('**/usage?*')
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('heading', { name: `${measure === 'calls' ? 'Calls' : 'Tokens'} by day` }).waitFor()
      expect(await fault.isVisible()).toBe(false)
    }
    // Both failed requests are expected complaints: the browser logs them to its console.
    complaints.length = 0
  })

  test('the reference page calls the API with the key that is typed there', async () => {
    await page.goto('/reference')
    const operation = page.locator('#countTokens')
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.locator('[data-try-reply]').getByText('authentication_error').waitFor()
    complaints.length = 0
    await page.goto('/keys')
    await page.getByRole('link', { name: 'laptop' }).click()
    await page.getByRole('button', { name: 'Show the key' }).click()
    const apiKey = (await page.locator('.secret code').innerText()).trim()
    await page.goto('/reference')
    await page.getByLabel('API key').fill(apiKey)
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.locator('[data-try-reply]').getByText('"input_tokens"').waitFor()
    expect(complaints).toEqual([])
  })

  test('the playground asks two models, stops, draws, speaks, and gives the request as code', async () => {
    await page.goto('/playground?model=gpt-5.5')
    const message = page.locator('[name=prompt]')
    const answers = page.locator('.playground-log .answer')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Write a message first.').waitFor()
    expect(await page.evaluate('document.activeElement.name')).toBe('prompt')
    await message.fill('Xin chào')
    await message.press('Control+Enter')
    await page.getByText(/tokens in, \d+ out · charged 0,\d+/).waitFor()
    expect(await answers.count()).toBe(1)

    await page.getByLabel('Compare two models').check()
    await message.fill('sandbox:slow=20 sandbox:tokens=2000 Kể chuyện')
    await page.getByRole('button', { name: 'Send' }).click()
    await page
      .getByText(/≈ 0,\d+/)
      .nth(1)
      .waitFor()
    // The stop button has the focus now, so Enter stops the request that was just sent.
    await page.keyboard.press('Enter')
    await page.getByText('Stopped. You pay only for what has arrived.').nth(1).waitFor()
    await page
      .getByText(/charged 0,\d+/)
      .nth(2)
      .waitFor()
    await page.getByLabel('Compare two models').uncheck()

    await page.locator('summary', { hasText: 'View code' }).click()
    await message.fill('Còn nữa')
    await page.locator('[name=language]').selectOption('Python')
    const code = page.locator('[data-code]')
    expect(await code.innerText()).toContain('client.chat.completions.create(')
    await page.locator('summary', { hasText: 'System prompt' }).click()
    await page.getByLabel('API format').selectOption('messages')
    expect(await code.innerText()).toMatch(/client\.messages\.create\([\s\S]*"content": "Còn nữa"/)
    await page.getByLabel('Max output tokens').fill('nhiều')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Enter a number.').waitFor()
    const tops = `[...document.querySelectorAll('.playground-parameters .field')].filter(field => !field.hidden)
      .map(field => field.children[1].getBoundingClientRect().top)`
    expect(new Set(await page.evaluate<number[]>(tops)).size).toBe(1)
    await page.getByLabel('Max output tokens').fill('64')
    await expectAccessible(page)

    await page.getByRole('button', { name: 'Start over' }).click()
    expect(await answers.count()).toBe(0)
    await page.locator('select[name=first]').selectOption('req/gpt-image-2')
    await message.fill('Hoa sen')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('img', { name: 'Picture made for: Hoa sen' }).waitFor()
    await page.getByText('charged 650').waitFor()
    // Pictures are made and billed even if nobody waits for them: here, three at 650 ₫ each.
    const isAsked = Promise.withResolvers<void>()
    await page.route('**/playground/v1/images/**', () => isAsked.resolve())
    await page.locator('[name=n]').fill('3')
    await message.fill('Hoa súng')
    await page.getByRole('button', { name: 'Send' }).click()
    await isAsked.promise
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('the call is billed; see Usage. It costs at most 1.950 ₫.').waitFor()
    await page.unroute('**/playground/v1/images/**')
    await page.locator('select[name=first]').selectOption('req/gpt-4o-mini-tts')
    await message.fill('Xin chào')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('charged 1.350').waitFor()
    const isPlayable = "document.querySelector('audio').error === null && document.querySelector('audio').duration > 0"
    await expect.poll(() => page.evaluate(isPlayable)).toBe(true)
    await expectAccessible(page)
    await page.emulateMedia({ colorScheme: null })
    await page.goto('/usage')
    await page.getByRole('row').filter({ hasText: 'playground' }).first().waitFor()
    expect(complaints).toEqual([])
  })

  test('Markdown from a model becomes harmless elements only, wherever the stream is cut', async () => {
    await page.goto('/playground')
    const hostile = [
      '# Title\n\n**bold** `code` ![see](https://evil.example/p.png) [go](https://example.com/a) [bad](javascript:alert(1))',
      '[data](data:text/html,x) [ours](/signout) <img src=x onerror=alert(1)> <script>alert(1)</script>',
      '- one\n- [x] two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js" onclick="x\nlet a = 1 < 2\n```\n> quote\n',
      `${'> '.repeat(60)}deep ${'*'.repeat(60)} ${'['.repeat(60)}\n${'- '.repeat(60)}x`,
    ].join('\n\n')
    const shown = await page.evaluate<{ html: string; names: string[]; links: string[] }[]>(`(async () => {
      const script = [...performance.getEntriesByType('resource')].find(({ name }) => /playground-markdown/.test(name)).name
      const { markdownInto } = await import(script)
      const text = ${JSON.stringify(hostile)}
      return [1, 2, 7, 100_000].map(size => {
        const root = document.createElement('div')
        const into = markdownInto(root)
        for (let at = 0; at < text.length; at += size) into.write(text.slice(at, at + size))
        into.end()
        const elements = [...root.querySelectorAll('*')]
        const names = elements.flatMap(element => [element.localName, ...element.getAttributeNames().map(name => '@' + name)])
        const links = elements.filter(element => element.href).map(element => element.href)
        return { html: root.innerHTML, names: [...new Set(names)].sort(), links }
      })
    })()`)
    for (const { html, names, links } of shown) {
      expect(html).toBe(shown[0]?.html)
      expect(names).toEqual(
        [
          '@href',
          '@rel',
          '@scope',
          '@tabindex',
          '@target',
          'a',
          'blockquote',
          'code',
          'em',
          'h4',
          'li',
          'p',
          'pre',
          'span',
        ]
          .concat('strong', 'table', 'td', 'th', 'tr', 'ul')
          .sort(),
      )
      expect(links).toEqual(['https://evil.example/p.png', 'https://example.com/a'])
      expect(html).toContain('&lt;script&gt;')
    }
    expect(complaints).toEqual([])
  })

  test('without JavaScript pages offer nothing that needs it', async () => {
    const { cookies } = await context.storageState()
    const plain = await openContext(browser, { baseURL: running.url, javaScriptEnabled: false })
    await plain.addCookies(cookies)
    const silent = await plain.newPage()
    await silent.goto('/reference')
    await silent.getByText('"max_tokens"').first().waitFor()
    expect(await silent.getByRole('button', { name: 'Send' }).count()).toBe(0)
    expect(await silent.getByLabel('API key').isVisible()).toBe(false)
    await silent.goto('/topup')
    await silent.getByRole('button', { name: '50.000 ₫', exact: true }).click()
    await silent.getByText('Waiting for your transfer.').waitFor()
    expect(await silent.getByText('This page updates by itself.').isVisible()).toBe(false)
    expect(await silent.getByRole('button', { name: /^Copy/ }).count()).toBe(0)
    await silent.getByRole('link', { name: 'See whether it has arrived' }).click()
    await silent.getByRole('button', { name: 'Cancel this order' }).click()
    await silent.getByText('Cancelled').first().waitFor()
    await plain.close()
  })

  test('without JavaScript the playground says so and points to the quick start', async () => {
    const { cookies } = await context.storageState()
    const plain = await openContext(browser, { baseURL: running.url, javaScriptEnabled: false })
    await plain.addCookies(cookies)
    const silent = await plain.newPage()
    await silent.goto('/playground')
    await silent.getByText('This page needs JavaScript.').waitFor()
    expect(await silent.getByRole('main').getByRole('link', { name: 'quick start' }).getAttribute('href')).toBe(
      '/quickstart',
    )
    expect(await silent.getByRole('button', { name: 'Send' }).isVisible()).toBe(false)
    await plain.close()
  })

  test('a chosen colour scheme applies at once and stays; the keyboard reaches the content and closes menus', async () => {
    await page.goto('/models')
    await page.locator('details.person summary').click()
    await page.getByRole('link', { name: 'Use dark mode' }).click()
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await page.reload()
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').innerText()).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.locator(':focus').getAttribute('id')).toBe('main')
    const menu = page.locator('details.person')
    await menu.locator('summary').press('Enter')
    expect(await menu.getAttribute('open')).toBe('')
    await page.keyboard.press('Escape')
    expect(await menu.getAttribute('open')).toBeNull()
    await context.clearCookies({ name: 'theme' })
  })

  test('every page is accessible: axe finds nothing serious, in light and dark, and no page is too wide for a phone', {
    timeout: 600_000,
  }, async () => {
    await running.database.sql`update account set is_operator = true where email = ${EMAIL}`
    await page.goto('/topup')
    const order = await page.getByRole('link', { name: /^ST/ }).first().getAttribute('href')
    await page.goto('/usage')
    const call = (await page.locator('.calls .when a').first().getAttribute('href')) as string
    await page.goto('/account/alerts')
    await page.getByLabel('URL').fill('https://hooks.example/x')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.waitForURL(/\/account\/webhooks$/)
    await expectAccessible(page)
    await page.goto('/account/alerts')
    const hook = await page.locator('#webhooks th a').first().getAttribute('href')
    const inOperator = (path: string) => `/operator${path}`
    const paths = [
      ...[
        '/',
        '/models',
        '/models/claude-opus-5',
        '/models/req/gpt-image-2',
        '/compare?model=opus&model=gpt-5.5&model=grok-4.3',
      ],
      ...['/quickstart', '/reference', '/nothing'],
      ...['/contact', '/terms', '/privacy', '/refunds', '/complaints', '/account/invoice'],
      ...[
        '/account/alerts',
        hook as string,
        '/account/email/sent',
        '/account/email/confirm?token=x',
        '/unsubscribe?token=x',
      ],
      ...[
        '/overview',
        '/keys',
        '/keys/1',
        '/topup',
        order as string,
        `${order}/receipt`,
        '/usage',
        call,
        '/playground',
        '/account',
        '/account/second-factor',
        '/account/sign-ins',
        '/account/email',
        '/account/delete',
        '/development/outbox',
      ],
      ...['', '/accounts', '/accounts/1', '/transfers', '/orders', '/log', '/team', '/banner'].map(inOperator),
      ...['/calls', call.replace('/usage', '/calls'), '/business', '/upstreams', '/upstreams/anthropic'].map(
        inOperator,
      ),
      ...['/models', '/revenue'].map(inOperator),
    ]
    const signedOut = [
      ...[
        '/register',
        '/register/sent',
        '/signin',
        '/signin/link',
        '/signin/link/sent',
        '/signin/link/confirm?token=x',
      ],
      ...['/account/deleted', '/forgot', '/forgot/sent', '/reset?token=x', '/verify?token=x'],
    ]
    expect(pagesBeside([...paths, ...signedOut])).toEqual([])
    for (const path of paths) {
      await expectLight(page, path)
      await expectAccessible(page, async () => {
        await page.evaluate(`for (const fold of document.querySelectorAll('main details')) fold.open = true`)
        await expectNarrow(page)
        await expectVietnamese(path)
      })
    }
    await page.goto('/operator')
    await page.getByRole('button', { name: 'Audit what is new' }).click()
    await page.getByText('No differences.').waitFor()
    await expectAccessible(page)
    await context.clearCookies()
    for (const path of signedOut) {
      await expectLight(page, path)
      await expectAccessible(page, () => expectVietnamese(path))
    }
  })

  /** Checks that the page fits on a phone in Vietnamese too, whose sentences are longer. */
  async function expectVietnamese(path: string): Promise<void> {
    await context.addCookies([{ name: 'language', value: 'vi', url: running.url }])
    await page.goto(path)
    expect([path, await page.locator('html').getAttribute('lang')]).toEqual([path, 'vi'])
    await expectNarrow(page)
    await context.clearCookies({ name: 'language' })
  }

  test('registering, paying and resetting a password are accessible at every step', async () => {
    const email = 'new@example.com'
    await page.goto('/register')
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill('short')
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByText('Use at least').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await openMailedLink(page, email, /\/verify\?token=/)
    await expectAccessible(page)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Confirm and sign in' }).click()
    for (const path of ['/overview', '/keys', '/usage', '/topup']) {
      await page.goto(path)
      await expectAccessible(page)
    }
    await page.getByLabel('Amount').fill('60 000')
    await page.getByRole('button', { name: 'Show the QR code' }).click()
    await page.getByText('Waiting for your transfer.').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Simulate the transfer' }).click()
    await page.getByText('60.000 ₫ received').waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Create an API key' }).click()
    await page.getByLabel('Key name').fill('first')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByText('Your key is ready').waitFor()
    await expectAccessible(page)
    await page.goto('/keys')
    await page.getByText('Set limits (optional)').click()
    await page.getByLabel('Spending limit').fill('lots')
    await page.getByLabel('Concurrent calls').fill('many')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByText('Enter an amount in whole dong').waitFor()
    // The first invalid field has the focus, and every invalid field has a border that shows it.
    const borders = ['label', 'cap', 'flight'].map(
      name => `getComputedStyle(document.querySelector('[name=${name}]')).borderColor`,
    )
    const [usual, ...wrong] = await page.evaluate<string[]>(`[${borders}]`)
    expect([new Set(wrong).size, wrong.includes(usual as string)]).toEqual([1, false])
    expect(await page.evaluate('document.activeElement.name')).toBe('cap')
    await page.locator('details.person summary').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.goto('/forgot')
    await page.getByLabel('Email').fill(email)
    await page.getByRole('button', { name: 'Send the link' }).click()
    await openMailedLink(page, email, /\/reset\?token=/)
    await expectAccessible(page)
    await page.getByLabel('New password').fill(`${PASSWORD} moi`)
    await page.getByRole('button', { name: 'Save and sign in' }).click()
    await expect.poll(() => page.getByRole('heading', { level: 1 }).innerText()).toBe('Overview')
  })

  test('the keyboard reaches everything, and shows where it is; nothing moves for those who asked for rest', async () => {
    for (const path of [
      '/overview',
      '/keys',
      '/topup',
      '/usage',
      '/playground',
      '/account',
      '/models?q=opus',
      '/models/opus',
      '/compare?model=opus&model=gpt-5.5',
      '/quickstart',
    ]) {
      await page.goto(path)
      await expectKeyboard(page)
    }
    await page.getByRole('link', { name: 'Top up', exact: true }).first().click()
    await page.getByLabel('Amount').fill('70.000')
    await page.keyboard.press('Enter')
    await page.getByText('Waiting for your transfer.').waitFor()
    const moving = 'document.getAnimations().length'
    expect(await page.evaluate(moving)).toBe(0)
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    expect(await page.evaluate(moving)).toBeGreaterThan(0)
  })
})
