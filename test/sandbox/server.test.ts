import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { PATHS, post, smallBody, startTestSandbox } from './support.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startTestSandbox({ limits: { bodyBytesMax: 100_000 } })
})
afterAll(() => sandbox.close())

test.each(Object.values(PATHS))('%s without credentials is a 401, marked as simulated', async path => {
  const response = await fetch(sandbox.url + path, { method: 'POST', body: '{}' })
  expect([response.status, response.headers.get('x-sandbox')]).toEqual([401, 'simulated'])
  expect(await response.json()).toMatchObject({ error: { message: expect.stringMatching(/key/i) } })
})

test.each([{ 'x-api-key': 'k' }, { authorization: 'Bearer k' }, { 'api-key': 'k' }])(
  'accepts credentials as %j',
  async headers => {
    const response = await fetch(`${sandbox.url}/up/models`, { headers: headers as Record<string, string> })
    expect(response.status).toBe(200)
  },
)

test('an empty bearer token is no credential', async () => {
  expect((await post(sandbox, PATHS.chat, smallBody('chat', 'hi'), { authorization: 'Bearer ' })).status).toBe(401)
})

test('the messages format needs its version header', async () => {
  const response = await fetch(sandbox.url + PATHS.messages, {
    method: 'POST',
    headers: { 'x-api-key': 'k' },
    body: JSON.stringify(smallBody('messages', 'hi')),
  })
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { message: '<vendor>-version: header is required' } },
  ])
})

test.each([
  [PATHS.messages, 'other', 404, { type: 'error', error: { type: 'not_found_error', message: 'model: other' } }],
  [PATHS.chat, 'other', 404, { error: { code: 'model_not_found' } }],
  [
    PATHS.chat,
    'painter',
    404,
    { error: { message: 'This is not a chat model and thus not supported on this endpoint.' } },
  ],
  [
    PATHS.images,
    'thinker',
    404,
    { error: { message: 'This is not an image model and thus not supported on this endpoint.' } },
  ],
])('%s does not serve the model %s', async (path, model, status, body) => {
  const response = await post(sandbox, path, { ...smallBody('messages', 'hi'), prompt: 'x', model })
  expect([response.status, await response.json()]).toMatchObject([status, body])
})

test('an upstream serves its own models only', async () => {
  expect((await post(sandbox, '/elsewhere/v1/chat/completions', smallBody('chat', 'hi'))).status).toBe(404)
})

test.each(['{', '[]', 'null', '"x"', ''])('the body %j is refused', async body => {
  for (const path of Object.values(PATHS)) expect((await post(sandbox, path, body)).status).toBe(400)
})

test.each(['/', '//', '/up', '/up/v1/unknown', '/up/%zz', '/messages', '/..%2f/chat/completions'])(
  'the path %s is harmless',
  async path => {
    const response = await post(sandbox, path, smallBody('chat', 'hi'))
    expect(response.status).toBe(path === '/' || path === '//' ? 200 : 404)
  },
)

test('the wrong method is a 405', async () => {
  const response = await fetch(sandbox.url + PATHS.chat, { headers: { authorization: 'x' } })
  expect(response.status).toBe(405)
})

test('a body above the limit is a 413 that reaches the client', async () => {
  const response = await post(sandbox, PATHS.messages, smallBody('messages', 'x'.repeat(200_000)))
  expect([response.status, await response.json()]).toMatchObject([413, { error: { type: 'request_too_large' } }])
})

test('a client that leaves in the middle of a stream or an upload does no harm', async () => {
  const { port, hostname } = new URL(sandbox.url)
  const slow = JSON.stringify(smallBody('chat', 'sandbox:slow=1', { stream: true }))
  const head = `POST ${PATHS.chat} HTTP/1.1\r\nhost: x\r\nauthorization: x\r\ncontent-length: ${slow.length}\r\n\r\n`
  for (const bytes of [head + slow, head, 'POST ']) {
    const socket = connect(Number(port), hostname)
    await new Promise<void>(resolve => socket.write(bytes, () => resolve()))
    socket.resetAndDestroy()
  }
  expect((await post(sandbox, PATHS.chat, smallBody('chat', 'hi'))).status).toBe(200)
})

test('uses a given port, rejects one in use, and releases it', async () => {
  const port = Number(new URL(sandbox.url).port)
  await expect(startSandbox({ modelFacts: () => null, port })).rejects.toThrow('EADDRINUSE')
  const first = await startTestSandbox()
  const again = Number(new URL(first.url).port)
  await first.close()
  const second = await startTestSandbox({ port: again })
  expect(second.url).toBe(first.url)
  await second.close()
})

test('keeps its configured pace', async () => {
  const paced = await startTestSandbox({ pace: { firstTokenMs: 40, tokensPerSecond: 100 } })
  const response = await post(paced, PATHS.chat, smallBody('chat', 'sandbox:tokens=60', { stream: true }))
  const chunks: string[] = []
  for await (const chunk of response.body!) chunks.push(String(chunk))
  expect(chunks.length).toBeGreaterThan(5)
  await paced.close()
})

test('serves many calls at once', async () => {
  const calls = Array.from({ length: 200 }, (_, index) =>
    post(sandbox, PATHS.chat, smallBody('chat', `hi ${index}`, { stream: index % 2 === 0 })).then(response =>
      response.text(),
    ),
  )
  const texts = await Promise.all(calls)
  for (const [index, text] of texts.entries()) expect(text).toContain(index % 2 === 0 ? '[DONE]' : `hi ${index}”`)
})
