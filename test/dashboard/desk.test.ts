/** The operators' start page and their pages for calls, business figures and upstreams, while the first provider fails. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { credit } from '../../src/ledger/credit.ts'
import { dayOf } from '../../src/ledger/reports/days.ts'
import { rollUpCalls } from '../../src/ledger/roll-up.ts'
import { microVnd } from '../../src/lib/money.ts'
import { upstreamFamilies } from '../../src/telemetry/upstreams.ts'
import { chatCall, goodMessage } from '../support/chat.ts'
import { startTestGateway, TEST_BANK, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { end, head, type ScriptedUpstream, startScriptedUpstream, write } from '../support/scripted-upstream.ts'
import { changedTables, LASTING_TABLES } from '../support/tables.ts'
import { transferMoney } from '../support/transfers.ts'
import { type PageReply, readable, Visitor } from './visitor.ts'

const ENTRY = 'claude-opus-5'
const GONE = 'req/gpt-4o-mini-tts'
/** The cost of a call whose reply is `goodMessage`. */
const COST = 17n * 6500n

let first: ScriptedUpstream
let second: ScriptedUpstream
let running: TestGateway
let customer: TestAccount
const operators: Visitor[] = []
let operator: Visitor
let isDown = false
const ids: Record<'good' | 'failedOver' | 'failed', string> = { good: '', failedOver: '', failed: '' }

beforeAll(async () => {
  const overloaded = [head(529, {}), write('{"type":"error","error":{"type":"overloaded_error"}}'), end()]
  first = await startScriptedUpstream(() => (isDown ? overloaded : goodMessage))
  second = await startScriptedUpstream(() => goodMessage)
  const changed = changedTables({
    targets: { [ENTRY]: ['anthropic', 'xai'] },
    upstreams: { xai: { paths: { messages: '/v1/messages' } } },
  })
  const ended = { sinceOn: '2026-01-15', retiresOn: '2026-03-01', successor: null }
  const entries = changed.entries.map(entry => (entry.id === GONE ? { ...entry, deprecated: ended } : entry))
  const tables = { ...changed, entries }
  running = await startTestGateway({
    tables,
    upstreams: { anthropic: first.url, xai: second.url },
    sandboxed: false,
    environment: TEST_BANK,
  })
  customer = await running.account(10n ** 12n)
  for (const email of ['one@example.com', 'two@example.com']) {
    const visitor = new Visitor(running.url, running)
    await visitor.signUp(email)
    operators.push(visitor)
  }
  await running.database.sql`update account set is_operator = true where email like '___@example.com'`
  operator = operators[0] as Visitor
  ids.good = await call({})
  isDown = true
  ids.failedOver = await call({ 'x-request-id': 'agent-7' })
  isDown = false
  ids.failed = await call({}, chatCall(ENTRY, { messages: [] }))
  await running.gateway.readiness.idle()
})
afterAll(async () => {
  await running?.close()
  await first?.close()
  await second?.close()
})

/** Makes a call and returns its request id. */
async function call(headers: Record<string, string>, body = chatCall(ENTRY)): Promise<string> {
  const reply = await fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': customer.apiKey, ...headers },
    body,
  })
  await reply.text()
  return reply.headers.get('request-id') as string
}

const rowsOf = ({ html }: PageReply) => (html.match(/href="\/operator\/calls\/[0-9a-f-]{36}"/g) ?? []).length
const pageOf = async (requestId: string) => (await operator.get(`/operator/calls?request=${requestId}`)).location

describe('the calls of all customers', () => {
  test('a request id, the client’s own included, leads to its call in one step', async () => {
    const { html, status } = await operator.get(await pageOf('agent-7'))
    const shown = readable(html)
    expect(status).toBe(200)
    expect(shown).toContain(customer.email)
    expect(shown).toContain('anthropic#1')
    expect(shown).toContain('Upstream overloaded HTTP 529')
    expect(shown).toContain('xai#1')
    expect(shown).toContain('Served')
    expect(shown).toContain(`Charged 0,1105 ₫`)
    expect(await pageOf(ids.good)).toMatch(/^\/operator\/calls\/[0-9a-f-]{36}$/)
    const refused = readable((await operator.get(await pageOf(ids.failed))).html)
    expect(refused).toContain('Nothing was sent to any upstream.')
    expect(refused).toContain('invalid_request')
    expect(refused).toContain('This call was not charged')
    const unknown = await operator.get('/operator/calls?request=req_nothing')
    expect([unknown.status, readable(unknown.html).includes('No call has this ID.')]).toEqual([200, true])
  })

  test('each filter finds its calls, and so do combined filters', async () => {
    const count = async (query: string) => rowsOf(await operator.get(`/operator/calls?${query}`))
    const email = encodeURIComponent(customer.email)
    expect(await count('')).toBe(3)
    expect(await count(`account=${email}`)).toBe(3)
    expect(await count(`account=%23${customer.accountId}&key=${customer.keyId}`)).toBe(3)
    expect(await count(`key=${customer.apiKey.slice(-4)}`)).toBe(3)
    expect(await count('account=one@example.com')).toBe(0)
    expect(await count('status=error')).toBe(1)
    expect(await count(`model=${ENTRY}&status=ok&upstream=xai`)).toBe(1)
    expect(await count('upstream=anthropic')).toBe(1)
    expect(await count('slow=60')).toBe(0)
    expect(await count('from=2026-01-01&to=2026-01-02T10:00')).toBe(0)
  })

  test('an invalid filter gets an error at its field, and what was typed stays', async () => {
    const wrong = [
      ['account=nobody@example.com', 'No such customer.'],
      ['key=zzzz', 'No such key'],
      ['status=9', 'No such status.'],
      ['from=yesterday', 'Not a valid time.'],
      ['from=2026-11-02&to=2026-11-01', 'Must be before the end.'],
      ['slow=-1', 'Enter 0,001 to 900 seconds.'],
      ["account='%00\\", 'No such customer.'],
    ] as const
    for (const [query, words] of wrong) {
      const { status, html } = await operator.get(`/operator/calls?${query}&asked=kept`)
      expect([query, status, readable(html).includes(words)]).toEqual([query, 422, true])
      expect(html).toContain('value="kept"')
      expect((await operator.get(`/operator/calls.csv?${query}`)).status).toBe(400)
    }
  })

  test('the export has the filtered calls with what they cost the operator', async () => {
    const { html, headers } = await operator.get('/operator/calls.csv?upstream=xai')
    expect(headers.get('content-type')).toContain('text/csv')
    const [header = '', row = '', rest] = html.trim().split('\r\n')
    expect(rest).toBeUndefined()
    const cells = Object.fromEntries(header.split(',').map((name, index) => [name, row.split(',')[index]]))
    expect(cells).toMatchObject({ request_id: 'agent-7', email: customer.email, attempts: '2', charged_vnd: '0.1105' })
  })

  test('when two operators refund a call at once, one succeeds, the other is told, and the customer gets the money once', async () => {
    const path = await pageOf(ids.good)
    const before = await running.balance(customer.accountId)
    const silent = await operator.post(`${path}/refund`, { reason: ' ' })
    expect([silent.status, readable(silent.html).includes('Enter a reason.')]).toEqual([422, true])
    const answers = await Promise.all(operators.map(each => each.post(`${path}/refund`, { reason: 'slow answer' })))
    expect(answers.map(({ location }) => location).sort()).toEqual([
      `${path}?done=refunded`,
      `${path}?done=refunded_before`,
    ])
    expect(await running.balance(customer.accountId)).toBe(before + COST)
    const shown = readable((await operators[1]!.get(path)).html)
    expect(shown).toContain('0,1105 ₫ was refunded at')
    expect(shown).toContain('slow answer')
    const log = readable((await operator.get('/operator/log')).html)
    expect(log.split(`${ids.good} 0,1105 ₫`)).toHaveLength(2)
    const nothing = await operator.post(`${await pageOf(ids.failed)}/refund`, { reason: 'please' })
    expect([nothing.status, readable(nothing.html).includes('nothing to refund')]).toEqual([422, true])
    expect(
      (await operator.post('/operator/calls/0190e000-0000-7000-8000-000000000000/refund', { reason: 'x' })).status,
    ).toBe(404)
    expect(readable((await operator.post('/operator/audit')).html)).toContain('No differences.')
  })
})

describe('upstreams', () => {
  test('the figures of all processes keep attempts that failed over apart from calls that were served', async () => {
    await rollUpCalls(running.database.sql, { lagSeconds: 0 })
    const list = readable((await operator.get('/operator/upstreams')).html)
    expect(list).toMatch(/anthropic Healthy 2 1 50 %/)
    const one = readable((await operator.get('/operator/upstreams/anthropic?hours=1')).html)
    expect(one).toContain('Upstream overloaded HTTP 529 1 50 %')
    expect(one).toContain('Served 1 50 %')
    expect((await operator.get('/operator/upstreams/nowhere')).status).toBe(404)
  })

  test('an upstream without credentials has a page, too, which says so', async () => {
    const { status, html } = await operator.get(`/operator/upstreams/${running.gateway.upstreams.unreachable[0]}`)
    expect(status).toBe(200)
    expect(readable(html)).toContain('There are no credentials for this upstream.')
    expect(html).not.toContain('/test"')
  })

  test('testing an upstream sends a small call with the upstream’s credential, and nobody is billed', async () => {
    const before = first.requests.length
    const good = readable((await operator.post('/operator/upstreams/anthropic/test')).html)
    expect(good).toMatch(/Test result, with \S+ anthropic#1 Served/)
    expect(first.requests.length).toBe(before + 1)
    expect(first.requests.at(-1)?.json()).toMatchObject({ max_tokens: expect.any(Number) })
    isDown = true
    const bad = readable((await operator.post('/operator/upstreams/anthropic/test')).html)
    isDown = false
    expect(bad).toContain('anthropic#1 Upstream overloaded HTTP 529')
    const log = readable((await operator.get('/operator/log')).html)
    expect(log).toContain('anthropic, failed credentials: 0')
    expect(log).toContain('anthropic, failed credentials: 1')
    expect(await running.usage(customer.accountId)).toHaveLength(3)
  })

  test('an upstream taken out of service gets no calls in any process until it is back', async () => {
    const sibling = await running.sibling()
    const path = '/operator/upstreams/anthropic'
    const silent = await operator.post(`${path}/out`, { reason: '', hours: '4' })
    expect([silent.status, readable(silent.html).includes('Enter a reason.')]).toEqual([422, true])
    for (const hours of ['0', '-1', '9999', '']) {
      expect([hours, (await operator.post(`${path}/out`, { reason: 'x', hours })).status]).toEqual([hours, 422])
    }
    expect((await operator.post(`${path}/out`, { reason: 'it fails', hours: '4' })).location).toBe(
      `${path}?done=upstream_out`,
    )
    expect((await operator.post('/operator/upstreams/nowhere/out', { reason: 'x', hours: '4' })).status).toBe(404)
    const isOut = () =>
      [running.gateway, sibling].map(
        ({ upstreams }) => (upstreams.find('anthropic')?.outOfServiceMs ?? 0) > 3.9 * 3_600_000,
      )
    await expect.poll(isOut).toEqual([true, true])
    const gauge = upstreamFamilies(sibling.upstreams.status()).find(
      ({ name }) => name === 'gateway_upstream_out_seconds',
    )
    const exported = new Map(gauge?.samples.map(({ labels, value }) => [labels.upstream, value]))
    expect([exported.get('anthropic'), exported.get('xai')]).toEqual([expect.closeTo(4 * 3_600, -2), 0])
    const before = [first.requests.length, second.requests.length]
    for (const url of [running.url, sibling.url]) {
      const reply = await fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': customer.apiKey },
        body: chatCall(ENTRY),
      })
      expect(reply.status).toBe(200)
    }
    expect([first.requests.length, second.requests.length]).toEqual([before[0], (before[1] as number) + 2])
    expect(readable((await operator.get(path)).html)).toContain('one@example.com: it fails')
    await operator.post('/operator/upstreams/xai/out', { reason: 'this too', hours: '1' })
    await expect.poll(() => running.gateway.upstreams.find('xai')?.outOfServiceMs ?? 0).toBeGreaterThan(0)
    const refused = await fetch(`${running.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': customer.apiKey },
      body: chatCall(ENTRY),
    })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60'])
    const home = readable((await operator.get('/operator')).html)
    expect(home).toContain('anthropic is out of service')
    for (const id of ['anthropic', 'xai']) await operator.post(`/operator/upstreams/${id}/in`)
    await expect.poll(isOut).toEqual([false, false])
    await call({})
    expect(first.requests.length).toBe((before[0] as number) + 1)
    const log = readable((await operator.get('/operator/log')).html)
    expect(log).toContain('it fails')
  })
})

describe('the business', () => {
  test('says for how many calls the cost is unknown, and calls that never reached a provider do not hide them', async () => {
    const { sql } = running.database
    const note = async () => {
      const text = readable((await operator.get('/operator/business')).html)
      return /calls without a known cost: \d+/.exec(text)?.[0]
    }
    const known = (more: number) =>
      sql`update usage_daily set upstream_cost_calls = upstream_cost_calls + ${more} where calls > errors`
    expect(await note()).toBeUndefined()
    await known(-1)
    expect(await note()).toBe('calls without a known cost: 1')
    await known(1)
  })

  test('shows a dash instead of zero if no cost is known', async () => {
    const { sql } = running.database
    const cost = async (path: string) => /Cost (\S+)/.exec(readable((await operator.get(path)).html))?.[1]
    const costs = async () => [await cost('/operator'), await cost('/operator/business')]
    for (const shown of await costs()) expect(shown).toMatch(/^\d[\d.,]*$/)
    const days = await sql`select account_id, key_id, entry_id, day, upstream_cost_calls as known from usage_daily`
    await sql`update usage_daily set upstream_cost_calls = 0`
    expect(await costs()).toEqual(['–', '–'])
    for (const { account_id, key_id, entry_id, day, known } of days) {
      await sql`update usage_daily set upstream_cost_calls = ${known}
        where account_id = ${account_id} and key_id = ${key_id} and entry_id = ${entry_id} and day = ${day}`
    }
  })

  test('revenue, cost and margin have the same totals, however they are split; models sold below cost are named', async () => {
    await running.gateway.readiness.idle()
    await rollUpCalls(running.database.sql, { lagSeconds: 0 })
    const [sums] = await running.database.sql`
      select count(*)::int as calls, sum(charged_micro_vnd)::text as revenue, sum(upstream_cost_micro_vnd)::text as cost from usage`
    for (const by of ['day', 'model', 'upstream', 'customer', 'channel']) {
      const { html } = await operator.get(`/operator/business.csv?by=${by}`)
      const [header = '', ...rows] = html.trim().split('\r\n')
      const place = (name: string) => header.split(',').indexOf(name)
      const total = (name: string) => rows.reduce((sum, row) => sum + Number(row.split(',')[place(name)]), 0)
      expect([by, total('calls')]).toEqual([by, sums?.calls])
      expect(total('revenue_vnd')).toBeCloseTo(Number(sums?.revenue) / 1e6, 6)
      expect(total('cost_vnd')).toBeCloseTo(Number(sums?.cost) / 1e6, 6)
      expect((await operator.get(`/operator/business?by=${by}`)).status).toBe(200)
    }
    // Channels have the names that the price list gives them.
    const english = readable((await operator.get('/operator/business?by=channel')).html)
    expect(english).toMatch(/By where served .* Served by Calls .* Standard providers \d/)
    const vietnamese = readable((await operator.get('/operator/business?by=channel', { 'accept-language': 'vi' })).html)
    expect(vietnamese).toMatch(/Theo nơi chạy .* Chạy qua Lượt gọi .* Nhà cung cấp tiêu chuẩn \d/)
    expect(Number(sums?.cost)).toBeGreaterThan(Number(sums?.revenue))
    const page = readable((await operator.get('/operator/business')).html)
    expect(page).toMatch(new RegExp(`Sold below cost in the last 7 days .* ${ENTRY} `))
    expect((await operator.get('/operator/revenue?by=model')).location).toBe('/operator/business?by=model')
  })

  test('receipts of a period show their tax, at the rate of their day, and where the buyer wanted the invoice then', async () => {
    const { sql } = running.database
    const buyer = operators[1] as Visitor
    const details = { name: 'Cong ty An', tax_code: '', address: '1 Le Loi', wanted: 'yes' }
    await buyer.post('/account/invoice', { ...details, email: 'invoices@example.com' })
    await transferMoney(sql, { memo: `nap tien ${await orderCode()}`, amountVnd: 108_000 })
    await buyer.post('/account/invoice', { ...details, email: 'later@example.com' })
    const today = dayOf(new Date())
    const { headers } = await operator.get('/operator/receipts.csv')
    expect(headers.get('content-type')).toContain('text/csv')
    const [cells] = (await receiptsOf(today)).filter(row => row.Type === 'Bank transfer')
    const percent = today < '2027-01-01' ? 8 : 10
    const net = Math.round(108_000 / (1 + percent / 100))
    expect(cells).toMatchObject({
      'Gross (VND)': '108000',
      'VAT rate': `${percent}%`,
      'Net (VND)': String(net),
      'VAT (VND)': String(108_000 - net),
      Buyer: 'Cong ty An',
      Email: 'invoices@example.com',
      'Order code': expect.stringMatching(/^ST/),
    })
  })

  test("the accountant's CSV has every movement of money, by kind, and adds up to the ledger", async () => {
    const { sql } = running.database
    const payout = { amountMicroVnd: microVnd(-1_000_000n), note: '=unused balance paid out' }
    await credit(sql, { accountId: customer.accountId, ...payout, kind: 'adjustment', reference: 'payout' })
    const today = dayOf(new Date())
    const rows = await receiptsOf(today)
    const own = rows.filter(row => row['Customer number'] === String(customer.accountId))
    const untaxed = { 'VAT rate': '', 'Net (VND)': '', 'VAT (VND)': '', 'Order code': '', 'Bank reference': '' }
    expect(own.slice(-2)).toMatchObject([
      { ...untaxed, Type: 'Refund', 'Gross (VND)': '0.1105', Note: expect.stringMatching(/^req_/) },
      { ...untaxed, Type: 'Adjustment', 'Gross (VND)': '-1', Note: "'=unused balance paid out" },
    ])
    const micro = (text: string) => BigInt(Math.round(Number(text) * 1_000_000))
    const [ledger] = await sql`select sum(amount_micro_vnd)::text as total from credit`
    expect(String(rows.reduce((sum, row) => sum + micro(row['Gross (VND)'] ?? ''), 0n))).toBe(ledger?.total)
    expect(new Set(rows.map(row => row.Type))).toEqual(new Set(['Bank transfer', 'Refund', 'Adjustment']))
  })

  /** The rows of the accountant's CSV, by heading. No cell of these tests has a comma. */
  async function receiptsOf(day: string): Promise<Record<string, string>[]> {
    const { html } = await operator.get(`/operator/receipts.csv?from=${day}&to=${day}`)
    const [header = '', ...rows] = html.replace('\ufeff', '').trim().split('\r\n')
    return rows.map(row => {
      const cells = row.split(',')
      return Object.fromEntries(header.split(',').map((name, at) => [name, cells[at] ?? '']))
    })
  }

  async function orderCode(): Promise<string> {
    return (await (operators[1] as Visitor).order('108.000')).replace('/topup/', '')
  }
})

describe('the first page', () => {
  test('lists what needs attention, each with a link to the page for it, and the money that came in', async () => {
    const { sql } = running.database
    await transferMoney(sql, { memo: 'khong co ma', amountVnd: 55_000 })
    await sql`insert into spool_set_aside (name, folder, lines, files) values ('host', '/data/spool/host', 3, 1)`
    await sql`insert into unknown_model (day, name, fell_back, refused) values (now()::date, 'gpt-next', 12, 0)`
    const { html } = await operator.get('/operator')
    const page = readable(html)
    const unserved = LASTING_TABLES.entries.filter(
      ({ upstreams }) => !upstreams.some(({ via }) => via === 'anthropic' || via === 'xai'),
    )
    for (const words of [
      `Models without a credential: ${unserved.length}`,
      'there is no credential for alibaba, aws-bedrock, aws-bedrock-openai, deepseek, google, ',
      'Models shut down without a successor: 1',
      `Since: ${GONE} (01/03/2026)`,
      'Unmatched transfers: 1',
      'The queue on disk has lines that could not be written to the ledger',
      'Models that sell below cost: 1',
      'Unknown model names that the fallback served: 1',
    ]) {
      expect(page).toContain(words)
    }
    for (const href of ['/operator/transfers', '/operator/business#below-cost', '/operator/models', '#audit']) {
      expect(html).toContain(`<a href="${href}"`)
    }
    expect(page).toContain('Money in 108.000 ₫')
    expect(page).toMatch(/Calls \d+ /)
    await operator.post('/operator/audit')
    expect(readable((await operator.get('/operator')).html)).toContain('The audit found differences')
    await sql`delete from spool_set_aside`
    await operator.post('/operator/audit')
    expect(readable((await operator.get('/operator')).html)).toContain('no differences.')
  })

  test('counts customers in trouble, names the first ones and links to the full list', async () => {
    const { sql } = running.database
    const troubled = await Promise.all(Array.from({ length: 4 }, () => running.account(0n)))
    for (const { accountId, keyId } of troubled) {
      await sql`insert into usage_daily (account_id, day, key_id, entry_id, calls, errors, input_tokens, output_tokens, images,
          cost_micro_vnd, charged_micro_vnd)
        values (${accountId}, ${dayOf(new Date())}, ${keyId}, ${ENTRY}, 40, 30, 0, 0, 0, 0, 0)`
    }
    const page = readable((await operator.get('/operator')).html)
    expect(page).toContain('Customers with many failed calls: 4')
    expect(page).toContain('Customers out of money, still calling: 4')
    expect(troubled.filter(({ email }) => page.includes(email))).toHaveLength(3)
    expect(page.split(' and 1 more')).toHaveLength(3)
    for (const show of ['failing', 'empty']) {
      const { html } = await operator.get(`/operator/accounts?show=${show}`)
      const missing = troubled.filter(({ accountId }) => !html.includes(`href="/operator/accounts/${accountId}"`))
      expect([show, missing]).toEqual([show, []])
      expect(html).not.toContain(customer.email)
    }
    for (const { accountId } of troubled) await sql`delete from usage_daily where account_id = ${accountId}`
  })

  test('costs are shown only to roles that may see them', async () => {
    const { sql } = running.database
    await sql`update account set operator_role = 3 where email = 'two@example.com'`
    const support = operators[1] as Visitor
    for (const path of ['/operator', '/operator/calls', '/operator/upstreams', await pageOf(ids.good)]) {
      const { html, status } = await support.get(path)
      expect([path, status, /Margin|Our cost/.test(readable(html))]).toEqual([path, 200, false])
    }
    expect((await support.get('/operator/calls.csv')).html).not.toContain('upstream_cost_vnd')
    expect((await support.get('/operator/business')).status).toBe(403)
    await sql`update account set operator_role = null where email = 'two@example.com'`
  })
})
