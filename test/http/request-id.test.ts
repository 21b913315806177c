/** One request id from client to provider: on every reply, in every log line of the call, and on the upstream request. */

import { connect } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { chatCall, goodMessage, goodMessagesStream, MESSAGE } from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { type Answer, json, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { changedTables } from '../support/tables.ts'

const ENTRY = 'claude-opus-5'
const MADE_HERE = /^req_[0-9a-f]{32}$/

let provider: ScriptedUpstream
let answers: Answer[] = []
let running: TestGateway
let account: TestAccount
let lines: { readonly msg: string; readonly requestId?: string; readonly callId?: string }[] = []

beforeAll(async () => {
  provider = await startScriptedUpstream(() => answers.shift() ?? goodMessage)
  running = await startTestGateway({
    tables: changedTables({ upstreams: { anthropic: { forwardHeaders: ['x-request-id', 'traceparent'] } } }),
    upstreams: { anthropic: { url: provider.url, keys: ['key-1', 'key-2'] } },
    log: pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) }),
  })
  account = await running.account(1_000_000n * 1_000_000n)
})
beforeEach(() => {
  lines = []
  answers = []
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

function post(headers: Record<string, string> = {}, path = '/v1/messages', body = chatCall(ENTRY)): Promise<Response> {
  return fetch(running.url + path, { method: 'POST', headers: { 'x-api-key': account.apiKey, ...headers }, body })
}

function idsOf({ headers }: Response): (string | null)[] {
  return [headers.get('request-id'), headers.get('x-request-id')]
}

test("the client's id is on the reply, in each log line of the call and on the upstream's request", async () => {
  answers = [json(500, { error: { message: 'overloaded' } }), goodMessage]
  const response = await post({ 'x-request-id': 'build-17/step:4' })
  expect(response.status).toBe(200)
  expect(idsOf(response)).toEqual(['build-17/step:4', 'build-17/step:4'])
  await running.gateway.readiness.idle()
  expect(lines.map(line => [line.msg, line.requestId])).toEqual([
    ['upstream failed; trying the next one, if any', 'build-17/step:4'],
    ['call', 'build-17/step:4'],
  ])
  expect(provider.requests.slice(-2).map(({ headers }) => headers['x-request-id'])).toEqual([
    'build-17/step:4',
    'build-17/step:4',
  ])
})

test('the log line of a call names its usage row, whether or not the client chose the id', async () => {
  await post({ 'x-request-id': 'mine' })
  await running.gateway.readiness.idle()
  const { sql } = running.database
  const [row] =
    await sql`select call_id::text as id from usage where account_id = ${account.accountId} order by seq desc limit 1`
  expect(lines.find(({ msg }) => msg === 'call')?.callId).toBe(row?.id)
})

test.each([
  ['too long', 'a'.repeat(129)],
  ['with a space', 'a b'],
  ['with characters that could break a log line', 'a"b'],
  ['not ASCII', 'a\u00e9'],
  ['empty', ''],
])('an id that is %s is replaced', async (_, given) => {
  expect(idsOf(await post({ 'x-request-id': given }))).toEqual([
    expect.stringMatching(MADE_HERE),
    expect.stringMatching(MADE_HERE),
  ])
})

test('every reply carries the id, whatever its status and its route', async () => {
  const headers = { 'x-request-id': 'mine', 'x-api-key': account.apiKey }
  const post = (path: string, body: string) => fetch(running.url + path, { method: 'POST', headers, body })
  const get = (path: string) => fetch(running.url + path, { headers })
  const replies = await Promise.all([
    post('/v1/messages', chatCall(ENTRY)),
    post('/v1/messages', '{'),
    post('/v1/messages/count_tokens', chatCall(ENTRY)),
    post('/v1/nothing', ''),
    fetch(`${running.url}/v1/messages`, { method: 'POST', headers: { 'x-request-id': 'mine' }, body: '{}' }),
    get('/v1/messages'),
    get('/v1/models'),
    get('/v1/models/nothing'),
    get('/v1/responses'),
    get('/healthz'),
    get('/readyz'),
    get('/'),
    get('/%zz'),
    fetch(`${running.url}/`, { headers: { ...headers, accept: 'text/html' } }),
  ])
  expect(replies.map(reply => reply.status)).toEqual([
    200, 400, 200, 404, 401, 405, 200, 404, 405, 200, 200, 200, 400, 200,
  ])
  for (const reply of replies) {
    expect(idsOf(reply)).toEqual(['mine', 'mine'])
    const body = await reply.text()
    if (reply.status >= 400) expect(JSON.parse(body).request_id).toBe('mine')
  }
})

test('a stream carries it too, and official SDKs report it', async () => {
  answers = [goodMessagesStream]
  const headers = { 'x-request-id': 'mine' }
  const messages = new Anthropic({ baseURL: running.url, apiKey: account.apiKey, defaultHeaders: headers })
  const stream = messages.messages.stream({ model: ENTRY, max_tokens: 9, messages: [{ role: 'user', content: 'a' }] })
  await stream.finalMessage()
  expect(stream.request_id).toBe('mine')
  const chat = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: account.apiKey, defaultHeaders: headers })
  const completion = await chat.chat.completions.create({ model: ENTRY, messages: [{ role: 'user', content: 'a' }] })
  expect(completion._request_id).toBe('mine')
  expect(completion.choices[0]?.message.content).toBe(MESSAGE.content[0]?.text)
})

test('a reply without a valid request gets an id of its own', async () => {
  const { hostname, port } = new URL(running.url)
  const reply = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write('NOT HTTP\r\nx-request-id: mine\r\n\r\n'))
    let text = ''
    socket.on('data', chunk => {
      text += chunk
    })
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
  })
  expect(reply).toMatch(/\r\nrequest-id: req_[0-9a-f]{32}\r\nx-request-id: req_[0-9a-f]{32}\r\n/)
})

test("with tracing off, a client's traceparent is forwarded unchanged to upstreams that may get it", async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  await post({ traceparent })
  expect(provider.requests.at(-1)?.headers.traceparent).toBe(traceparent)
})

async function tagsOf(): Promise<readonly (readonly [string | null, number])[]> {
  await running.gateway.readiness.idle()
  const { sql } = running.database
  const rows =
    await sql`select tag, status from usage where account_id = ${account.accountId} order by seq desc limit 1`
  return rows.map(({ tag, status }) => [tag, status])
}

test('a tag is on the row of its call, however that ends, and no upstream gets it', async () => {
  expect((await post({ 'x-svc-tag': 'team-a/ci:42' })).status).toBe(200)
  expect(await tagsOf()).toEqual([['team-a/ci:42', 200]])
  expect(JSON.stringify(provider.requests.at(-1)?.headers)).not.toContain('team-a')
  expect((await post({ 'x-svc-tag': 'team-a' }, '/v1/messages', '{}')).status).toBe(400)
  expect(await tagsOf()).toEqual([['team-a', 400]])
  await post({ 'x-svc-tag': '' })
  expect(await tagsOf()).toEqual([[null, 200]])
  await post()
  expect(await tagsOf()).toEqual([[null, 200]])
})

test('a tag that would not be kept is refused in words, before anything is sent', async () => {
  for (const tag of ['-a', 'two words', 'a;b', '=1+1', 'dự-án', 'a'.repeat(65), 'a, b']) {
    const before = provider.requests.length
    const response = await post({ 'x-svc-tag': Buffer.from(tag).toString('latin1') })
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    expect([tag, response.status, error.code]).toEqual([tag, 400, 'invalid_request'])
    expect(error.message).toContain('x-svc-tag: A tag has 1 to 64 characters')
    expect(await tagsOf()).toEqual([[null, 400]])
    expect(provider.requests.length).toBe(before)
  }
})
