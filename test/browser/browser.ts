/** Opens a headless Chromium for tests, and checks what every page must fulfil: accessibility, size and use by keyboard. */

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import axe, { type RunOptions } from 'axe-core'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Each page compiles axe anew and is closed before optimized code would pay off.
  '--js-flags=--no-opt --no-maglev',
]
/** Timeout, long enough for a busy machine. */
const WAIT_MS = 60_000

/** Returns why there is no browser to test with, or null if there is one. In CI, throws the reason instead. */
export function missingBrowser(): string | null {
  if (existsSync(EXECUTABLE)) return null
  const reason = `there is no ${EXECUTABLE}; install Debian's chromium, or set CHROMIUM to the path of one`
  if (process.env.CI) throw new Error(reason)
  return reason
}

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS })
}

/** Opens a context in English with reduced motion: animations cost time, and axe would judge pages halfway through them. */
export async function openContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options })
  context.setDefaultTimeout(WAIT_MS)
  return context
}

/**
 * Follows a link in an email in the development outbox. Waits for the email, because some emails are sent only after the page
 * that announces them.
 */
export async function openMailedLink(page: Page, email: string, link: RegExp): Promise<void> {
  // Leaving the page earlier would cancel the form's request.
  await page.waitForURL(/\/(sent|outbox)$/)
  const mail = page.getByRole('article').filter({ hasText: email }).getByRole('link', { name: link })
  await expect
    .poll(async () => {
      await page.goto('/development/outbox')
      return mail.count()
    })
    .toBe(1)
  await mail.click()
}

/**
 * Collects the complaints about a page: failed loads, loads from other sites, violations of the content security policy, and
 * script errors.
 */
export function collectComplaints(page: Page, base: string): string[] {
  const complaints: string[] = []
  page.on('console', message => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(error.message))
  page.on('response', response => {
    const { protocol, origin } = new URL(response.url())
    if (protocol.startsWith('http') && origin !== base) complaints.push(`loads ${response.url()}`)
  })
  return complaints
}

/** The minified source of axe, which every page has to parse again. It is less than half as long as `axe.source`. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Turns off the rules whose findings are at most moderate, because only serious and critical findings fail a test. */
const { rules } = (axe as unknown as { _audit: { rules: { id: string; impact: string | null }[] } })._audit
const SERIOUS: RunOptions = {
  resultTypes: ['violations'],
  rules: Object.fromEntries(
    rules.filter(({ impact }) => impact === 'minor' || impact === 'moderate').map(({ id }) => [id, { enabled: false }]),
  ),
}

/**
 * Checks that axe finds no serious fault in a page, and that the page does not scroll sideways on a phone. In dark mode, only
 * contrast is checked again. `onPhone` can add checks while the window is as narrow as a phone.
 */
export async function expectAccessible(page: Page, onPhone?: () => Promise<void>): Promise<void> {
  await page.evaluate(AXE)
  for (const [colorScheme, options] of [
    ['light', SERIOUS],
    ['dark', { resultTypes: ['violations'], runOnly: ['color-contrast'] }],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    const { violations } = await page.evaluate(
      given => (globalThis as unknown as { axe: typeof axe }).axe.run(given),
      options,
    )
    const serious = violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' | ')}`)
    expect([page.url(), colorScheme, serious]).toEqual([page.url(), colorScheme, []])
  }
  await page.emulateMedia({ colorScheme: null })
  const viewport = page.viewportSize()
  await page.setViewportSize({ width: PHONE_WIDTH, height: 740 })
  await expectNarrow(page)
  await onPhone?.()
  if (viewport !== null) await page.setViewportSize(viewport)
}

export const PHONE_WIDTH = 360

/** Pairs of table cells whose contents are drawn on top of each other. A string, because `document` exists only in the page. */
const OVERLAPPING_CELLS = `[...document.querySelectorAll('tr')].flatMap(row => {
  const contents = [...row.cells].map(cell => {
    const range = document.createRange()
    range.selectNodeContents(cell)
    return { text: cell.innerText, boxes: [...range.getClientRects()] }
  })
  const overlap = (one, other) => one.left < other.right - 1 && other.left < one.right - 1
    && one.top < other.bottom - 1 && other.top < one.bottom - 1
  return contents.flatMap((one, index) => contents.slice(index + 1)
    .filter(other => one.boxes.some(box => other.boxes.some(each => overlap(box, each))))
    .map(other => one.text + ' | ' + other.text))
})`

/** Checks that a page neither scrolls sideways nor draws cells over each other in a window as narrow as a phone. */
export async function expectNarrow(page: Page): Promise<void> {
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  const overlapping = await page.evaluate<string[]>(OVERLAPPING_CELLS)
  expect([page.url(), width, overlapping]).toEqual([page.url(), PHONE_WIDTH, []])
}

const PAGE_BYTES_MAX = 60_000
/** Page size limit for the playground, which loads more scripts than other pages. */
const PLAYGROUND_BYTES_MAX = 120_000

/**
 * Opens a page with an empty cache, and checks that all it transfers (HTML, styles, scripts, images and headers) stays below
 * the limit.
 */
export async function expectLight(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await page.goto(path)
  await session.detach()
  // The lower bound catches a page whose parts were not counted.
  const bytesMax = path === '/playground' ? PLAYGROUND_BYTES_MAX : PAGE_BYTES_MAX
  expect([path, bytes > 10_000, bytes < bytesMax]).toEqual([path, true, true])
}

/**
 * A script that numbers every element that Tab should reach. It leaves out hidden elements, and unselected radio buttons, which
 * are reached with the arrow keys. From then on, whenever Tab is pressed, the page records the element that is about to lose
 * the focus.
 */
const NUMBER_STOPS = `(() => {
  globalThis.passed = []
  globalThis.noteStop = () => {
    const { dataset, tagName } = document.activeElement
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
    const box = document.activeElement.getBoundingClientRect()
    passed.push({ stop: dataset.stop ?? tagName, isSeen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
      && box.bottom > 0 && box.top < innerHeight })
  }
  addEventListener('keydown', ({ key }) => { if (key === 'Tab') noteStop() }, true)
  return [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
    .filter(element => element.type !== 'radio' || element.checked)
    .filter(element => !element.disabled && element.tabIndex >= 0 && element.checkVisibility({ visibilityProperty: true }))
    .map((element, index) => (element.dataset.stop = index, element.outerHTML.slice(0, 120)))
})()`
const PRESSES_AT_ONCE = 20

/** Checks that Tab reaches every control and link, and that each is visible and outlined while it has the focus. */
export async function expectKeyboard(page: Page): Promise<void> {
  const stops = await page.evaluate<string[]>(NUMBER_STOPS)
  const reached = new Set<string>()
  // Press a few more times than there are elements, because date fields have several stops each.
  for (let presses = 0; presses < stops.length + 20 && reached.size < stops.length; presses += PRESSES_AT_ONCE) {
    await Promise.all(Array.from({ length: PRESSES_AT_ONCE }, () => page.keyboard.press('Tab')))
    const passed = await page.evaluate<{ stop: string; isSeen: boolean }[]>('(noteStop(), passed.splice(0))')
    for (const { stop, isSeen } of passed) {
      if (stop === 'BODY') continue
      expect([page.url(), stops[Number(stop)] ?? stop, isSeen]).toEqual([page.url(), stops[Number(stop)] ?? stop, true])
      reached.add(stop)
    }
  }
  const missed = stops.filter((_, index) => !reached.has(String(index)))
  expect([page.url(), missed]).toEqual([page.url(), []])
}
