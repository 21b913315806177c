/** Conversations in the playground, in a real browser: what is sent, what is put back, and what becomes of a reply's Markdown. */

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PEOPLE_LIMITS } from '../../src/accounts/limits.ts'
import { openSession } from '../../src/accounts/sessions.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { collectComplaints, missingBrowser, openContext, startBrowser } from './browser.ts'

const missing = missingBrowser()
if (missing !== null) console.warn(`browser tests are skipped: ${missing}`)

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

interface Sent {
  readonly max_tokens: number
  readonly messages: readonly { readonly role: string; readonly content: string | readonly { type: string }[] }[]
}

describe.skipIf(missing !== null)('a conversation in the playground', () => {
  let running: TestGateway
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let complaints: string[]
  let sent: Sent[]
  let session: { name: string; value: string; url: string }

  beforeAll(async () => {
    running = await startTestGateway()
    browser = await startBrowser()
    context = await openContext(browser, { baseURL: running.url })
    const { accountId } = await running.account(10n ** 12n)
    const visitor = { ipAddress: '127.0.0.1', userAgent: 'test', language: 'en' } as const
    const { token } = await openSession(running.database.sql, PEOPLE_LIMITS, { accountId, visitor })
    session = { name: 'session', value: token, url: running.url }
  })
  afterAll(async () => {
    await browser?.close()
    await running?.close()
  })
  beforeEach(async () => {
    await context.clearCookies()
    await context.addCookies([session])
    page = await context.newPage()
    complaints = collectComplaints(page, running.url)
    sent = []
    page.on('request', request => {
      if (request.url().includes('/playground/v1/')) sent.push(request.postDataJSON())
    })
    await page.goto('/playground?model=gpt-5.5')
  })
  afterEach(() => page.close())

  const message = () => page.locator('[name=prompt]')
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const texts = () => sent.at(-1)?.messages.map(({ content }) => content)

  async function send(text: string): Promise<void> {
    await message().fill(text)
    await button('Send').click()
  }

  /** Waits until the reply to the newest message is there and paid for. */
  async function answered(): Promise<void> {
    await page
      .locator('.answer')
      .last()
      .getByText(/charged \d/)
      .waitFor()
  }

  test('a conversation that is started over while a reply arrives is not continued', async () => {
    await send('sandbox:slow=20 sandbox:tokens=2000 The first question')
    await page.locator('.answer .markdown').getByText('simulated').waitFor()
    await button('Start over').click()
    await button('Send').waitFor()
    expect(await page.locator('.answer').count()).toBe(0)
    await send('The second question')
    await answered()
    expect(texts()).toEqual(['The second question'])
    await send('The third question')
    await answered()
    expect(texts()).toEqual(['The second question', expect.stringContaining('second'), 'The third question'])
    expect(complaints).toEqual([])
  })

  test('a message that is stopped before it has an answer is put back, with its pictures', async () => {
    await page.getByLabel('Add pictures').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: PIXEL })
    await page.locator('[data-pictures] li').waitFor()
    await send('sandbox:hang A long question')
    await page.locator('.question').waitFor()
    await button('Stop').click()
    await button('Send').waitFor()
    expect(await message().inputValue()).toBe('sandbox:hang A long question')
    expect(await page.locator('[data-pictures] li').count()).toBe(1)
    expect(await page.evaluate('document.activeElement.name')).toBe('prompt')
    expect(complaints).toEqual([])
  })

  test('several pictures chosen at once are all sent; a model that cannot see says so', async () => {
    const files = [1, 2, 3].map(bytes => ({
      name: `${bytes}.png`,
      mimeType: 'image/png',
      buffer: Buffer.concat([PIXEL, Buffer.alloc(bytes)]),
    }))
    await page.getByLabel('Add pictures').setInputFiles(files)
    await page.locator('[data-pictures] li').nth(2).waitFor()
    await page.locator('select[name=first]').selectOption('glm-5.1')
    await send('What is this?')
    await page.getByText('glm-5.1 cannot see pictures. Remove them or choose another model.').waitFor()
    expect(sent).toEqual([])
    await page.locator('select[name=first]').selectOption('gpt-5.5')
    await button('Send').click()
    await answered()
    const [content] = texts() ?? []
    expect((content as readonly { type: string }[]).map(({ type }) => type)).toEqual([
      ...files.map(() => 'image_url'),
      'text',
    ])
    expect(complaints).toEqual([])
  })

  test('a model that edits pictures takes one, and is not asked to edit the first of several', async () => {
    await page.locator('select[name=first]').selectOption('req/gpt-image-2')
    const files = [1, 2].map(bytes => ({
      name: `${bytes}.png`,
      mimeType: 'image/png',
      buffer: Buffer.concat([PIXEL, Buffer.alloc(bytes)]),
    }))
    await page.getByLabel('Add pictures').setInputFiles(files)
    await page.locator('[data-pictures] li').nth(1).waitFor()
    await send('Make it red')
    await page.getByText('req/gpt-image-2 edits one picture at a time. Remove the others.').waitFor()
    expect(sent).toEqual([])
    await page.getByRole('button', { name: 'Remove: Picture 2' }).click()
    await button('Send').click()
    await answered()
    expect(sent).toMatchObject([{ image: expect.stringMatching(/^data:image\/png;base64,/) }])
    expect(complaints).toEqual([])
  })

  test('whole numbers may have dots between thousands; a chosen effort stays when the format changes', async () => {
    await page.locator('summary', { hasText: 'System prompt' }).click()
    const cap = page.getByLabel('Max output tokens')
    for (const [typed, tokens] of [
      ['1.000', 1000],
      ['2 048', 2048],
      ['64', 64],
    ] as const) {
      await cap.fill(typed)
      await send('Hello')
      await answered()
      expect([typed, sent.at(-1)?.max_tokens]).toEqual([typed, tokens])
    }
    await cap.fill('10.00')
    await send('Hello')
    await page.getByText('Enter a number.').waitFor()
    expect(sent).toHaveLength(3)
    await page.getByLabel('Reasoning effort').selectOption('high')
    await page.getByLabel('API format').selectOption('messages')
    expect(await page.getByLabel('Reasoning effort').inputValue()).toBe('high')
    expect(complaints).toEqual([])
  })

  test('somebody who types elsewhere while a reply arrives goes on typing there', async () => {
    await page.locator('summary', { hasText: 'System prompt' }).click()
    await send('sandbox:slow=40 sandbox:tokens=60 Hello')
    await page.locator('textarea[name=system]').pressSequentially('You are ')
    await answered()
    await page.keyboard.type('kind')
    expect(await page.locator('textarea[name=system]').inputValue()).toBe('You are kind')
    expect(await message().inputValue()).toBe('')
    expect(complaints).toEqual([])
  })

  test('somebody who was signed out signs in in another tab, and the conversation goes on', async () => {
    await send('The first question')
    await answered()
    await context.clearCookies()
    await send('The second question')
    const link = page.getByRole('link', { name: 'Sign in again' })
    const opening = context.waitForEvent('page')
    await link.click()
    const other = await opening
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    await other.close()
    await context.addCookies([session])
    expect(await message().inputValue()).toBe('The second question')
    await button('Send').click()
    await answered()
    expect(texts()).toEqual(['The first question', expect.stringContaining('first'), 'The second question'])
  })

  test('text that only looks like Markdown keeps its characters, wherever the stream is cut', async () => {
    const written: readonly (readonly [string, string])[] = [
      ['use my_function_name, MAX_TOKENS and họ_tên', 'use my_function_name, MAX_TOKENS and họ_tên'],
      ['_private_name and _em_ and __init__', '_private_name and em and init'],
      ['arr[0], see [1] and [this](https://example.com/a_b)', 'arr[0], see [1] and this'],
      ['*args, **kwargs, ~~not', '*args, **kwargs, ~~not'],
      ['*args\n\n**strong** and *em*', '*argsstrong and em'],
      ['![not] but ![alt](https://example.com/a.png)', '![not] but alt'],
      ['`a_b[0]` and https://example.com/a_b_c', 'a_b[0] and https://example.com/a_b_c'],
      ['- task_a_b\n- list[1]', 'task_a_blist[1]'],
      ['set $HOME,\n\n- **then** $PATH', 'set $HOME,then $PATH'],
      ['$5 and $10, `a $b`, $x and $y', '$5 and $10, a $b, $x and $y'],
      ['[this](https://example.com/?$a=$b) costs US$ 3', 'this costs US$ 3'],
      ['the formula $x^2$ and\n$$\ny_1\n$$\nend', 'the formula x^2 andy_1\nend'],
      ['```sh\necho $A $B\n```\n$(c) $', 'echo $A $B$(c) $'],
    ]
    const shown = await page.evaluate<string[][]>(`(async () => {
      const script = [...performance.getEntriesByType('resource')].find(({ name }) => /playground-markdown/.test(name)).name
      const { markdownInto } = await import(script)
      return ${JSON.stringify(written)}.map(([text]) => [1, 2, 5, 1000].map(size => {
        const root = document.createElement('div')
        const into = markdownInto(root)
        for (let at = 0; at < text.length; at += size) into.write(text.slice(at, at + size))
        into.end()
        return root.textContent
      }))
    })()`)
    expect(shown).toEqual(written.map(([, text]) => [text, text, text, text]))
  })
})
