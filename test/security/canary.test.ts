/**
 * Content leaves no trace: every field that can hold content gets a canary (a unique text), and the process logs at its most
 * verbose level. Then everything that it has written is searched for the canaries, and for keys and secrets.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { TABLES } from '../../src/generated/tables.ts'
import { readOutbox } from '../../src/lib/outbox.ts'
import { PASSWORD, Visitor } from '../dashboard/visitor.ts'
import { MESSAGE, MESSAGES_START, messagesEvent, textDelta } from '../support/chat.ts'
import { TEST_BANK } from '../support/gateway.ts'
import { freePort } from '../support/program.ts'
import {
  type Answer,
  end,
  json,
  type RecordedRequest,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  write,
} from '../support/scripted-upstream.ts'
import { transferMoney } from '../support/transfers.ts'
import { Canaries } from './canaries.ts'
import { type GatewayProcess, startProcess } from './process.ts'

const canaries = new Canaries()
const at = (place: string) => canaries.at(place)
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'

let provider: ScriptedUpstream
let running: GatewayProcess
let apiKey: string
/** Stands in for the trace collector. */
let collector: ScriptedUpstream
let metricsUrl: string

beforeAll(async () => {
  provider = await startScriptedUpstream(answerOf)
  const upstreams = TABLES.upstreams.flatMap(({ id }) => {
    const name = `UPSTREAM_${id.toUpperCase().replaceAll('-', '_')}`
    return [
      [`${name}_BASE_URL`, provider.url],
      [`${name}_API_KEY`, at('upstream key')],
    ]
  })
  collector = await startScriptedUpstream(() => json(200, {}))
  const metricsPort = await freePort()
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`
  running = await startProcess({
    preload: new URL('crash-inside.ts', import.meta.url),
    environment: {
      ...Object.fromEntries(upstreams),
      LOG_LEVEL: 'trace',
      METRICS_PORT: String(metricsPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${at('collector key')}`,
      CRASH_CONTENT: at('fault of our own'),
      ...TEST_BANK,
      SEPAY_WEBHOOK_SECRET: at('webhook secret'),
      LIMIT_UPSTREAM_TRIES_MAX: '2',
    },
  })
  apiKey = canaries.watch('API key', (await running.account('person@example.com')).apiKey)
})
afterAll(async () => {
  await running.close()
  await provider.close()
  await collector.close()
})

const failed = (status: number, extra: object = {}): Answer =>
  json(status, {
    type: 'error',
    error: { type: 'invalid_request_error', message: `no: ${at('upstream error text')}`, ...extra },
  })

const brokenStream = (last: string): Answer => [
  sse(),
  write(MESSAGES_START.join('') + textDelta(at('streamed reply'))),
  write(last),
  end(),
]

/** How the provider behaves, chosen by the last word of the prompt. */
const BEHAVIOURS: Readonly<Record<string, () => Answer>> = {
  refuse: () => failed(400),
  'refuse-key': () => failed(401),
  'rate-limit': () => failed(429),
  crash: () => failed(500),
  'odd-type': () =>
    failed(500, { type: `said ${at('upstream error type')}`, code: `why ${at('upstream error code')}` }),
  'no-json': () => [sse(), write(at('upstream garbage')), end()],
  'half-json': () => json(200, `{"content":"${at('half a reply')}`),
  html: () => [...failed(502).slice(0, 0), ...json(502, `<html>${at('upstream page')}</html>`)],
  stream: () => brokenStream(messagesEvent({ type: 'message_stop' })),
  'stream-error': () =>
    brokenStream(messagesEvent({ type: 'error', error: { type: 'overloaded_error', message: at('error event') } })),
  'stream-cut': () => brokenStream(`data: {"type":"${at('cut event')}`),
  'stream-garbage': () => brokenStream(`data: {"type":${at('garbage event')}}\n\n`),
}

function answerOf({ body, path }: RecordedRequest): Answer {
  const behaviour = /does:([a-z-]+)/.exec(body.toString('utf8'))?.[1]
  const chosen = behaviour === undefined ? undefined : BEHAVIOURS[behaviour]
  if (chosen !== undefined) return chosen()
  if (path.includes('/images/'))
    return json(200, { created: 1, data: [{ b64_json: PICTURE, revised_prompt: at('revised prompt') }] })
  if (path.includes('/responses')) {
    const output = [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: at('response text') }] },
    ]
    return json(200, {
      id: 'r',
      object: 'response',
      status: 'completed',
      output,
      usage: { input_tokens: 3, output_tokens: 4 },
    })
  }
  if (path.includes('/chat/')) {
    const message = { role: 'assistant', content: at('chat reply'), reasoning_content: at('reasoning') }
    return json(200, {
      id: 'c',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 4 },
    })
  }
  return json(200, { ...MESSAGE, content: [{ type: 'text', text: at('reply') }] })
}

async function post(path: string, body: object | string | FormData, headers: Record<string, string> = {}) {
  const isForm = body instanceof FormData
  const response = await fetch(running.url + path, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, ...(isForm ? {} : { 'content-type': 'application/json' }), ...headers },
    body: typeof body === 'string' || isForm ? body : JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

const toolCalls = [
  {
    id: 'c1',
    type: 'function',
    function: { name: 'look', arguments: JSON.stringify({ q: at('chat tool arguments') }) },
  },
]

test('makes calls with content in every field, which succeed or fail', async () => {
  const messages = (model: string, more: object = {}) => ({
    model,
    max_tokens: 50,
    system: [{ type: 'text', text: at('system') }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: at('prompt') },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
          {
            type: 'document',
            title: at('file title'),
            source: { type: 'text', media_type: 'text/plain', data: at('file text') },
          },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: { q: at('tool arguments') } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: at('tool result') }] },
    ],
    tools: [
      {
        name: 'look',
        description: at('tool description'),
        input_schema: { type: 'object', properties: { q: { type: 'string', description: at('tool schema') } } },
      },
    ],
    metadata: { user_id: at('end user') },
    stop_sequences: [at('stop sequence')],
    ...more,
  })
  const chat = (model: string, more: object = {}) => ({
    model,
    messages: [
      { role: 'system', content: at('chat system') },
      { role: 'user', name: at('chat name'), content: [{ type: 'text', text: at('chat prompt') }] },
      { role: 'assistant', content: null, tool_calls: toolCalls },
      { role: 'tool', tool_call_id: 'c1', content: at('chat tool result') },
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: 'look',
          description: at('chat tool description'),
          parameters: { type: 'object', properties: {} },
        },
      },
    ],
    user: at('chat end user'),
    ...more,
  })
  for (const model of ['claude-opus-5', 'gpt-5.5']) {
    for (const stream of [false, true]) {
      expect((await post('/v1/messages', messages(model, { stream }))).status).toBe(200)
      expect((await post('/v1/chat/completions', chat(model, { stream }))).status).toBe(200)
    }
  }
  expect((await post('/v1/messages/count_tokens', messages('claude-opus-5'))).status).toBe(200)
  expect(
    (await post('/v1/responses', { model: 'gpt-5.5', instructions: at('instructions'), input: at('response input') }))
      .status,
  ).toBe(200)
  expect((await post('/v1/images/generations', { model: 'req/gpt-image-2', prompt: at('image prompt') })).status).toBe(
    200,
  )
  const form = new FormData()
  form.set('model', 'req/gpt-image-2')
  form.set('prompt', at('edit prompt'))
  form.set('image', new Blob([Buffer.from(PICTURE, 'base64')], { type: 'image/png' }), `${at('file name')}.png`)
  expect((await post('/v1/images/edits', form)).status).toBe(200)
  const edit = {
    model: 'req/gpt-image-2',
    prompt: at('edit prompt'),
    image: `http://user:${at('image URL')}@127.0.0.1/${at('image path')}.png`,
  }
  expect((await post('/v1/images/edits', edit)).status).toBe(400)
  await post('/v1/audio/speech', { model: 'req/gpt-4o-mini-tts', input: at('speech input'), voice: at('voice') })
  const withImage = (url: string) => ({
    model: 'gpt-5.5',
    max_tokens: 5,
    messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }],
  })
  await post(
    '/v1/messages',
    withImage(`https://${at('image host')}.invalid/${at('image path')}.png?key=${at('image query')}`),
  )

  for (const [behaviour] of Object.entries(BEHAVIOURS)) {
    for (const stream of [false, true]) {
      const prompt = [{ role: 'user', content: `${at('failing prompt')} does:${behaviour}` }]
      await post('/v1/messages', { model: 'claude-opus-5', max_tokens: 9, stream, messages: prompt })
      await post('/v1/chat/completions', { model: 'claude-opus-5', stream, messages: prompt })
      await post('/v1/chat/completions', { model: 'gpt-5.5', stream, messages: prompt })
      await post('/v1/responses', { model: 'gpt-5.5', stream, input: prompt })
      await post('/v1/images/generations', { model: 'req/gpt-image-2', prompt: prompt[0]?.content, stream })
    }
  }
})

test('makes requests that never become calls', async () => {
  expect((await post('/v1/messages', `{"model":"claude-opus-5","messages":[${at('broken JSON')}`)).status).toBe(400)
  expect((await post('/v1/messages', `{"model":"claude-opus-5","messages":"${at('wrong field')}"}`)).status).toBe(400)
  expect((await post('/v1/messages', '{}', { 'x-api-key': at('wrong key') })).status).toBe(401)
  expect(
    (await post('/v1/messages', '{}', { 'x-api-key': '', authorization: `Bearer ${at('wrong bearer')}` })).status,
  ).toBe(401)
  expect((await post('/v1/messages', '{}', { 'x-api-key': '', authorization: `Basic ${at('basic')}` })).status).toBe(
    401,
  )
  expect((await post(`/v1/${at('path')}?key=${at('query')}`, at('body of nothing'))).status).toBe(404)
  const headers = {
    cookie: `session=${at('cookie')}`,
    'user-agent': at('user agent'),
    'x-forwarded-for': at('address'),
  }
  await post('/v1/messages', '{}', { ...headers, 'anthropic-beta': at('beta'), traceparent: at('trace') })
  await post(
    '/webhooks/bank/sepay',
    { content: at('forged notification') },
    { 'x-sepay-signature': at('forged signature') },
  )
  await running.exchange(`POST /v1/messages HTTP/1.1\r\nhost: x\r\n${at('raw header')}\r\n\r\n`)
  await post('/v1/messages', Buffer.from(at('damaged coding')).toString(), { 'content-encoding': 'gzip' })
})

test('has people use passwords and links', async () => {
  const visitor = new Visitor(running.url, running)
  const email = 'customer@example.com'
  await visitor.signUp(email, canaries.watch('password', `${PASSWORD} ${at('password part')}`))
  canaries.watch('session', visitor.cookie.replace(/^.*session=/, ''))
  const order = await visitor.order('100000')
  await transferMoney(running.database.sql, { memo: order.replace('/topup/', ''), amountVnd: 100_000 })
  canaries.watch('key from a page', (await visitor.createKey('own')).key)
  await visitor.post('/signin', { email, password: at('wrong password') })
  await visitor.post('/signin', { email: 'nobody@example.com', password: at('password of nobody') })
  await visitor.post('/forgot', { email })
  const link = await visitor.mailedLink('/reset', email)
  const token = canaries.watch('reset link', new URL(`http://x${link}`).searchParams.get('token') as string)
  await visitor.post('/reset', { token, password: at('new password') })
  await visitor.post('/reset', { token, password: at('password again') })
  await visitor.post('/verify', { token: at('wrong token').padEnd(43, 'a'), password: at('password for it') })
})

test('causes internal errors with content in their messages', async () => {
  const crash = (where: string) =>
    post('/v1/messages', { model: `crash-${where}`, max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })
  expect((await crash('call')).status).toBe(500)
  expect((await crash('rejection')).status).toBe(200)
  const page = await new Visitor(running.url).post('/signin', { email: 'a@example.com', password: 'crash-page' })
  expect(page.status).toBe(500)
  expect(canaries.found(page.html)).toEqual([])
  const metrics = await (await fetch(metricsUrl)).text()
  expect(metrics.split('\n').length).toBeGreaterThan(50)
  expect(canaries.found(metrics)).toEqual([])
  await crash('process')
  expect(await running.stop()).toBe(1)
})

/** Reads the files below a folder that no running program uses, and returns their texts by path. */
function filesBelow(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return new Map(
    names.map(({ parentPath, name }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name)).toString('latin1'),
    ]),
  )
}

test('no content is in what the process has written', async () => {
  expect(canaries.size).toBeGreaterThan(70)
  const output = running.output()
  // These log lines show that the content went through every part that could have logged it.
  const lines = [
    '"msg":"call"',
    '"msg":"call failed"',
    '"msg":"page failed"',
    'unhandled promise rejection',
    'uncaught exception;',
  ]
  for (const line of lines) expect([line, output.includes(line)]).toEqual([line, true])
  expect(canaries.found(output)).toEqual([])

  const files = filesBelow(running.dataDir)
  const outbox = join(running.dataDir, 'outbox')
  expect([...files.keys()].some(name => name.includes('/spool/'))).toBe(true)
  for (const [name, text] of files) {
    if (!name.startsWith(outbox)) expect([name, canaries.found(text)]).toEqual([name, []])
  }
  // The only secret that an email may contain is the token in the link to reset a password.
  const mails = await readOutbox(outbox)
  expect(mails.length).toBeGreaterThan(2)
  for (const { subject, text } of mails) {
    expect(['', 'reset link']).toContain(canaries.found(`${subject}\n${text}`).join())
  }
})

test('no content is in the traces', () => {
  const spans = collector.requests.map(({ body }) => body.toString('utf8')).join('\n')
  expect(spans.match(/"traceId"/g)?.length ?? 0).toBeGreaterThan(50)
  expect(canaries.found(spans)).toEqual([])
})

test('no content is in the database', async () => {
  const { sql } = running.database
  const tables = await sql`select table_name from information_schema.tables where table_schema = 'public'`
  expect(tables.length).toBeGreaterThan(12)
  let rows = 0
  for (const { table_name: table } of tables) {
    const found = await sql.unsafe(`select t::text as row from "${table}" t`)
    rows += found.length
    // Searches each row as one text, so that no column is forgotten.
    expect([table, canaries.found(found.map(({ row }) => row).join('\n'))]).toEqual([table, []])
  }
  expect(rows).toBeGreaterThan(150)
  const serverLog = readFileSync(join(inject('postgresDir'), 'postgres', 'server.log'), 'latin1')
  expect(serverLog).toContain('database system is ready')
  expect(canaries.found(serverLog)).toEqual([])
})
