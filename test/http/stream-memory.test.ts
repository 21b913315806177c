/** An open stream neither keeps its request body in memory nor holds permits that others need. */

import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { type OpenStreams, startOpenStreams } from '../support/open-streams.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const BODY_BYTES = 4 * 1024 * 1024
const STREAMS = 12
const CREDIT = 1_000_000n * 1_000_000n
let streams: OpenStreams
let running: TestGateway
beforeAll(async () => {
  streams = await startOpenStreams()
  running = await startTestGateway({
    upstreams: { openai: `${streams.providerUrl}/v1`, anthropic: streams.providerUrl },
    // Permits for the bytes of three request bodies.
    environment: {
      LIMIT_BODIES_BYTES_MAX: String(3 * BODY_BYTES),
      LIMIT_KEY_BODIES_BYTES_MAX: String(3 * BODY_BYTES),
    },
  })
})
afterAll(async () => {
  await streams.close()
  await running.close()
})

const CHUNK = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const FIRST = {
  chat: [{ ...CHUNK, choices: [{ index: 0, delta: { role: 'assistant', content: 'Xin' }, finish_reason: null }] }],
  messages: [
    {
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 0 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Xin' } },
  ],
  responses: [
    { type: 'response.created', response: { id: 'r', object: 'response', status: 'in_progress', output: [] } },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'i', delta: 'Xin' },
  ],
} as const

const textOf = (length: number): string => 'Việt Nam, quê hương. '.repeat(length / 26)
const PICTURE = 'A'.repeat(BODY_BYTES / 2)
const messagesBody = (model: string) => ({
  model,
  max_tokens: 100,
  stream: true,
  messages: [
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
        { type: 'text', text: textOf(BODY_BYTES / 2) },
      ],
    },
  ],
})
const chatBody = (model: string) => ({
  model,
  stream: true,
  messages: [
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } },
        { type: 'text', text: textOf(BODY_BYTES / 2) },
      ],
    },
  ],
})
const responsesBody = (model: string) => ({ model, stream: true, input: textOf(BODY_BYTES - 1_000) })

async function bytesInUse(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    await sleep(50)
    collectGarbage()
  }
  const { heapUsed, arrayBuffers, external } = process.memoryUsage()
  return heapUsed + Math.max(arrayBuffers, external)
}

test.each([
  ['messages', '/v1/messages', messagesBody('claude-opus-5'), FIRST.messages],
  ['chat completions', '/v1/chat/completions', chatBody('gpt-5.5'), FIRST.chat],
  ['messages, converted', '/v1/messages', messagesBody('gpt-5.5'), FIRST.chat],
  ['chat completions, converted', '/v1/chat/completions', chatBody('claude-opus-5'), FIRST.messages],
  ['responses', '/v1/responses', responsesBody('gpt-5.5'), FIRST.responses],
] as const)(
  '%s: more streams than permits run in parallel, and their bodies are not kept',
  async (_, path, body, events) => {
    const named = events.map(
      event => `${'type' in event ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
    )
    const { apiKey } = await running.account(CREDIT)
    const opening = {
      url: running.url + path,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      begin: named.join(''),
    }
    await streams.open({ ...opening, count: 1 })
    const before = await bytesInUse()
    await streams.open({ ...opening, count: STREAMS })
    expect(((await bytesInUse()) - before) / STREAMS).toBeLessThan(BODY_BYTES / 4)
  },
)
