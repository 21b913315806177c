/** The operator's desk: calls of everybody and their refunds, in a gateway whose first provider fails. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chatCall, goodMessage } from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { end, head, type ScriptedUpstream, startScriptedUpstream, write } from '../support/scripted-upstream.ts'
import { changedTables } from '../support/tables.ts'
import { type PageReply, readable, Visitor } from './visitor.ts'

const ENTRY = 'claude-opus-5'
/** Of goodMessage. */
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
  const tables = changedTables({
    targets: { [ENTRY]: ['anthropic', 'xai'] },
    upstreams: { xai: { paths: { messages: '/v1/messages' } } },
  })
  running = await startTestGateway({ tables, upstreams: { anthropic: first.url, xai: second.url } })
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

/** Its request id. */
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

describe('calls of everybody', () => {
  test('a request id leads to its call in one step, also one that the client made up', async () => {
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

  test('filters find, and together too', async () => {
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

  test('what cannot be understood is said at its field, and what was typed stays', async () => {
    const wrong = [
      ['account=nobody@example.com', 'No such customer.'],
      ['key=zzzz', 'No such key'],
      ['status=9', 'No such status.'],
      ['from=yesterday', 'This time cannot be read.'],
      ['from=2026-11-02&to=2026-11-01', 'Must be before the end.'],
      ['slow=-1', 'Enter 0.001 to 900 seconds.'],
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

  test('two operators refund a call at once: one does, the other is told, the customer gets it once', async () => {
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
    expect(log.match(/call\.refund/g)?.length).toBe(1)
    expect(log).toContain(ids.good)
    const nothing = await operator.post(`${await pageOf(ids.failed)}/refund`, { reason: 'please' })
    expect([nothing.status, readable(nothing.html).includes('nothing to refund')]).toEqual([422, true])
    expect(
      (await operator.post('/operator/calls/0190e000-0000-7000-8000-000000000000/refund', { reason: 'x' })).status,
    ).toBe(404)
    expect(readable((await operator.post('/operator/audit')).html)).toContain('No differences.')
  })
})
