/**
 * Image URLs in chat calls to models that do not fetch them: the gateway fetches the images behind its SSRF guard, or refuses the
 * call.
 */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { json, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
const REPLY = {
  id: 'c',
  object: 'chat.completion',
  model: 'kimi-k2.6',
  choices: [{ index: 0, message: { role: 'assistant', content: 'seen' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
}

let provider: ScriptedUpstream
let pictures: Server
let picturesUrl: string
let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  provider = await startScriptedUpstream(() => json(200, REPLY))
  pictures = createServer((_request, response) => response.end(Buffer.from(PNG, 'base64')))
  await new Promise<void>(resolve => pictures.listen(0, '127.0.0.2', resolve))
  const { port } = pictures.address() as AddressInfo
  picturesUrl = `http://127.0.0.2:${port}/a.png`
  running = await startTestGateway({
    upstreams: { moonshotai: provider.url },
    imageFetch: { ports: [port], isAllowed: address => address === '127.0.0.2' },
    environment: { LIMIT_IMAGE_URLS_MAX: '2' },
  })
  account = await running.account(1_000_000_000_000n)
})
afterAll(async () => {
  await running.close()
  await provider.close()
  pictures.closeAllConnections()
  pictures.close()
})

function call(path: string, content: unknown) {
  return fetch(running.url + path, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: JSON.stringify({ model: 'kimi-k2.6', max_tokens: 9, messages: [{ role: 'user', content }] }),
  })
}

const text = { type: 'text', text: 'Ảnh này là gì?' }

test.each([
  ['chat', '/v1/chat/completions', (url: string) => ({ type: 'image_url', image_url: { url } })],
  ['messages', '/v1/messages', (url: string) => ({ type: 'image', source: { type: 'url', url } })],
])('the image of a %s call reaches the model inline', async (_format, path, image) => {
  const before = provider.requests.length
  const response = await call(path, [text, image(picturesUrl)])
  expect(response.status).toBe(200)
  const sent = JSON.parse(provider.requests[before]?.body.toString('utf8') ?? '')
  const parts = sent.messages.at(-1).content
  expect(parts).toContainEqual({ type: 'text', text: 'Ảnh này là gì?' })
  expect(JSON.stringify(parts)).toContain(`data:image/png;base64,${PNG}`)
})

test.each([
  ['a private address', ['http://10.0.0.1/a.png'], /messages/],
  ['too many URLs', ['1', '2', '3'].map(name => `http://127.0.0.2/${name}`), /at most 2 image URLs/],
])('refuses %s without a call to the model and without a charge', async (_name, urls, message) => {
  const before = { requests: provider.requests.length, balance: await running.balance(account.accountId) }
  const response = await call(
    '/v1/chat/completions',
    urls.map(url => ({ type: 'image_url', image_url: { url } })),
  )
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    error: { type: 'invalid_request_error', message: expect.stringMatching(message) },
  })
  expect(provider.requests).toHaveLength(before.requests)
  expect(await running.balance(account.accountId)).toBe(before.balance)
})
