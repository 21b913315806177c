/**
 * Attacks at the protocol level on a real process: decompression bombs, smuggled requests, and headers and bodies that never end.
 */

import { connect } from 'node:net'
import { brotliCompressSync, constants, createBrotliCompress, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { goodMessage } from '../support/chat.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { type GatewayProcess, startProcess } from './process.ts'

const MIB = 1024 * 1024

let provider: ScriptedUpstream
let running: GatewayProcess
let apiKey: string
/** A gateway that waits only briefly for headers and bodies. */
let impatient: GatewayProcess
let impatientKey: string
beforeAll(async () => {
  provider = await startScriptedUpstream(() => goodMessage)
  const environment = {
    UPSTREAM_ANTHROPIC_BASE_URL: provider.url,
    UPSTREAM_ANTHROPIC_API_KEY: 'upstream-secret-1',
    LOG_LEVEL: 'error',
  }
  const short = { LIMIT_HEADERS_TIMEOUT_MS: '500', LIMIT_REQUEST_TIMEOUT_MS: '1500', LIMIT_DRAIN_IDLE_MS: '1000' }
  running = await startProcess({ environment })
  impatient = await startProcess({ environment: { ...environment, ...short } })
  apiKey = (await running.account('person@example.com')).apiKey
  impatientKey = (await impatient.account('person@example.com')).apiKey
})
afterAll(async () => {
  await running.close()
  await impatient.close()
  await provider.close()
})

const GOOD = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'

function post(
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
  path = '/v1/messages',
): Promise<Response> {
  return fetch(running.url + path, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers },
    body,
    duplex: 'half',
  } as RequestInit)
}

async function expectAlive() {
  expect(running.isUp()).toBe(true)
  expect((await post(GOOD)).status).toBe(200)
}

/**
 * Compresses 1 GiB of zeros. gzip and zstd data can be concatenated, so there a compressed block of 16 MiB of zeros is
 * repeated.
 */
async function bomb(coding: string): Promise<Buffer<ArrayBuffer>> {
  const part = Buffer.alloc(16 * MIB)
  if (coding === 'gzip') return Buffer.concat(Array<Buffer>(64).fill(gzipSync(part, { level: 9 })))
  if (coding === 'zstd') return Buffer.concat(Array<Buffer>(64).fill(zstdCompressSync(part)))
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN } = constants
  const encoder = createBrotliCompress({ params: { [BROTLI_PARAM_QUALITY]: 5, [BROTLI_PARAM_LGWIN]: 24 } })
  const chunks: Buffer[] = []
  encoder.on('data', chunk => chunks.push(chunk))
  for (let count = 0; count < 64; count++) await new Promise(resolve => encoder.write(part, resolve))
  await new Promise<void>(resolve => encoder.on('end', resolve).end())
  return Buffer.concat(chunks)
}

test('1 GiB compressed into a small body is a 413 and takes no memory, in every coding', async () => {
  for (const coding of ['gzip', 'zstd', 'br']) {
    const body = await bomb(coding)
    expect(body.length).toBeLessThan(1.1 * MIB)
    await post(body, { 'content-encoding': coding })
    const before = running.memory().peak
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(body, { 'content-encoding': coding })))
    expect(answers.map(({ status }) => status)).toEqual([413, 413, 413, 413])
    // Memory for four bodies of the maximum size with a copy of each, and for uncollected garbage.
    expect(running.memory().peak - before).toBeLessThan(250 * MIB)
  }
  await expectAlive()
})

test('a decompression bomb without a key is not even decoded', async () => {
  const body = zstdCompressSync(Buffer.alloc(64 * MIB))
  const { status } = await post(body, { 'content-encoding': 'zstd', 'x-api-key': 'wrong' })
  expect(status).toBe(401)
})

test('a decompression bomb in a form, in a notification and inside a second coding is refused as well', async () => {
  const body = zstdCompressSync(Buffer.alloc(64 * MIB))
  expect((await post(body, { 'content-encoding': 'zstd, zstd' })).status).toBe(415)
  expect((await post(body, { 'content-encoding': 'zstd' }, '/v1/images/edits')).status).toBe(413)
  const form = { 'content-encoding': 'br', 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
  expect((await post(brotliCompressSync(Buffer.alloc(MIB)), form, '/signin')).status).toBe(413)
  await expectAlive()
})

const HEAD = `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: KEY\r\n`
const SMUGGLED = 'GET /v1/models HTTP/1.1\r\nhost: x\r\nx-api-key: KEY\r\n\r\n'
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`

test.each([
  ['a length and chunks', `content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n${chunked('{}')}${SMUGGLED}`],
  ['chunks and a length', `transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n${chunked('{}')}${SMUGGLED}`],
  ['two lengths', `content-length: 2\r\ncontent-length: 4\r\n\r\n{}${SMUGGLED}`],
  ['a list of lengths', `content-length: 2, 4\r\n\r\n{}${SMUGGLED}`],
  ['a length with a sign', `content-length: +2\r\n\r\n{}${SMUGGLED}`],
  ['a length in hexadecimal', `content-length: 0x2\r\n\r\n{}${SMUGGLED}`],
  ['an unknown transfer coding', `transfer-encoding: xchunked\r\n\r\n${chunked('{}')}${SMUGGLED}`],
  ['chunks that are not last', `transfer-encoding: chunked, identity\r\n\r\n${chunked('{}')}${SMUGGLED}`],
  ['chunks after a tab', `transfer-encoding:\x0bchunked\r\n\r\n${chunked('{}')}${SMUGGLED}`],
  ['a space before the colon', `transfer-encoding : chunked\r\n\r\n${chunked('{}')}${SMUGGLED}`],
  ['a folded header', `x-folded: a\r\n transfer-encoding: chunked\r\n\r\n${chunked('{}')}${SMUGGLED}`],
  ['line feeds alone', `transfer-encoding: chunked\n\n${chunked('{}')}${SMUGGLED}`],
  ['a carriage return in a value', `x-a: b\rtransfer-encoding: chunked\r\n\r\n${SMUGGLED}`],
  ['NUL in a value', `x-a: b\0c\r\ncontent-length: 2\r\n\r\n{}${SMUGGLED}`],
  ['a chunk size that is not a number', `transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n${SMUGGLED}`],
  ['a chunk size that overflows', `transfer-encoding: chunked\r\n\r\nffffffffffffffff1\r\n{}\r\n0\r\n\r\n${SMUGGLED}`],
  ['a chunk that ends in a line feed', `transfer-encoding: chunked\r\n\r\n2\n{}\n0\n\n${SMUGGLED}`],
])('%s is 400 and hides no second request', async (_name, rest) => {
  const answer = await running.exchange((HEAD + rest).replaceAll('KEY', apiKey))
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
  expect(answer).toContain('"type":"invalid_request_error"')
  expect(answer).not.toContain('"object":"list"')
})

test('headers and bodies that arrive too slowly get a 408', async () => {
  const [headers, body] = await Promise.all([
    impatient.exchange('POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-slow: '),
    impatient.exchange(`${HEAD.replace('KEY', impatientKey)}content-length: 1000\r\n\r\n{"model":`),
  ])
  for (const answer of [headers, body]) {
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer).toContain('"type":"timeout_error"')
  }
  expect(impatient.isUp()).toBe(true)
})

test('a connection that sends nothing, or a request and then nothing, is closed', async () => {
  expect(await impatient.exchange()).toMatch(/^(HTTP\/1\.1 408 |$)/)
})

test('any header value gets a reply or a client error, never an internal error', async () => {
  const names = [
    'anthropic-version',
    'anthropic-beta',
    'openai-beta',
    'accept',
    'accept-encoding',
    'accept-language',
    'content-encoding',
    'content-type',
    'cookie',
    'expect',
    'host',
    'idempotency-key',
    'if-none-match',
    'origin',
    'traceparent',
    'user-agent',
    'x-forwarded-for',
    'x-request-id',
    'x-stainless-helper',
  ]
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_007)
  console.log(`header seed ${seed}`)
  const bytes = fc.uint8Array({ maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), bytes, async (name, value) => {
      const start = `POST /v1/messages HTTP/1.1\r\nx-api-key: ${impatientKey}\r\ncontent-length: ${GOOD.length}\r\nconnection: close\r\n`
      const answer = await impatient.exchange(start, `${name}: `, value, `\r\n\r\n${GOOD}`)
      // Skips the interim 100 reply to `expect`.
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer.replace(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n/, ''))?.[1])
      expect([200, 400, 408, 415, 417]).toContain(status)
      expect(answer).not.toMatch(/ at .+\.ts:\d/)
    }),
    { seed, numRuns: 300 },
  )
  expect(impatient.isUp()).toBe(true)
})

test.each([
  ['line ends', 'opus\r\nset-cookie: a=b'],
  ['NUL', 'opus\0'],
  ['half a character', 'opus\ud800'],
  ['letters beyond Latin', 'mô hình 模型 😀'],
  ['a very long name', 'm'.repeat(100_000)],
])('a model name with %s is repeated to the client without harm', async (_name, model) => {
  const answer = await post(JSON.stringify({ ...JSON.parse(GOOD), model }))
  expect([200, 400]).toContain(answer.status)
  expect(answer.headers.get('set-cookie')).toBeNull()
  const told = answer.headers.get('x-svc-model-mapped-from')
  if (told !== null) expect(told).toMatch(/^[\x21-\x7e]{1,300}$/)
})

test.each([
  ['a tab before the parameter', 'application/json\t; charset=utf-8', 200],
  ['a form without a boundary', 'multipart/form-data; boundary=', 200],
  ['a very long parameter', `application/json; a=${'b'.repeat(8_000)}`, 200],
  ['text', 'text/plain', 200],
  ['a space within', 'application /json', 415],
  ['nothing', '', 415],
  ['several', 'application/json, text/plain', 415],
])('a content type with %s does not change what is checked', async (_name, type, status) => {
  const headers = { 'content-type': type }
  expect((await post(GOOD, headers)).status).toBe(status)
  expect((await post('{"model":', headers)).status).toBe(status === 200 ? 400 : status)
  expect((await post(GOOD, { ...headers, 'x-api-key': 'wrong' })).status).toBe(401)
})

test('a client that does not close its side is disconnected, and does not delay a stop', async () => {
  const { port, hostname } = new URL(impatient.url)
  const opened = ['nonsense\r\n\r\n', 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-slow: '].map(text => {
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () => socket.write(text))
    const answered = new Promise<void>(resolve => socket.once('data', () => resolve()))
    const refused = new Promise<void>(resolve => socket.on('error', () => resolve()))
    return { socket, answered, refused }
  })
  for (const { socket, answered, refused } of opened) {
    await answered
    // The client keeps sending until a reset tells it that the connection is closed.
    const sending = setInterval(() => socket.write('x'), 20)
    await refused
    clearInterval(sending)
  }
  const late = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () =>
    late.write('nonsense\r\n\r\n'),
  )
  late.on('error', () => {})
  await new Promise(resolve => late.once('data', resolve))
  expect(await impatient.stop()).toBe(0)
  late.destroy()
})
