/**
 * Only operators can see what providers charge for calls: in the operators' CSV and figures, and nowhere that customers can
 * look.
 */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { Visitor } from '../dashboard/visitor.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { changedTables } from '../support/tables.ts'
import { collectRoutes, type RegisteredRoute } from './registered-routes.ts'

/** Figures that occur nowhere else. One call costs the operator 7.654321 × 0.7391 × 26,417.53 VND. */
const USD = '7.654321'
const SHARE = '0.7391'
const RATE = '26417.53'
const COST_MICRO_VND = (7_654_321n * 7_391n * 2_641_753n + 500_000n) / 1_000_000n
const [WHOLE, FRACTION] = [String(COST_MICRO_VND / 1_000_000n), String(COST_MICRO_VND % 1_000_000n).padStart(6, '0')]

/**
 * Texts that would reveal the cost: the configured figures, the cost in µVND and in VND (with each grouping of digits), and the
 * field's name.
 */
const CANARIES = [
  USD,
  SHARE,
  RATE,
  String(COST_MICRO_VND),
  WHOLE,
  WHOLE.replace(/\B(?=(\d{3})+$)/g, ','),
  WHOLE.replace(/\B(?=(\d{3})+$)/g, '.'),
  WHOLE.replace(/\B(?=(\d{3})+$)/g, '\u00a0'),
  `.${FRACTION}`,
  'upstream_cost',
  'upstreamCost',
  'upstream-cost',
]
const found = (text: string) => CANARIES.filter(canary => text.includes(canary))

let running: TestGateway
let routes: readonly RegisteredRoute[]
let customer: Visitor
let operator: Visitor
let apiKey: string
let log = ''

beforeAll(async () => {
  const cost = [{ from: '2026-01-01', call: USD }]
  const collected = collectRoutes()
  running = await startTestGateway({
    tables: changedTables({
      settings: { fx: [{ from: '2026-01-01', vndPerUsd: RATE }] },
      everyUpstream: { discount: [{ from: '2026-01-01', share: SHARE }] },
      costs: Object.fromEntries(
        ['claude-opus-5', 'gpt-5.5', 'req/gpt-5.5', 'req/gpt-image-2', 'req/gpt-4o-mini-tts'].map(id => [id, cost]),
      ),
    }),
    log: createLog('info', {
      to: {
        write(line) {
          log += line
        },
      },
    }),
    environment: { METRICS_PORT: '0' },
  })
  collected.stop()
  routes = collected.routes
  customer = new Visitor(running.url, running)
  await customer.signUp('customer@example.com')
  await customer.topUp('1.000.000')
  ;({ key: apiKey } = await customer.createKey('mine'))
  operator = new Visitor(running.url, running)
  await operator.signUp('operator@example.com')
  await running.database.sql`update account set is_operator = true where email = 'operator@example.com'`
})
afterAll(() => running.close())

const HI = [{ role: 'user', content: 'hi' }]
const CALLS: readonly (readonly [path: string, body: object])[] = [
  ['/v1/messages', { model: 'claude-opus-5', max_tokens: 50, messages: HI }],
  ['/v1/messages', { model: 'claude-opus-5', max_tokens: 50, messages: HI, stream: true }],
  ['/v1/messages', { model: 'gpt-5.5', max_tokens: 50, messages: HI }],
  ['/v1/messages', { model: 'gpt-5.5', max_tokens: 50, messages: HI, stream: true }],
  ['/v1/chat/completions', { model: 'req/gpt-5.5', messages: HI }],
  [
    '/v1/chat/completions',
    { model: 'claude-opus-5', messages: HI, stream: true, stream_options: { include_usage: true } },
  ],
  ['/v1/responses', { model: 'gpt-5.5', input: 'hi' }],
  ['/v1/responses', { model: 'gpt-5.5', input: 'hi', stream: true }],
  ['/v1/images/generations', { model: 'req/gpt-image-2', prompt: 'a cat' }],
  ['/v1/audio/speech', { model: 'req/gpt-4o-mini-tts', input: 'hi', voice: 'alloy' }],
  ['/v1/messages/count_tokens', { model: 'claude-opus-5', messages: HI }],
  ['/v1/messages', { model: 'claude-opus-5', max_tokens: 'many', messages: HI }],
  ['/v1/messages', { model: 'claude-opus-5', max_tokens: 50 }],
]
const CHARGED = 10

test('no reply and no header of a call says what it cost the operator, but the usage row does', async () => {
  for (const [path, body] of CALLS) {
    const reply = await fetch(running.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = Buffer.from(await reply.arrayBuffer()).toString('latin1')
    expect([path, body, found(JSON.stringify([...reply.headers]) + text)]).toEqual([path, body, []])
  }
  await running.gateway.readiness.idle()
  const rows = await running.database.sql`
    select count(*)::int as rows from usage where upstream_cost_micro_vnd = ${String(COST_MICRO_VND)}`
  expect(rows).toMatchObject([{ rows: CHARGED }])
})

test('no page, list or export for customers shows the operator’s cost', async () => {
  const [key] = await running.database.sql`select key_id from api_key where label = 'mine'`
  const [session] = await running.database.sql`select session_id from session order by session_id limit 1`
  const filled = (path: string) =>
    path
      .replace('/keys/:id', `/keys/${key?.key_id}`)
      .replace('/sessions/:id', `/sessions/${session?.session_id}`)
      .replace(':code', 'ST0000000000')
      .replace(':id', 'gpt-5.5')
      .replace(':file', 'app.js')
      .replace('*', 'claude-opus-5')
  const open = routes.filter(({ method, authentication }) => method === 'GET' && authentication !== 'operator')
  expect(open.length).toBeGreaterThan(20)
  const told: unknown[] = []
  for (const { path, isPage } of open) {
    for (const query of ['', '?by=key&measure=cost', '?q=gpt']) {
      const keyed = { authorization: `Bearer ${apiKey}` }
      const reply = await customer.get(filled(path) + query, {
        accept: isPage ? 'text/html' : '*/*',
        ...(!isPage && keyed),
      })
      const hits = found(JSON.stringify([...reply.headers]) + reply.html)
      if (hits.length > 0) told.push([path, query, hits])
    }
  }
  expect(told).toEqual([])
})

test('the customers’ export has its extras and tag, and no cost of the operator', async () => {
  const { html } = await customer.get('/usage.csv?format=raw')
  const [head = '', ...lines] = html.trimEnd().split('\r\n')
  expect(head).toMatch(/^seq,opened_at,.*,extras_vnd,tag$/)
  expect(lines.length).toBeGreaterThan(CHARGED)
  expect(found(html)).toEqual([])
  expect(found((await customer.get('/usage.csv')).html)).toEqual([])
})

test('the log of calls does not contain the operator’s cost', () => {
  expect(log).toContain('"inputTokens"')
  expect(found(log)).toEqual([])
})

test('the operators’ export has the cost, account by account, and only operators can download it', async () => {
  const path = '/operator/usage.csv'
  const { status, headers, html } = await operator.get(path)
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  const [head = '', ...lines] = html.trimEnd().split('\r\n')
  expect(head).toMatch(/^account_id,seq,opened_at,.*,extras_vnd,cache_write_tokens,upstream_cost_vnd,tag$/)
  const [account] = await running.database.sql`select account_id from account where email = 'customer@example.com'`
  const columns = head.split(',')
  const cells = lines.map(line => Object.fromEntries(line.split(',').map((cell, index) => [columns[index], cell])))
  expect(new Set(cells.map(cell => cell.account_id))).toEqual(new Set([String(account?.account_id)]))
  const told = `${WHOLE}.${FRACTION}`.replace(/0+$/, '')
  expect(cells.map(cell => cell.upstream_cost_vnd).toSorted()).toEqual(
    ['0', '0', ...Array(CHARGED).fill(told)].toSorted(),
  )
  expect((await operator.get('/operator/business')).html).toContain(path)
  const refused = await customer.get(path)
  expect([refused.status, found(refused.html)]).toEqual([404, []])
})
