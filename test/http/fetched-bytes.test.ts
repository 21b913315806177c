/** Images that the gateway fetches take memory like bodies: their bytes count against the limits of the key and the process. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { type Answer, json, type ScriptedUpstream, startScriptedUpstream, until } from '../support/scripted-upstream.ts'

const MB = 1024 * 1024
const IMAGE = Buffer.concat([Buffer.from('GIF89a', 'latin1'), Buffer.alloc(0.6 * MB, 1)])
const CHAT_REPLY = {
  id: 'c',
  object: 'chat.completion',
  model: 'kimi-k2.6',
  choices: [{ index: 0, message: { role: 'assistant', content: 'seen' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
}

/** What the provider answers to its next requests, in order; the last answer serves all further ones. */
let answers: Answer[]
let provider: ScriptedUpstream
let pictures: Server
let url: string
let running: TestGateway

beforeAll(async () => {
  provider = await startScriptedUpstream(() =>
    answers.length > 1 ? (answers.shift() as Answer) : (answers[0] as Answer),
  )
  pictures = createServer((_request, response) => response.end(IMAGE))
  await new Promise<void>(resolve => pictures.listen(0, '127.0.0.2', resolve))
  const { port } = pictures.address() as AddressInfo
  url = `http://127.0.0.2:${port}/a.gif`
  running = await startTestGateway({
    upstreams: { openai: `${provider.url}/v1`, moonshotai: provider.url },
    imageFetch: { ports: [port], isAllowed: address => address === '127.0.0.2' },
    environment: { LIMIT_KEY_BODIES_BYTES_MAX: String(MB) },
  })
})
afterAll(async () => {
  await running.close()
  await provider.close()
  pictures.closeAllConnections()
  pictures.close()
})

const chat = (of: string) => ({
  model: 'kimi-k2.6',
  max_tokens: 9,
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: of } }] }],
})
const edit = (of: string) => ({ model: 'req/gpt-image-2', prompt: 'make it blue', image_url: of })

test.each([
  ['an edit', '/v1/images/edits', edit, { created: 1, data: [{ b64_json: 'AAAA' }] }],
  ['a chat call', '/v1/chat/completions', chat, CHAT_REPLY],
] as const)(
  'an image fetched for %s counts as long as the call runs, for its key only',
  async (_, path, bodyOf, reply) => {
    const account = await running.account(1_000_000_000_000n)
    const other = await running.account(1_000_000_000_000n)
    const call = ({ apiKey }: TestAccount) =>
      fetch(running.url + path, {
        method: 'POST',
        headers: { 'x-api-key': apiKey },
        body: JSON.stringify(bodyOf(url)),
      })
    const release = Promise.withResolvers<void>()
    answers = [[until(release.promise), ...json(200, reply)], json(200, reply)]
    const before = provider.requests.length
    const first = call(account)
    await provider.received(before + 1)
    const second = await call(account)
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '2'])
    expect(await second.json()).toMatchObject({
      error: { type: 'rate_limit_error', message: 'Too many large requests are in progress; try again in 2 s.' },
    })
    expect((await call(other)).status).toBe(200)
    release.resolve()
    expect((await first).status).toBe(200)
    expect((await call(account)).status).toBe(200)
    expect((await running.usage(account.accountId)).map(({ status }) => status).sort()).toEqual([200, 200, 429])
  },
)
