/**
 * What the law requires of the operator: company details in every page's footer, legal texts, invoice details and receipts.
 * Also the operator's announcement banner.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setRole } from '../../src/accounts/operator.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { CONTENT_PAGES, contentValues, findDrafts, readContent } from '../../src/dashboard/content.ts'
import { renderMarkdown } from '../../src/dashboard/markdown.ts'
import { startTestGateway, TEST_COMPANY, type TestGateway } from '../support/gateway.ts'
import { readable, Visitor } from './visitor.ts'

let running: TestGateway
let owner: Visitor
let customer: Visitor
const folder = mkdtempSync(join(tmpdir(), 'gateway-content-'))

beforeAll(async () => {
  writeFileSync(
    join(folder, 'terms.en.md'),
    '# Our terms\n\n{company} & co, tax code {tax_code}. <b>raw</b> {unknown}\n',
  )
  running = await startTestGateway({
    environment: { ...TEST_COMPANY, SUPPORT_PHONE: '+84 28 1234 5678', CONTENT_DIR: folder },
  })
  owner = new Visitor(running.url)
  const { password } = await owner.signUp('owner@example.com')
  const [row] = await running.database.sql`select account_id from account where email = 'owner@example.com'`
  await setRole(running.database.sql, { accountId: Number(row?.account_id), role: 'owner', by: COMMAND_LINE })
  await owner.post('/signin', { email: 'owner@example.com', password })
  customer = new Visitor(running.url)
  await customer.signUp('customer@example.com')
})
afterAll(async () => {
  await running.close()
  rmSync(folder, { recursive: true })
})

const PAGES = ['contact', 'terms', 'privacy', 'refunds', 'complaints']
const stranger = () => new Visitor(running.url)

test('the footer of every page names the company and links to all five texts, in both languages', async () => {
  for (const path of ['/', '/models', '/signin', '/nothing', ...PAGES.map(page => `/${page}`)]) {
    const { html } = await stranger().get(path)
    for (const page of PAGES) expect([path, html.includes(`href="/${page}"`)]).toEqual([path, true])
    expect([path, readable(html).includes('Công ty TNHH SVC · Tax code: 0302712571')]).toEqual([path, true])
  }
  for (const page of PAGES) {
    const { status, html } = await stranger().get(`/${page}`, { 'accept-language': 'vi' })
    expect([page, status, html.includes('lang="vi"')]).toEqual([page, 200, true])
    expect(html).not.toMatch(/\{\w+\}/)
  }
  const contact = readable((await stranger().get('/contact')).html)
  expect(contact).toContain('help@example.com')
  expect(contact).toContain('+84 28 1234 5678')
})

test('the drafts have no gap if the operator has no phone', async () => {
  const known = { name: 'A', address: 'B', taxCode: 'C', representative: 'D', email: 'e@example.com' }
  const values = contentValues({ ...known, phone: null, zalo: null }, { service: 'SVC', url: 'https://example.com' })
  for (const page of CONTENT_PAGES) {
    for (const language of ['vi', 'en'] as const) {
      const { html } = await readContent({ page, language }, { folder: null, values })
      expect([page, language, html.includes('…')]).toEqual([page, language, false])
    }
  }
})

test('a draft says that it is one and is hidden from search engines; the operator’s own file replaces it at once, as plain text', async () => {
  const draft = await stranger().get('/privacy')
  expect(readable(draft.html)).toContain('Draft: the operator has not approved this text yet.')
  expect(draft.html).toContain('noindex')
  const own = await stranger().get('/terms')
  expect(own.html).toContain('<h1>Our terms</h1>')
  expect(own.html).toContain('Công ty TNHH SVC &amp; co, tax code 0302712571. &lt;b&gt;raw&lt;/b&gt; {unknown}')
  expect(own.html).not.toContain('noindex')
  writeFileSync(join(folder, 'terms.en.md'), 'Changed.\n')
  expect((await stranger().get('/terms')).html).toContain('<p>Changed.</p>')
  expect(await findDrafts(folder, ['vi', 'en'])).toHaveLength(9)
})

test.each([
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](data:text/html,<script>)',
  '[x](vbscript:x)',
  '[x](//evil.example)',
  '![x](https://evil.example/p.png)',
  '[x]: javascript:alert(1)\n\n[x]',
  '<javascript:alert(1)>',
])('%j in a text runs nothing and loads nothing', source => {
  const html = renderMarkdown(source)
  expect(html).not.toMatch(/<(script|img|iframe)|href="(javascript|data|vbscript|\/\/)/i)
})

test('headings, lists, tables, bold, code and links of a text are formatted', () => {
  const source =
    '## One *1*\n\nA **b** `c**d**` [e](/f?a=1&b=2)\n\n- x\n  y\n- z\n\n1. p\n2. q\n\n| h | i |\n|---|---|\n| 1 | <2> |'
  expect(renderMarkdown(source).split('\n')).toEqual([
    '<h2>One *1*</h2>',
    '',
    '<p>A <strong>b</strong> <code>c**d**</code> <a href="/f?a=1&amp;b=2" rel="noreferrer">e</a></p>',
    '<ul><li>x',
    'y</li><li>z</li></ul>',
    '<ol><li>p</li><li>q</li></ol>',
    '<table><thead><tr><th scope="col">h</th><th scope="col">i</th></tr></thead><tbody><tr><td>1</td><td>&lt;2&gt;</td></tr></tbody></table>',
  ])
})

test('"contact us" leads to the contact page', async () => {
  const blocked = stranger()
  const { email, password } = await blocked.signUp('blocked@example.com')
  await running.database.sql`update account set blocked_at = now() where email = ${email}`
  const { status, html } = await blocked.post('/signin', { email, password })
  expect([status, html.includes('<a href="/contact">contact us</a>')]).toEqual([403, true])
})

test('a banner is on every page until it expires, in the language of the page, and is logged', async () => {
  const soon = new Date(Date.now() + 7 * 3_600_000 + 3_600_000).toISOString().slice(0, 16)
  const form = { vi: 'Bảo trì tối nay <b>', en: 'Maintenance\r\ntonight <b>', until: soon }
  for (const wrong of [
    { ...form, vi: '' },
    { ...form, en: '' },
    { ...form, until: '2020-01-01T00:00' },
    { ...form, until: '2999-01-01T00:00' },
    { ...form, until: 'soon' },
    { ...form, until: '2026-02-30T99:99' },
  ]) {
    const refused = await owner.post('/operator/banner', wrong)
    expect([wrong, refused.status]).toEqual([wrong, 422])
    if (wrong.en !== '') expect(refused.html).toContain('>Maintenance tonight &lt;b&gt;</textarea>')
  }
  expect((await owner.post('/operator/banner', form)).location).toBe('/operator/banner?done=banner')
  expect(readable((await stranger().get('/')).html)).toContain('Maintenance tonight &lt;b&gt;')
  // A mistake in a new one does not hide that the old one is shown and can be taken away.
  expect((await owner.post('/operator/banner', { ...form, en: '' })).html).toContain('value="clear"')
  expect(readable((await stranger().get('/nothing', { 'accept-language': 'vi' })).html)).toContain('Bảo trì tối nay')
  expect(readable((await owner.get('/operator/log')).html)).toContain('Set the banner')
  await running.database.sql`update banner set until = now() - interval '1 second'`
  await owner.post('/operator/banner', { ...form, until: 'x' })
  await expect.poll(async () => (await stranger().get('/')).html.includes('tonight')).toBe(false)
  await owner.post('/operator/banner', form)
  await owner.post('/operator/banner', { do: 'clear' })
  expect((await stranger().get('/')).html).not.toContain('tonight')
})

test('every page announces maintenance without an operator’s banner', async () => {
  await owner.post('/operator/maintenance', { state: 'on' })
  const notice = 'Maintenance: API calls are refused for a while.'
  await expect.poll(async () => readable((await stranger().get('/models')).html).includes(notice)).toBe(true)
  await owner.post('/operator/maintenance', { state: 'off' })
  await expect.poll(async () => readable((await stranger().get('/models')).html).includes(notice)).toBe(false)
})

test('invoice details are checked field by field, keep what was typed, and a doubtful tax code is accepted the second time', async () => {
  const good = {
    wanted: 'yes',
    name: 'Công ty Lan & Anh',
    tax_code: '0100109106',
    address: '2 Hàng Bài, Hà Nội',
    email: 'ketoan@lan.example',
    sure: '',
  }
  for (const [name, value] of [
    ['name', ''],
    ['address', ''],
    ['email', ''],
    ['email', 'nobody'],
    ['tax_code', '12345'],
    ['tax_code', '0100109107'],
  ] as const) {
    const refused = await customer.post('/account/invoice', { ...good, [name]: value })
    expect([name, value, refused.status]).toEqual([name, value, 422])
    expect(refused.html).toContain(`id="invoice-${name}-fault"`)
    if (name !== 'address') expect(refused.html).toContain('value="2 Hàng Bài, Hà Nội"')
  }
  const doubtful = await customer.post('/account/invoice', { ...good, tax_code: '0100109107' })
  expect(doubtful.html).toContain('name="sure" value="0100109107"')
  const sure = { ...good, tax_code: '0100109107', sure: '0100109107' }
  expect((await customer.post('/account/invoice', sure)).location).toBe('/account/invoice?done=saved')
  expect((await customer.post('/account/invoice', good)).status).toBe(303)
  expect((await customer.get('/account/invoice')).html).toContain('value="0100109106"')
  expect((await owner.get('/account/invoice')).html).not.toContain('0100109106')
})

test('a receipt has the transfer, with seller and buyer as they were then, and only its owner can see it', async () => {
  const order = await customer.topUp('250.000')
  const receipt = await customer.get(`${order}/receipt`)
  const page = readable(receipt.html)
  for (const part of [
    'This is a receipt, not a VAT invoice.',
    'Công ty TNHH SVC',
    'Công ty Lan & Anh',
    'Tax code: 0100109106',
    '250.000 ₫',
    order.replace('/topup/', ''),
  ]) {
    expect(page).toContain(part)
  }
  await customer.post('/account/invoice', { name: 'Another', tax_code: '', address: '', email: '' })
  const receipts = (await owner.get('/operator/receipts.csv')).html.split('\r\n')
  const line = receipts.find(row => row.includes(order.replace('/topup/', '')))
  expect(line).toContain(',Công ty Lan & Anh,0100109106,')
  expect(readable((await customer.get(`${order}/receipt`)).html)).toContain('Công ty Lan & Anh')
  const next = await customer.topUp('60.000')
  expect(readable((await customer.get(`${next}/receipt`)).html)).not.toContain('Another')
  expect((await owner.get(`${order}/receipt`)).status).toBe(404)
  const open = await customer.order('70.000')
  expect((await customer.get(`${open}/receipt`)).status).toBe(404)
  expect((await customer.get(order)).html).toContain(`href="${order}/receipt"`)
})
