/** A headless Chromium for tests, and what must hold of every page that it shows. */

import { existsSync } from 'node:fs'
import axe, { type RunOptions } from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
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
]

/** Why there is no browser to test with, or null. Throws where there has to be one. */
export function missingBrowser(): string | null {
  if (existsSync(EXECUTABLE)) return null
  const reason = `there is no ${EXECUTABLE}; install Debian's chromium, or set CHROMIUM to the path of one`
  if (process.env.CI) throw new Error(reason)
  return reason
}

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS })
}

/** What a page complained of: failed loads, broken content policy, errors of scripts. */
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

/**
 * Nothing serious for those who cannot see or point, and no scrolling sideways on a phone. What dark colours can change is
 * contrast alone, so only that is looked at twice.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source)
  const everything: RunOptions = { resultTypes: ['violations'] }
  for (const [colorScheme, options] of [
    ['light', everything],
    ['dark', { ...everything, runOnly: ['color-contrast'] }],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const { violations } = await page.evaluate(
      given => (globalThis as unknown as { axe: typeof axe }).axe.run(given),
      options,
    )
    const serious = violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' | ')}`)
    expect([page.url(), colorScheme, serious]).toEqual([page.url(), colorScheme, []])
  }
  const viewport = page.viewportSize()
  await page.setViewportSize({ width: 360, height: 740 })
  // A string: the page has a document, this process has none.
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  expect([page.url(), width]).toEqual([page.url(), 360])
  if (viewport !== null) await page.setViewportSize(viewport)
}
