/** The CSV export reads rows from the database page by page, at the pace of its client. */

import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { csvAnswer } from '../../src/dashboard/csv.ts'
import { Form } from '../../src/dashboard/form.ts'
import { USAGE_PAGES } from '../../src/dashboard/money/usage.ts'
import { DASHBOARD_LIMITS } from '../../src/dashboard/options.ts'
import type { FileAnswer, Page, PageRequest } from '../../src/dashboard/page.ts'
import { addDays, dayOf } from '../../src/ledger/reports/days.ts'
import { REPORT_LIMITS } from '../../src/ledger/reports/limits.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { readable, Visitor } from './visitor.ts'

/** Enough rows for an export that does not fit into socket buffers. */
const ROWS = 30_000
const LABEL = '語'.repeat(100)

let running: TestGateway
let owner: Visitor
let accountId: number
beforeAll(async () => {
  running = await startTestGateway()
  owner = new Visitor(running.url)
  await owner.signUp('owner@example.com')
  await owner.topUp('100.000')
  await owner.createKey(LABEL)
  const { sql } = running.database
  const [key] = await sql`select account_id, key_id from api_key where label = ${LABEL}`
  accountId = Number(key?.account_id)
  await addCalls(accountId, { keyId: Number(key?.key_id), count: ROWS })
})
afterAll(() => running.close())

/** Continues the account's journal with rows of calls that ended some days ago. */
async function addCalls(
  account: number,
  { keyId = 1, count, daysAgo = 0 }: { keyId?: number; count: number; daysAgo?: number },
) {
  const { sql } = running.database
  await sql.unsafe(
    `insert into usage (account_id, seq, call_id, key_id, entry_id, endpoint, status, input_tokens, output_tokens,
       cached_input_tokens, reasoning_tokens, images, price_vnd, price_per, cost_micro_vnd, charged_micro_vnd,
       balance_after_micro_vnd, latency_ms, streamed, estimated, opened_at, closed_at)
     select account_id, seq + n, gen_random_uuid(), $2::text::bigint, 'gpt-5.5', 1, 200, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
       1, false, false, at, at from wallet, generate_series(1, $3::text::integer) n,
       lateral (select now() - make_interval(days => $4::text::integer) as at) given where account_id = $1::text::bigint`,
    [account, keyId, count, daysAgo].map(String),
  )
  await sql`update wallet set seq = seq + ${count} where account_id = ${account}`
}

test('an export reads a page of rows from the database when its reader is ready for it, and no sooner', async () => {
  const { sql } = running.database
  const pages: number[] = []
  const counted = new Proxy(sql, {
    get: (target, name) =>
      name === 'unsafe'
        ? async (statement: string, parameters: string[]) => {
            const rows = await target.unsafe(statement, parameters)
            if (statement.includes('order by seq limit')) pages.push(rows.length)
            return rows
          }
        : Reflect.get(target, name),
  })
  const page = USAGE_PAGES.find(({ path }) => path === '/usage.csv') as Page
  const { body } = (await page.handle({
    options: { sql: counted, limits: DASHBOARD_LIMITS },
    session: { accountId },
    language: 'en',
    query: new Form(new URLSearchParams()),
    now: new Date(),
  } as unknown as PageRequest)) as FileAnswer
  let [chunks, lines] = [0, 0]
  for await (const chunk of body as Readable) {
    chunks++
    lines += String(chunk).split('\r\n').length - 1
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    // The first chunk is the header, and one page of rows may have been read ahead.
    expect(pages.length).toBeLessThanOrEqual(chunks + 1)
  }
  expect(lines).toBe(ROWS + 1)
  expect(pages.length).toBeGreaterThan(ROWS / REPORT_LIMITS.csvPageRows - 1)
  expect(Math.max(...pages)).toBeLessThanOrEqual(REPORT_LIMITS.csvPageRows)
})

test('stalled readers of exports keep out nobody but themselves, and only while they are connected', async () => {
  const other = new Visitor(running.url)
  await other.signUp('other@example.com')
  const open = async (who = owner) => {
    const headers = { ...who.headers, cookie: who.cookie }
    const leaving = new AbortController()
    const response = await fetch(`${running.url}/usage.csv`, { headers, signal: leaving.signal })
    return { status: response.status, response, leaving }
  }
  const standing = await Promise.all(Array.from({ length: DASHBOARD_LIMITS.exportsPerAccountMax }, () => open()))
  expect(standing.map(({ status }) => status)).toEqual(standing.map(() => 200))
  const refused = await open()
  expect([refused.status, refused.response.headers.get('retry-after')]).toEqual([503, '60'])
  await refused.response.arrayBuffer()
  const served = await open(other)
  expect([served.status, (await served.response.text()).split('\r\n').length]).toEqual([200, 2])
  for (const { leaving } of standing) leaving.abort()
  let next = refused
  const admitted = async () => {
    next = await open()
    if (next.status !== 200) await next.response.arrayBuffer()
    return next.status
  }
  await expect.poll(admitted, { timeout: 60_000 }).toBe(200)
  expect((await next.response.text()).split('\r\n').length).toBe(ROWS + 2)
})

test('calls that are too old for the totals are listed and exported, and the page says how far the totals go back', async () => {
  const { sql } = running.database
  const person = new Visitor(running.url)
  await person.signUp('old@example.com')
  await person.topUp('50.000')
  const account = Number((await sql`select account_id from account where email = 'old@example.com'`)[0]?.account_id)
  await addCalls(account, { count: 2, daysAgo: 450 })
  await addCalls(account, { count: 1 })
  const seen = async (first: number, last: number) => {
    const [from, to] = [first, last].map(days => addDays(dayOf(new Date()), -days))
    const text = readable((await person.get(`/usage?from=${from}&to=${to}`)).html)
    const [, calls] = /Calls (\d+)/.exec(text) ?? []
    const [, rows = '0'] = /Export CSV \((\d+) row/.exec(text) ?? []
    return [calls, rows, text.includes('Totals and chart only go back to')]
  }
  expect(await seen(460, 440)).toEqual(['0', '2', true])
  expect(await seen(365, 0)).toEqual(['1', '1', false])
  expect(await seen(399, 390)).toEqual(['0', '0', false])
  expect(await seen(400, 390)).toEqual(['0', '0', true])
})

test('an export whose reader takes nothing for a while ends', async () => {
  const limits = { ...DASHBOARD_LIMITS, exportStallMs: 50 }
  let isReleased = false
  async function* chunks() {
    try {
      for (;;) yield 'a line\r\n'.repeat(10_000)
    } finally {
      isReleased = true
    }
  }
  const request = { options: { limits }, session: { accountId } } as unknown as PageRequest
  const { body } = csvAnswer(request, { chunks: chunks(), fileName: 'endless.csv' }) as FileAnswer
  const stream = body as Readable
  const closed = once(stream, 'close')
  await once(stream, 'readable')
  await closed
  expect(isReleased).toBe(true)
})
