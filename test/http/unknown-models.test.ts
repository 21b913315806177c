/** How calls with unknown model names show up in replies, in a metric, on an operator page and in the CLI. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Foundation } from '../../src/app/foundation.ts'
import { readCommand, UsageError } from '../../src/cli/arguments.ts'
import { OPERATIONS_ACTIONS } from '../../src/cli/operations.ts'
import { readable, Visitor } from '../dashboard/visitor.ts'
import { scrape } from '../support/exposition.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

let running: TestGateway
let account: TestAccount
let operator: Visitor
const ODD = '<script>alert(1)</script>'
const messages = [{ role: 'user', content: 'hi' }]

beforeAll(async () => {
  running = await startTestGateway({ environment: { METRICS_PORT: '0', LIMIT_UNKNOWN_MODELS_WRITE_MS: '100' } })
  account = await running.account(1_000_000_000_000n)
  const send = (path: string, body: object) =>
    fetch(running.url + path, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey },
      body: JSON.stringify(body),
    }).then(async reply => {
      await reply.text()
      return reply.status
    })
  expect([
    await send('/v1/messages', { model: 'gtp-5.5', max_tokens: 5, messages }),
    await send('/v1/chat/completions', { model: 'gtp-5.5', messages }),
    await send('/v1/messages', { model: ODD, max_tokens: 5, messages }),
    await send('/v1/images/generations', { model: 'dall-e-3', prompt: 'x' }),
    // Calls with a known name, and requests that only count tokens, do not count as unknown.
    await send('/v1/messages', { model: 'Anthropic/OPUS', max_tokens: 5, messages }),
    await send('/v1/messages/count_tokens', { model: 'counted-only', messages }),
  ]).toEqual([200, 200, 200, 400, 200, 200])
  operator = new Visitor(running.url)
  await operator.signUp('operator@example.com')
  await running.database.sql`update account set is_operator = true where email = 'operator@example.com'`
})
afterAll(() => running.close())

test('the metric counts such calls, and no label contains a name', async () => {
  const figures = await scrape(running.gateway.metrics?.url ?? '')
  const of = (outcome: string) => figures.sum('gateway_unknown_model_calls_total', { outcome })
  expect([of('fell_back'), of('refused'), figures.sum('gateway_unknown_model_calls_unnamed_total')]).toEqual([3, 1, 0])
  const text = await (await fetch(running.gateway.metrics?.url ?? '')).text()
  expect(text).not.toMatch(/gtp-5\.5|dall-e-3|alert\(/)
})

test('usage rows name the model that was asked for, even if no model answered', async () => {
  const rows = await running.usage(account.accountId)
  expect(rows.map(({ model, requested_name, status }) => [model, requested_name, status])).toEqual([
    ['claude-fable-5', 'gtp-5.5', 200],
    ['claude-fable-5', 'gtp-5.5', 200],
    ['claude-fable-5', ODD, 200],
    ['', 'dall-e-3', 400],
    ['claude-opus-5', 'Anthropic/OPUS', 200],
  ])
})

test('operators see the names once they are stored, as plain text, and which are known by now', async () => {
  const { sql } = running.database
  const written = async () =>
    (await sql`select sum(fell_back + refused)::integer as calls from unknown_model`)[0]?.calls
  await expect.poll(written).toBe(4)
  await sql`insert into unknown_model (day, name, fell_back, refused)
    select day, 'GPT-5.4', 1, 0 from unknown_model where name = 'gtp-5.5'`
  const page = await operator.get('/operator/models?days=30')
  expect(page.status).toBe(200)
  const shown = readable(page.html)
  expect(shown).toMatch(/gtp-5\.5 2 0 /)
  expect(shown).toMatch(/dall-e-3 0 1 /)
  expect(shown).toMatch(/GPT-5\.4 now gpt-5\.4 1 0 /)
  expect(page.html).not.toContain(ODD)
  expect(page.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(shown).not.toContain('counted-only')
})

test('the command line lists them, too', async () => {
  const run = (...words: string[]) => {
    const command = readCommand(['model', 'unknown', ...words])
    if (command === null) throw new Error('the arguments ask for help')
    return OPERATIONS_ACTIONS['model unknown']?.({ sql: running.database.sql } as Foundation, command)
  }
  const asked = { last_at: expect.stringMatching(/^20\d\d-/), known_as: null }
  const answer = await run()
  expect(answer?.data).toEqual({
    days: 7,
    names: [
      { name: 'gtp-5.5', fell_back: 2, refused: 0, ...asked },
      { name: ODD, fell_back: 1, refused: 0, ...asked },
      { name: 'GPT-5.4', fell_back: 1, refused: 0, ...asked, known_as: 'gpt-5.4' },
      { name: 'dall-e-3', fell_back: 0, refused: 1, ...asked },
    ],
  })
  expect(answer?.text.split('\n')).toEqual([
    '        2 fell back,      0 refused  "gtp-5.5"',
    `        1 fell back,      0 refused  "${ODD}"`,
    '        1 fell back,      0 refused  "GPT-5.4"  now gpt-5.4',
    '        0 fell back,      1 refused  "dall-e-3"',
  ])
  for (const days of ['0', '91', '-1', 'x']) await expect(run(`--days=${days}`)).rejects.toThrow(UsageError)
})
