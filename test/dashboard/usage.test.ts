/** The usage page: its filters, hours and keys show the same calls everywhere. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { dayOf } from '../../src/ledger/reports/days.ts'
import { rollUpAccounts } from '../../src/ledger/roll-up-accounts.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { readable, Visitor } from './visitor.ts'

let running: TestGateway
beforeAll(async () => {
  running = await startTestGateway()
})
afterAll(() => running.close())

const today = (): string => dayOf(new Date())

function call(key: string, model = 'gpt-5.5', tag = ''): Promise<Response> {
  return fetch(`${running.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'x-svc-tag': tag },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Xin chào' }] }),
  })
}

const decoded = (href: string): string => href.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=').replace(/#.*/, '')
/** The totals that the usage page shows: cost, calls, input and output tokens. */
const totalsOf = (html: string): string[] =>
  [...html.matchAll(/<dd>(.*?)<\/dd>/g)].slice(0, 4).map(([, figure]) => readable(figure as string).trim())

test('totals, chart, rows and export show the same calls, whatever the filter', async () => {
  const person = new Visitor(running.url)
  await person.signUp('filters@example.com')
  await person.topUp('50.000')
  const { key } = await person.createKey('filters')
  await call(key, 'gpt-5.5', 'team/a')
  await call(key, 'gpt-5-mini', 'team/a')
  await call(key, 'gpt-5.5')
  await call(key, 'req/gpt-image-2', 'team/b')
  await running.gateway.readiness.idle()
  const { sql } = running.database
  const seen = async (query: string) => {
    const { html } = await person.get(`/usage?${query}`)
    const [, calls = ''] = totalsOf(html)
    const listed = html.match(/class="outcome"/g)?.length ?? 0
    const [, bar = ''] = /<span class="tip"><b>[^<]*<\/b><b>([^<]*)<\/b>/.exec(html) ?? []
    const csv = (await person.get(`/usage.csv?format=raw&${query}`)).html.trim().split('\r\n').length - 1
    return [calls.replace(/ .*/, ''), String(listed), bar, String(csv)]
  }
  const shown: readonly (readonly [string, number])[] = [
    ['', 4],
    ['status=ok', 3],
    ['status=error', 1],
    ['status=400', 1],
    ['status=402', 0],
    ['tag=team/a', 2],
    ['tag=team/a&model=gpt-5.5', 1],
    ['tag=team/b&status=ok', 0],
    ['model=gpt-5.5', 2],
  ]
  for (const rolledUp of [false, true]) {
    if (rolledUp) expect(await rollUpAccounts(sql, { lagSeconds: 0 })).toMatchObject({ done: true })
    for (const [filter, count] of shown) {
      for (const per of ['day', 'hour']) {
        const query = `from=${today()}&to=${today()}&per=${per}&measure=calls&${filter}`
        const bar = count === 0 ? '' : String(count)
        expect([rolledUp, query, await seen(query)]).toEqual([
          rolledUp,
          query,
          [String(count), String(count), bar, String(count)],
        ])
      }
    }
  }
  const byTag = readable((await person.get('/usage?by=tag')).html)
  expect(byTag).toContain('team/a')
  expect(byTag).toContain('No tag')
})

test('an hour of the chart narrows totals and rows to it, and leads back to its day', async () => {
  const person = new Visitor(running.url)
  await person.signUp('hours@example.com')
  await person.topUp('50.000')
  const { key } = await person.createKey('hours')
  await call(key)
  await running.gateway.readiness.idle()
  const { html } = await person.get(`/usage?from=${today()}&to=${today()}`)
  const [, bar = ''] = /<a href="([^"]+)" tabindex="-1" class="bar">/.exec(html) ?? []
  expect(decoded(bar)).toMatch(/hour=\d+/)
  const narrowed = await person.get(decoded(bar))
  expect(totalsOf(narrowed.html)[1]).toBe('1')
  expect(narrowed.html).toContain('chart narrowed')
  const [, back = ''] = /<li class="[^"]*chosen"><a href="([^"]+)"/.exec(narrowed.html) ?? []
  expect(decoded(back)).not.toContain('hour=')
  const other = decoded(bar).replace(/hour=(\d+)/, (_, hour) => `hour=${(Number(hour) + 1) % 24}`)
  expect(totalsOf((await person.get(other)).html)[1]).toBe('0')
  expect(totalsOf((await person.get(`${decoded(bar).replace(/&per=\w+/, '')}&per=day`)).html)[1]).toBe('1')
})

test('keys of one name are told apart by their last characters, in filter, rows, chart and export', async () => {
  const person = new Visitor(running.url)
  await person.signUp('namesakes@example.com')
  await person.topUp('50.000')
  const { key: first, path } = await person.createKey('laptop')
  await call(first)
  await person.post(`${path}/revoke`)
  const { key: second } = await person.createKey('laptop')
  await call(second)
  const { key: other } = await person.createKey('server')
  await call(other)
  await running.gateway.readiness.idle()
  const { html } = await person.get('/usage?by=key')
  const names = [first, second].map(key => `laptop (…${key.slice(-4)})`)
  expect([...html.matchAll(/<option value="\d+">([^<]*)<\/option>/g)].map(([, name]) => name)).toEqual(
    expect.arrayContaining(['server', ...names]),
  )
  const csv = (await person.get('/usage.csv')).html
  for (const name of names) {
    // In the filter, the row, the chart's legend, tooltip and table.
    expect(html.split(name).length - 1).toBeGreaterThanOrEqual(5)
    expect(csv.split(name).length - 1).toBe(1)
  }
})
