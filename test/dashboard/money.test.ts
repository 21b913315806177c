/** Topping up, keys and usage, from the first dong paid to the exported row. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { CONCURRENCY_MAX, limitKey } from '../../src/accounts/key-rate.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { count } from '../../src/dashboard/view/format.ts'
import { TABLES } from '../../src/generated/tables.ts'
import { credit } from '../../src/ledger/credit.ts'
import { dayOf } from '../../src/ledger/reports/days.ts'
import { microVnd } from '../../src/lib/money.ts'
import { renderQrPng } from '../../src/payments/qr-png.ts'
import { encodeVietQr } from '../../src/payments/vietqr.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { transferMoney } from '../support/transfers.ts'
import { PASSWORD, readable, Visitor } from './visitor.ts'

const today = (): string => dayOf(new Date())

let running: TestGateway
let owner: Visitor
let stranger: Visitor
beforeAll(async () => {
  running = await startTestGateway()
  owner = new Visitor(running.url)
  stranger = new Visitor(running.url)
  await owner.signUp('owner@example.com')
  await stranger.signUp('stranger@example.com')
})
afterAll(() => running.close())

function call(key: string, model = 'gpt-5.5', tag = ''): Promise<Response> {
  return fetch(`${running.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'x-svc-tag': tag },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Xin chào' }] }),
  })
}

test('a key can be made only after the first top-up', async () => {
  const person = new Visitor(running.url)
  await person.signUp('before@example.com')
  const { html } = await person.get('/keys')
  expect(readable(html)).toContain('You can create keys after your first top-up.')
  const forced = await person.post('/keys', { label: 'x', submission: crypto.randomUUID() })
  expect([forced.status, readable(forced.html).includes('Make your first top-up')]).toEqual([422, true])
  await person.topUp('50.000')
  const { key } = await person.createKey('first')
  expect((await call(key)).status).toBe(200)
})

test('amounts are understood as people write them, and nothing else is', async () => {
  const amounts = { '50000': '50.000', '50.000': '50.000', '50 000': '50.000', ' 1.000.000 ₫ ': '1.000.000' }
  for (const [amount, shown] of Object.entries(amounts)) {
    const { location } = await owner.post('/topup', { amount })
    expect([amount, readable((await owner.get(location)).html).includes(`Transfer ${shown} ₫`)]).toEqual([amount, true])
    await owner.post(`${location}/cancel`)
  }
  for (const amount of ['', 'abc', '50k', '5e4', '-50000', '50.000,5', '50,5', '0x10', '٥٠٠٠٠']) {
    const refused = await owner.post('/topup', { amount })
    expect([amount, refused.status]).toEqual([amount, 422])
    expect(readable(refused.html)).toContain('Enter an amount in whole dong, such as 50.000.')
  }
  for (const amount of ['49.999', '0', '499.000.001', '999999999999999999']) {
    const refused = await owner.post('/topup', { amount })
    expect([amount, refused.status]).toEqual([amount, 422])
  }
})

test('an order shows where to transfer, waits, and changes when the money has come', async () => {
  const { location } = await owner.post('/topup', { amount: '70.000' })
  const again = await owner.post('/topup', { amount: '70000' })
  expect(again.location).toBe(location)
  const { html } = await owner.get(location)
  const code = location.slice('/topup/'.length)
  expect(html).toContain('<svg xmlns')
  expect(readable(html)).toContain('Waiting for your transfer.')
  for (const copied of [code, '70000', '0000000000']) expect(html).toContain(`data-copy="${copied}"`)
  const htmx = { 'hx-request': 'true', 'hx-request-type': 'partial' }
  expect(html).toContain(`hx-get="${location}/state"`)
  const waiting = await owner.get(`${location}/state`, htmx)
  expect([waiting.status, waiting.html]).toEqual([204, ''])
  expect((await owner.get(`${location}/state`)).location).toBe(location)
  await owner.post(`${location}/simulate`)
  const arrived = await owner.get(`${location}/state`, htmx)
  expect([arrived.status, arrived.headers.get('hx-redirect')]).toEqual([200, location])
  const paid = readable((await owner.get(location)).html)
  expect(paid).toContain('70.000 ₫ received')
  // Clicking again does not pay twice.
  await owner.post(`${location}/simulate`)
  expect(readable((await owner.get('/topup')).html)).not.toContain('140.000')
})

test('money that came without an order is on the top-up page, too, without the operators’ notes about it', async () => {
  const { sql } = running.database
  const [row] = await sql`select account_id from account where email = 'owner@example.com'`
  const accountId = Number(row?.account_id)
  const given = { accountId, amountMicroVnd: microVnd(7_000_000_000n), kind: 'adjustment', reference: 'test' } as const
  await credit(sql, { ...given, note: 'internal remark' })
  const text = readable((await owner.get('/topup')).html)
  expect(text).toMatch(/Adjustment 7\.000 ₫/)
  expect(text).not.toContain('internal remark')
  for (const query of ['before=x', 'credits=x', `before=ST7K3M9QXA2X`, 'credits=1'])
    expect([query, (await owner.get(`/topup?${query}`)).status]).toEqual([query, 200])
})

test('preset amounts are buttons in a separate form, so that they need no script', async () => {
  const { html } = await owner.get('/topup')
  const forms = [...html.matchAll(/<form[^>]*action="\/topup">(.*?)<\/form>/gs)].map(match => match[1] as string)
  expect(forms).toHaveLength(2)
  const [quick, typed] = forms as [string, string]
  expect([...quick.matchAll(/<button class="[^"]*" name="amount" value="([\d.]+)"/g)].map(match => match[1])).toContain(
    '200.000',
  )
  expect(quick).not.toContain('<input')
  // Pressing Enter in the field submits the typed amount rather than a preset one.
  expect(typed).not.toContain('name="amount" value="200.000"')
  const { location } = await owner.post('/topup', { amount: '200.000' })
  expect(readable((await owner.get(location)).html)).toContain('Transfer 200.000 ₫')
  await owner.post(`${location}/cancel`)
})

test('the QR code of an open order can be saved, and everything that a transfer needs can be copied as one text', async () => {
  const { location } = await owner.post('/topup', { amount: '60.000' })
  const code = location.slice('/topup/'.length)
  const { html } = await owner.get(location)
  expect(html).toContain(`href="${location}/qr.png" download="${code}.png"`)
  const all = /class="button quiet small copies" data-copy="([^"]+)"/.exec(html)?.[1]
  expect(all?.split('\n')).toEqual([
    'Bank: Sandbox',
    'Account number: 0000000000',
    'Account holder: SANDBOX',
    'Amount: 60000',
    `Transfer memo: ${code}`,
  ])
  const picture = await fetch(`${running.url}${location}/qr.png`, {
    headers: { ...owner.headers, cookie: owner.cookie },
  })
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(picture.headers.get('content-disposition')).toBe(`attachment; filename="${code}.png"`)
  const payload = encodeVietQr({ bin: '999999', accountNumber: '0000000000', amountVnd: 60_000, memo: code })
  expect(Buffer.from(await picture.arrayBuffer()).equals(renderQrPng(payload))).toBe(true)
  expect((await stranger.get(`${location}/qr.png`)).status).toBe(404)
  await owner.post(`${location}/cancel`)
  expect((await owner.get(`${location}/qr.png`)).status).toBe(404)
})

test('a paid order shows code, date, bank reference and memo, and says if too little or too much came, or too late', async () => {
  const { sql } = running.database
  const pay = async (change: string, amountVnd: number, memo = '') => {
    const { location } = await owner.post('/topup', { amount: '90.000' })
    const code = location.slice('/topup/'.length)
    if (change === 'late') await sql`update topup_order set expires_at = now() where order_code = ${code}`
    if (change === 'cancelled') await owner.post(`${location}/cancel`)
    expect(await transferMoney(sql, { memo: `${memo} ${code}`, amountVnd })).toBe('credited')
    const page = readable((await owner.get(location)).html)
    return { code, page, receipt: readable((await owner.get(`${location}/receipt`)).html) }
  }
  const usual = await pay('', 90_000, 'MBVCB tu Lan')
  expect(usual.page).toContain('90.000 ₫ received')
  expect(usual.page).toMatch(
    new RegExp(`Order ${usual.code} .*\\d\\d/\\d\\d/\\d{4}.*Bank reference FT\\d+.*MBVCB tu Lan ${usual.code}`),
  )
  expect(usual.receipt).toMatch(new RegExp(`FT\\d+ .*MBVCB tu Lan ${usual.code}`))
  expect(usual.page).not.toMatch(/than the order|expired|cancelled/)
  const short = await pay('', 80_000)
  expect(short.page).toContain('Underpaid That is 10.000 ₫ less than the order of 90.000 ₫.')
  const history = readable((await owner.get('/topup')).html)
  expect(history).toMatch(new RegExp(`${usual.code} 90\\.000 ₫ 90\\.000 ₫ Paid \\d`))
  expect(history).toContain(`${short.code} 90.000 ₫ 80.000 ₫ Underpaid`)
  expect((await pay('', 91_000)).page).toContain('That is more than the order of 90.000 ₫.')
  expect((await pay('late', 90_000)).page).toContain('It arrived after the order had expired')
  expect((await pay('cancelled', 85_000)).page).toMatch(/5\.000 ₫ less than .* The order had been cancelled/)
})

test('the balance, and how long it lasts, is in the top bar of every page of a signed-in person', async () => {
  const person = new Visitor(running.url)
  await person.signUp('topbar@example.com')
  const bar = async () =>
    /<a class="wallet[^"]*"[^>]*aria-label="([^"]*)"/.exec((await person.get('/models')).html)?.[1]
  expect((await bar())?.replaceAll('\u00a0', ' ')).toBe('Balance 0 ₫')
  await person.topUp('50.000')
  expect((await bar())?.replaceAll('\u00a0', ' ')).toBe('Balance 50.000 ₫')
  const [row] = await running.database.sql`select account_id from account where email = 'topbar@example.com'`
  await running.database
    .sql`insert into usage_daily (account_id, day, key_id, entry_id, calls, errors, input_tokens, output_tokens,
      images, cost_micro_vnd, charged_micro_vnd)
    values (${row?.account_id}, (now() at time zone 'Asia/Ho_Chi_Minh')::date - 6, 1, 'x', 1, 0, 0, 0, 0, 7000000000, 7000000000)`
  expect((await bar())?.replaceAll('\u00a0', ' ')).toMatch(/^Balance 50\.000 ₫, 4\d days left$/)
  expect((await new Visitor(running.url).get('/models')).html).not.toContain('class="wallet')
})

test('other people’s orders are not found', async () => {
  const { location } = await owner.post('/topup', { amount: '80.000' })
  for (const path of [location, `${location}/state`]) expect((await stranger.get(path)).status).toBe(404)
  for (const verb of ['cancel', 'simulate']) expect((await stranger.post(`${location}/${verb}`)).status).toBe(404)
  for (const path of ['/topup/ST0000000000', '/topup/nonsense', '/topup/%00', "/topup/ST'or'1"]) {
    expect([path, (await owner.get(path)).status]).toEqual([path, 404])
  }
  expect((await owner.post(`${location}/cancel`)).location).toBe('/topup')
  expect(readable((await owner.get(location)).html)).toContain('Cancelled')
})

test('a key is shown once, again after the password, and never in a list', async () => {
  await owner.topUp('50.000')
  const { key, path } = await owner.createKey('shown')
  expect((await owner.get('/keys')).html).not.toContain(key)
  expect((await owner.get(path)).html).not.toContain(key)
  // The person has just signed in, so no password is required.
  const shown = await owner.post(`${path}/show`)
  expect([shown.html.includes(key), shown.headers.get('cache-control')]).toEqual([true, 'no-store'])
  expect(shown.headers.get('content-encoding')).toBeNull()
  await running.database.sql`update session set password_checked_at = now() - interval '6 minutes'`
  const asked = await owner.post(`${path}/show`)
  expect([asked.status, asked.html.includes(key)]).toEqual([422, false])
  const wrong = await owner.post(`${path}/show`, { password: 'not this one' })
  expect([wrong.status, wrong.html.includes(key)]).toEqual([422, false])
  expect((await owner.post(`${path}/show`, { password: PASSWORD })).html).toContain(key)
})

test('a key created before encrypted copies were kept says that it cannot be shown', async () => {
  const { key, path } = await owner.createKey('old')
  await running.database
    .sql`update api_key set encryption_id = null, encryption_iv = null, ciphertext = null where label = 'old'`
  const page = await owner.get(path)
  expect(readable(page.html)).toContain('This key was created before keys could be viewed again')
  const shown = await owner.post(`${path}/show`, { password: PASSWORD })
  expect([shown.status, shown.html.includes(key)]).toEqual([200, false])
})

test('the same form sent twice makes one key; the eleventh key is refused', async () => {
  const person = new Visitor(running.url)
  await person.signUp('many@example.com')
  await person.topUp('50.000')
  const form = { label: 'double', submission: crypto.randomUUID() }
  const [first, second] = await Promise.all([person.post('/keys', form), person.post('/keys', form)])
  const keyIn = (html: string) => /sk-svc-[\w-]+/.exec(html)?.[0]
  expect(keyIn(first.html)).toBeDefined()
  expect(keyIn(first.html)).toBe(keyIn(second.html))
  for (let made = 1; made < 10; made++) await person.createKey(`key${made}`)
  expect(readable((await person.get('/keys')).html)).toContain('10 active keys. Revoke one first. Create a key')
  const eleventh = await person.post('/keys', { label: 'x', submission: crypto.randomUUID() })
  expect([eleventh.status, readable(eleventh.html).includes('You have 10 active keys.')]).toEqual([422, true])
  expect((await person.post('/keys', { label: 'x', submission: "';--" })).status).toBe(422)
})

test('other people’s keys are not found', async () => {
  const { key, path } = await owner.createKey('mine')
  expect((await stranger.get(path)).status).toBe(404)
  for (const verb of ['settings', 'pause', 'resume', 'rotate', 'end-old', 'show', 'revoke']) {
    expect((await stranger.post(`${path}/${verb}`, { password: PASSWORD, label: 'stolen' })).status).toBe(404)
  }
  for (const id of ['0', '-1', '1e3', '999999999', 'x', '1;--']) {
    expect((await owner.get(`/keys/${encodeURIComponent(id)}`)).status).toBe(404)
  }
  expect((await call(key)).status).toBe(200)
  expect((await owner.post(`${path}/revoke`)).location).toBe('/keys?done=revoked')
  expect((await call(key)).status).toBe(401)
  expect(readable((await owner.get(path)).html)).toContain('Revoked keys cannot be shown.')
})

test('name and spend limit of a key: an invalid amount is refused, and stays in its field', async () => {
  const { key, path } = await owner.createKey('capped')
  const refused = await owner.post(`${path}/settings`, { label: 'new name', cap: '5 triệu' })
  expect(refused.status).toBe(422)
  expect(refused.html).toContain('value="5 triệu"')
  expect((await owner.post(`${path}/settings`, { label: '<b>bold</b>', cap: '1' })).location).toBe(`${path}?done=saved`)
  const { html } = await owner.get(path)
  expect(html).toContain('&lt;b&gt;bold&lt;/b&gt;')
  expect(html).not.toContain('<b>bold')
  expect((await call(key, 'req/gpt-5.5')).status).toBe(200)
  await running.gateway.readiness.idle()
  const capped = (await (await call(key)).json()) as { error: { code: string } }
  expect(capped.error.code).toBe('spend_cap_reached')
  expect((await owner.post(`${path}/settings`, { label: '', cap: '' })).status).toBe(303)
  expect((await call(key)).status).toBe(200)
})

test('a form of a key that was opened before the last change asks before it undoes that change', async () => {
  const { path } = await owner.createKey('two tabs')
  const fields = async () => {
    const { html } = await owner.get(path)
    const [form = ''] = /<form[^>]*\/settings">[\s\S]*?<\/form>/.exec(html) ?? []
    const value = (name: string) => new RegExp(`name="${name}"[^>]* value="([^"]*)"`).exec(form)?.[1] ?? ''
    return { label: value('label'), cap: value('cap'), reset: 'monthly', seen: value('seen') }
  }
  const opened = await fields()
  expect((await owner.post(`${path}/settings`, { ...opened, cap: '20.000' })).location).toBe(`${path}?done=saved`)
  // The second click of a double click.
  expect((await owner.post(`${path}/settings`, { ...opened, cap: '20.000' })).location).toBe(`${path}?done=saved`)
  const asked = await owner.post(`${path}/settings`, { ...opened, label: 'renamed' })
  expect([asked.status, readable(asked.html).includes('have been changed elsewhere')]).toEqual([422, true])
  expect(asked.html).toContain('value="renamed"')
  expect(await fields()).toMatchObject({ label: 'two tabs', cap: '20.000' })
  const [, seen = ''] = /name="seen" value="([^"]*)"/.exec(asked.html) ?? []
  expect((await owner.post(`${path}/settings`, { ...opened, label: 'renamed', seen })).status).toBe(303)
  expect(await fields()).toMatchObject({ label: 'renamed', cap: '' })
})

test('a key makes no more calls per minute than its owner wants, unless an operator has decided', async () => {
  const { key, path } = await owner.createKey('slow')
  for (const rate of ['0', '-1', '1,5', 'sixty', '1.000.001']) {
    const refused = await owner.post(`${path}/settings`, { label: 'slow', cap: '', rate })
    expect([rate, refused.status]).toEqual([rate, 422])
    expect(refused.html).toContain(`value="${rate}"`)
  }
  expect((await owner.post(`${path}/settings`, { label: 'slow', cap: '', rate: '1' })).status).toBe(303)
  expect((await call(key)).status).toBe(200)
  expect((await call(key)).status).toBe(429)
  expect((await owner.post(`${path}/settings`, { label: 'slow', cap: '', rate: '' })).status).toBe(303)
  await expect.poll(async () => (await call(key)).status).toBe(200)
  const [, , keyId] = path.split('/')
  const { sql } = running.database
  const [row] = await sql`select account_id from api_key where key_id = ${String(keyId)}`
  await limitKey(sql, { accountId: Number(row?.account_id), keyId: Number(keyId), by: COMMAND_LINE }, 7)
  const { html } = await owner.get(path)
  expect(html).not.toContain('name="rate"')
  expect(readable(html)).toContain('We have set the calls per minute of this key.')
  expect((await owner.post(`${path}/settings`, { label: 'slow', cap: '', rate: '900' })).status).toBe(303)
  expect(readable((await owner.get(path)).html)).toContain('Calls per minute 7')
})

test('the limits of a key: each mistake is named at its field and nothing typed is lost; valid ones are saved and shown', async () => {
  const { path } = await owner.createKey('limited')
  const made = () => running.database.sql<{ count: string }[]>`select count(*) from api_key`
  const good = {
    label: 'ci',
    cap: '500.000',
    reset: 'weekly',
    expires: '2031-03-31',
    models: 'GPT-5.5\r\nclaude/*',
    rate: '60',
    flight: '4',
  }
  const inFlight = TABLES.settings.concurrencyMax || CONCURRENCY_MAX
  for (const [name, wrong, says] of [
    ['cap', '1.000.000.001', 'Enter an amount in whole dong, from 1 to 1.000.000.000 ₫, or leave it empty.'],
    ['expires', '2020-01-01', 'Choose a day from today to '],
    ['expires', '31/12/2031', 'Choose a day from today to '],
    ['models', 'claude/*\nno-such-model', 'There is no model or family no-such-model.'],
    ['rate', '0', 'Enter a whole number from 1 to 1.000.000, or leave it empty.'],
    ['flight', count(inFlight + 1), `Enter a whole number from 1 to ${count(inFlight)}, or leave it empty.`],
  ] as const) {
    const refused = await owner.post(`${path}/settings`, { ...good, [name]: wrong })
    expect([name, refused.status, readable(refused.html).includes(says)]).toEqual([name, 422, true])
    expect(refused.html).toContain(name === 'models' ? 'no-such-model</textarea>' : `value="${wrong}"`)
    expect(refused.html).toContain('<option value="weekly" selected>')
    expect(refused.html.match(/data-focus/g)).toHaveLength(1)
    if (name !== 'rate') expect(refused.html).toContain('name="rate" inputmode="numeric" value="60"')
    const before = await made()
    const unmade = await owner.post('/keys', { ...good, [name]: wrong, submission: crypto.randomUUID() })
    expect([name, unmade.status, readable(unmade.html).includes(says), await made()]).toEqual([name, 422, true, before])
    expect(unmade.html).toContain(name === 'models' ? 'no-such-model</textarea>' : `value="${wrong}"`)
    for (const kept of [
      '<details class="more" open>',
      'name="label" maxlength="100" value="ci"',
      'value="weekly" selected',
    ]) {
      expect(unmade.html).toContain(kept)
    }
    expect(unmade.html.match(/data-focus/g)).toHaveLength(1)
    // Whoever has filled in the limits finds the button below them.
    expect(unmade.html.indexOf('name="flight"')).toBeLessThan(unmade.html.indexOf('Create a key</button>'))
  }
  const wrong = { ...good, cap: 'much', rate: '0', flight: '0' }
  const vietnamese = await owner.post(`${path}/settings`, wrong, { 'accept-language': 'vi' })
  for (const says of [
    'Hãy nhập số tiền từ 1 đến 1.000.000.000 ₫, không có phần thập phân, hoặc để trống.',
    'Hãy nhập số nguyên từ 1 đến 1.000.000, hoặc để trống.',
    `Hãy nhập số nguyên từ 1 đến ${count(inFlight)}, hoặc để trống.`,
  ]) {
    expect(readable(vietnamese.html)).toContain(says)
  }
  expect(readable((await owner.get(path)).html)).not.toContain('Expires 01/04/2031')
  expect((await owner.post(`${path}/settings`, good)).location).toBe(`${path}?done=saved`)
  const { html } = await owner.get(path)
  for (const part of [
    'value="500.000"',
    'value="2031-03-31"',
    '>gpt-5.5\nclaude/*</textarea>',
    'value="60"',
    'value="4"',
  ])
    expect(html).toContain(part)
  expect(readable(html)).toContain('Expires 31/03/2031 Calls per minute')
  expect(readable(html)).toContain('of 500.000 ₫ spent this week')
  expect((await owner.post(`${path}/settings`, { ...good, cap: '', expires: '', models: '' })).status).toBe(303)
  const freed = (await owner.get(path)).html
  expect(freed).toContain('name="expires" value=""')
  expect(freed).toMatch(/<textarea name="models"[^>]*><\/textarea>/)
})

test('a key can be created with limits, and has none if only its name is given', async () => {
  const limits = { cap: '500.000', reset: 'daily', expires: '2031-03-31', models: 'gpt-5.5', rate: '60', flight: '4' }
  const form = { label: 'bounded', ...limits, submission: crypto.randomUUID() }
  const answers = await Promise.all([owner.post('/keys', form), owner.post('/keys', form)])
  const [key, again] = answers.map(({ html }) => /sk-svc-[\w-]+/.exec(html)?.[0])
  expect([key !== undefined, again === key]).toEqual([true, true])
  await owner.createKey('unbounded')
  expect(
    await running.database.sql`
      select label, monthly_cap_micro_vnd::text as cap, limit_reset, expires_at, allowed_models, rate_limit_per_minute, concurrency_max
        from api_key where label in ('bounded', 'unbounded') order by label`,
  ).toEqual([
    {
      label: 'bounded',
      cap: '500000000000',
      limit_reset: 'daily',
      expires_at: new Date('2031-03-31T17:00:00Z'),
      allowed_models: '{gpt-5.5}',
      rate_limit_per_minute: 60,
      concurrency_max: 4,
    },
    {
      label: 'unbounded',
      cap: null,
      limit_reset: 'monthly',
      expires_at: null,
      allowed_models: null,
      rate_limit_per_minute: null,
      concurrency_max: null,
    },
  ])
  expect([(await call(key as string)).status, (await call(key as string, 'claude-haiku-4-5')).status]).toEqual([
    200, 403,
  ])
})

test('the state of a key is shown truly: paused, limit reached, expired, and active again', async () => {
  const { key, path } = await owner.createKey('states')
  const { sql } = running.database
  const [, , keyId] = path.split('/')
  const states = async () => {
    const list = (await owner.get('/keys')).html
    const row = list.slice(list.indexOf(`href="${path}"`)).split('</tr>')[0] as string
    const tag = (html: string) => /<span class="tag[^"]*">([^<]*)</.exec(html)?.[1]
    return [tag((await owner.get(path)).html), tag(row)]
  }
  expect(await states()).toEqual(['Active', 'Active'])
  expect((await owner.post(`${path}/pause`)).location).toBe(`${path}?done=paused`)
  expect([await states(), (await call(key)).status]).toEqual([['Paused', 'Paused'], 401])
  expect((await owner.post(`${path}/resume`)).location).toBe(`${path}?done=resumed`)
  expect([await states(), (await call(key)).status]).toEqual([['Active', 'Active'], 200])
  await running.gateway.readiness.idle()
  await owner.post(`${path}/settings`, { label: 'states', cap: '1', reset: 'daily' })
  await sql`update usage_daily set charged_micro_vnd = 2000000 where key_id = ${String(keyId)}`
  expect([await states(), (await call(key)).status]).toEqual([['Limit reached', 'Limit reached'], 402])
  await sql`update api_key set expires_at = now() where key_id = ${String(keyId)}`
  expect([await states(), (await call(key)).status]).toEqual([['Expired', 'Expired'], 401])
  expect((await owner.post(`${path}/settings`, { label: 'states', cap: '', expires: '' })).status).toBe(303)
  expect([await states(), (await call(key)).status]).toEqual([['Active', 'Active'], 200])
})

test('rotating a key shows its new secret, once for a form sent twice; the old secret ends when its owner says so', async () => {
  const { key, path } = await owner.createKey('rotated')
  const form = { rotations: '0', overlap: '24' }
  const answers = await Promise.all([owner.post(`${path}/rotate`, form), owner.post(`${path}/rotate`, form)])
  const [fresh, again] = answers.map(({ html }) => /sk-svc-[\w-]+/.exec(html)?.[0])
  expect(fresh).toBeDefined()
  expect([fresh === key, again]).toEqual([false, fresh])
  expect(readable(answers[0]?.html as string)).toContain('The old secret works until')
  expect([(await call(key)).status, (await call(fresh as string)).status]).toEqual([200, 200])
  const page = await owner.get(path)
  expect(page.html).toContain(`…${fresh?.slice(-4)}`)
  expect(page.html).toContain('name="rotations" value="1"')
  expect((await owner.post(`${path}/end-old`)).location).toBe(`${path}?done=old_ended`)
  expect([(await call(key)).status, (await call(fresh as string)).status]).toEqual([401, 200])
  for (const rotations of ['7', '', 'x']) {
    expect((await owner.post(`${path}/rotate`, { rotations })).location).toBe(`${path}?done=changed`)
  }
  expect((await call(fresh as string)).status).toBe(200)
})

test('calls appear on the usage page with key, model, tokens, cost and status, and only to their owner', async () => {
  const person = new Visitor(running.url)
  await person.signUp('calls@example.com')
  await person.topUp('50.000')
  const { key } = await person.createKey('laptop')
  const reply = await call(key)
  const cost = reply.headers.get('x-svc-cost-vnd') as string
  await call(key, 'not-a-model')
  await running.gateway.readiness.idle()
  const { html, status } = await person.get('/usage')
  expect(status).toBe(200)
  const text = readable(html)
  expect(text).toContain(`${cost.replace('.', ',')} ₫`)
  expect(text).toContain('requested as not-a-model')
  expect(text).toContain('laptop')
  expect(text).toContain('Export CSV (2 rows)')
  // The chart works without scripts: today's bar links to today's calls.
  const [, bar = ''] =
    /<a href="(\/usage\?[^"]+)" tabindex="-1" class="bar"><svg[^>]*><rect class="series-1"/.exec(html) ?? []
  expect(readable((await person.get(decoded(bar))).html)).toContain('Export CSV (2 rows)')
  const failed = readable((await person.get('/usage?status=error')).html)
  expect(failed).toContain('No calls')
  expect(readable((await person.get('/usage?model=gpt-5.5')).html)).toContain('Export CSV (1 row)')
  expect(readable((await stranger.get('/usage')).html)).toContain('No calls')
  const overview = readable((await person.get('/overview')).html)
  expect(overview).toContain('2 calls')
  expect(overview).toMatch(/over a year left[\s\S]*More than a year left at this pace/)
  await running.database.sql`update usage_daily set charged_micro_vnd = 200000000
    where account_id = (select account_id from account where email = 'calls@example.com')`
  expect(readable((await person.get('/overview')).html)).toMatch(/\d+ days left[\s\S]*About \d+ days left at this/)
})

const decoded = (href: string): string => href.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=').replace(/#.*/, '')
test('the page of a call says what it used, what it cost and why it failed, and only to its owner', async () => {
  const person = new Visitor(running.url)
  await person.signUp('detail@example.com')
  await person.topUp('50.000')
  const { key } = await person.createKey('detail')
  const served = await call(key, 'claude-opus-5', 'nightly')
  const cost = served.headers.get('x-svc-cost-vnd') as string
  const failed = await call(key, 'req/gpt-image-2')
  await running.gateway.readiness.idle()
  const { html } = await person.get('/usage')
  const [of400 = '', of200 = ''] = [...html.matchAll(/href="(\/usage\/[0-9a-f-]{36})"/g)].map(
    ([, path]) => path as string,
  )
  const text = readable((await person.get(of200)).html)
  for (const part of [
    `Charged ${cost.replace('.', ',')} ₫`,
    'nightly',
    served.headers.get('x-request-id'),
    'Input tokens, uncached',
    'Output tokens, reply',
  ])
    expect(text).toContain(part)
  expect(text).not.toContain('cache reads')
  expect(text).not.toContain('Wrong endpoint')
  const reason = await person.get(of400)
  expect(readable(reason.html)).toContain('Wrong endpoint for the model')
  expect(readable(reason.html)).toContain(failed.headers.get('x-request-id'))
  expect(reason.html).toContain('<a href="/models">')
  expect(readable(html)).toContain('400 Wrong endpoint for the model')
  const vietnamese = await person.get(of400, { 'accept-language': 'vi' })
  expect(readable(vietnamese.html)).toContain('Sai đường dẫn cho mô hình')
  expect((await stranger.get(of400)).status).toBe(404)
  for (const path of ['/usage/x', '/usage/0', `/usage/${crypto.randomUUID()}`])
    expect([path, (await person.get(path)).status]).toEqual([path, 404])
})

test('the export for people opens in a spreadsheet: byte order mark, Vietnamese time, words in their language', async () => {
  const person = new Visitor(running.url)
  await person.signUp('sheet@example.com')
  await person.topUp('50.000')
  const { key } = await person.createKey('sheet')
  const reply = await call(key, 'gpt-5.5', 'sheet/1')
  await call(key, 'req/gpt-image-2')
  await running.gateway.readiness.idle()
  const { sql } = running.database
  await sql.begin(async transaction => {
    await transaction.unsafe('set local session_replication_role = replica')
    await transaction.unsafe(`update usage set closed_at = date_trunc('day', now(), 'Asia/Ho_Chi_Minh') + interval '5 minutes'
      where account_id = (select account_id from account where email = 'sheet@example.com')`)
    await transaction.unsafe(`update usage set extras_vnd = 7
      where cost_micro_vnd = 0 and account_id = (select account_id from account where email = 'sheet@example.com')`)
  })
  const path = `/usage.csv?from=${today()}`
  const read = async (language: string) => {
    const response = await fetch(running.url + path, {
      headers: { cookie: person.cookie, accept: 'text/html', 'accept-language': language },
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
    return bytes.subarray(3).toString('utf8').trimEnd().split('\r\n')
  }
  const [heading, first, second] = await read('vi')
  expect(heading).toMatch(
    /^Thời gian \(giờ Việt Nam\),Mô hình,Tên đã gọi,Khóa API,Nhãn,Mã trạng thái,Kết quả,Token vào,/,
  )
  expect(first).toMatch(new RegExp(`^${today()} 00:05:00,gpt-5\\.5,,sheet,sheet/1,200,Thành công,`))
  expect(first).toContain(`,${reply.headers.get('x-svc-cost-vnd')},`)
  expect(second).toContain(',400,Sai đường dẫn cho mô hình,')
  expect(heading?.endsWith(',Mã yêu cầu,Trong đó công cụ tính thêm (VND)')).toBe(true)
  expect(first?.endsWith(`,không,không,${reply.headers.get('x-request-id')},0`)).toBe(true)
  expect(second).toMatch(/,7$/)
  const english = await read('en')
  expect(english[0]).toMatch(/^Time \(Vietnam\),Model,/)
  expect(english.every(line => line.split(',').length === english[0]?.split(',').length)).toBe(true)
})

test('the export is the same rows as CSV, and no cell is a formula', async () => {
  const person = new Visitor(running.url)
  await person.signUp('export@example.com')
  await person.topUp('50.000')
  const { key } = await person.createKey('=HYPERLINK(1)')
  await call(key)
  await running.gateway.readiness.idle()
  const { status, headers, html } = await person.get('/usage.csv?format=raw')
  expect([status, headers.get('content-type'), headers.get('x-rows')]).toEqual([200, 'text/csv; charset=utf-8', '1'])
  expect(headers.get('content-disposition')).toMatch(/^attachment; filename="usage-\d{4}-\d{2}-\d{2}\.csv"$/)
  const lines = html.trim().split('\r\n')
  expect(lines.length).toBe(2)
  expect(lines[0]).toContain('closed_at')
  expect(lines[1]).toContain("'=HYPERLINK(1)")
})

test('the usage of somebody else’s key is empty, on the page and in the export', async () => {
  const [mine, theirs] = [new Visitor(running.url), new Visitor(running.url)]
  await mine.signUp('mine@example.com')
  await theirs.signUp('theirs@example.com')
  await theirs.topUp('50.000')
  const { key, path } = await theirs.createKey('theirs')
  await call(key)
  await running.gateway.readiness.idle()
  const keyId = path.slice('/keys/'.length)
  const seen = async (who: Visitor) => {
    const { html } = await who.get(`/usage.csv?format=raw&key=${keyId}`)
    return [
      readable((await who.get(`/usage?key=${keyId}`)).html).includes('No calls'),
      html.trim().split('\r\n').length,
    ]
  }
  expect([await seen(theirs), await seen(mine)]).toEqual([
    [false, 2],
    [true, 1],
  ])
})

test('the usage page answers any query, whatever its values', async () => {
  const queries = [
    'from=2026-02-31&to=x',
    'from=2030-01-01&to=2020-01-01',
    'from=1000-01-01',
    'key=-1',
    'key=1e99',
    'before=abc',
    'before=9999999999999999',
    "model='%20or%201=1--",
    'model=%25',
    'status=teapot',
    'by=x&measure=y&per=z',
    'hour=99',
    'status=99999999999999999999',
    'tag=%00%27--',
    'format=x',
    'from=2020-01-01&to=2026-01-01',
  ]
  for (const query of queries) expect([query, (await owner.get(`/usage?${query}`)).status]).toEqual([query, 200])
})

test('an empty balance is pointed out prominently', async () => {
  const person = new Visitor(running.url)
  await person.signUp('spent@example.com')
  await person.topUp('50.000')
  await running.database.sql`
    with a as (select account_id from account where email = 'spent@example.com'),
    w as (update wallet set balance_micro_vnd = 0, seq = seq + 1 where account_id = (select account_id from a) returning account_id, seq)
    insert into credit (account_id, seq, amount_micro_vnd, kind, reference, balance_after_micro_vnd)
    select account_id, seq, -50000000000, 2, 'test', 0 from w`
  expect(readable((await person.get('/overview')).html)).toContain('Your balance is used up.')
})
