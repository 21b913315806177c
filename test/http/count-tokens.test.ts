/**
 * `count_tokens`: free, available with an empty wallet but not with a revoked key, and close to a provider's own count.
 */

import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  running = await startTestGateway()
  account = await running.account(0n)
})
afterAll(() => running.close())

function send(body: unknown, apiKey = account.apiKey) {
  return fetch(`${running.url}/v1/messages/count_tokens?beta=true`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

async function count(body: Record<string, unknown>): Promise<number> {
  const response = await send({ model: 'gpt-5.5', messages: [{ role: 'user', content: 'x' }], ...body })
  expect(response.status).toBe(200)
  const json = (await response.json()) as { input_tokens: number }
  expect(Object.keys(json)).toEqual(['input_tokens'])
  return json.input_tokens
}

test('counts tokens for an empty wallet, in a burst of 30, without a usage row', async () => {
  const replies = await Promise.all(
    Array.from({ length: 30 }, () => send({ model: 'opus', messages: [{ role: 'user', content: 'Xin chào' }] })),
  )
  expect(replies.map(reply => reply.status)).toEqual(Array.from({ length: 30 }, () => 200))
  expect(replies[0]?.headers.get('x-svc-model-mapped-from')).toBe('opus')
  expect(new Set(await Promise.all(replies.map(reply => reply.text()))).size).toBe(1)
  expect(await running.usage(account.accountId)).toEqual([])
})

test('refuses a wrong key, and a revoked one at once', async () => {
  expect((await send({ model: 'opus', messages: [{ role: 'user', content: 'x' }] }, 'sk-svc-none')).status).toBe(401)
  const person = await running.account(0n)
  const body = { model: 'opus', messages: [{ role: 'user', content: 'x' }] }
  expect((await send(body, person.apiKey)).status).toBe(200)
  await running.database
    .sql`update api_key set revoked_at = now(), encryption_id = null, encryption_iv = null, ciphertext = null
         where key_id = ${person.keyId}`
  expect((await send(body, person.apiKey)).status).toBe(401)
})

test.each([
  ['malformed JSON', '{"model":', /not valid JSON/],
  ['no messages', { model: 'opus' }, /messages: Field required/],
  ['an image model', { model: 'req/gpt-image-2', messages: [{ role: 'user', content: 'x' }] }, /images\/generations/],
])('refuses %s', async (_name, body, message) => {
  const response = await send(body)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { message: expect.stringMatching(message) } })
})

const ENGLISH =
  'The gateway sets money aside before a call goes to a provider, and turns it into a charge when the reply has ended. ' +
  'A client that goes away from a stream pays for what was sent to it; a failed call costs nothing.\n'
const VIETNAMESE =
  'Cổng dịch vụ giữ tiền trước khi cuộc gọi được chuyển đến nhà cung cấp, và trừ tiền khi câu trả lời đã kết thúc. ' +
  'Khách hàng ngắt kết nối giữa chừng chỉ trả cho phần đã nhận; cuộc gọi thất bại không mất phí.\n'
const CODE =
  'export function costOf(entry: ModelEntry, used: Metered): MicroVnd {\n  switch (entry.price.per) {\n' +
  "    case 'mtok':\n      return microVnd(BigInt(used.inputTokens + used.outputTokens) * BigInt(entry.price.vnd))\n  }\n}\n"

test.each([
  ['English', ENGLISH],
  ['Vietnamese', VIETNAMESE],
  ['code', CODE],
])('is within 10 %% of the reference vocabulary for %s', async (_name, text) => {
  const content = text.repeat(20)
  const reference = encode(content).length
  const counted = await count({ messages: [{ role: 'user', content }] })
  expect(Math.abs(counted - reference) / reference).toBeLessThan(0.1)
})

/**
 * Token counts of the texts above, each repeated twenty times. They come from an independent reconstruction of the vendor's
 * tokenizers (PyPI package ctok 1.3.0, run on 2026-11-21). Models before 4.7 have a different tokenizer.
 */
test.each([
  ['English', ENGLISH, 966, 1330, 1325],
  ['Vietnamese', VIETNAMESE, 2226, 2410, 2405],
  ['code', CODE, 1586, 2030, 2025],
])('is within 10 %% of a vendor’s own counts for %s, by generation', async (_name, text, before, since, newest) => {
  const references = { 'claude-opus-4-5': before, 'claude-opus-4-7': since, 'claude-opus-5': newest }
  for (const [model, reference] of Object.entries(references)) {
    const counted = await count({ model, messages: [{ role: 'user', content: text.repeat(20) }] })
    expect(Math.abs(counted - reference) / reference, model).toBeLessThan(0.1)
  }
})

/** The two requests from the vendor's page on token counting, with the counts given there (read 2026-11-21). */
test('is near the vendor’s published counts for a short request and for one with a tool', async () => {
  const model = 'claude-opus-4-5'
  const weather = {
    name: 'get_weather',
    description: 'Get the current weather in a given location',
    input_schema: {
      type: 'object',
      properties: { location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' } },
      required: ['location'],
    },
  }
  const greeting = { model, system: 'You are a scientist', messages: [{ role: 'user', content: 'Hello, Claude' }] }
  expect(Math.abs((await count(greeting)) - 14)).toBeLessThanOrEqual(1)
  const content = "What's the weather like in San Francisco?"
  const counted = await count({ model, tools: [weather], messages: [{ role: 'user', content }] })
  expect(Math.abs(counted - 403) / 403).toBeLessThan(0.1)
})

test('counts tools, tool calls, tool results, system blocks and text documents', async () => {
  const plain = await count({})
  const text = 'one two three four five six seven eight nine ten'
  const forms: Record<string, unknown>[] = [
    { system: text },
    { system: [{ type: 'text', text }] },
    { tools: [{ name: 'a', description: text, input_schema: { type: 'object' } }] },
    { messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'a', input: { text } }] }] },
    {
      messages: [
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text }] }] },
      ],
    },
    { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'text', data: text } }] }] },
  ]
  for (const form of forms) expect(await count(form)).toBeGreaterThanOrEqual(plain + 9)
})

/** The beginning of a PNG with these dimensions: its header, without any pixels. */
function pngHeader(width: number, height: number): string {
  const bytes = Buffer.alloc(33)
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes.toString('base64')
}

const image = (source: unknown) => ({ messages: [{ role: 'user', content: [{ type: 'image', source }] }] })
const base64 = (data: string) => image({ type: 'base64', media_type: 'image/png', data })

test('counts images by their pixels after scaling down', async () => {
  const empty = await count({ messages: [{ role: 'user', content: [] }] })
  expect((await count(base64(pngHeader(750, 1000)))) - empty).toBe(1000)
  expect((await count(base64(pngHeader(75, 100)))) - empty).toBe(10)
  expect((await count(base64(pngHeader(8000, 6000)))) - empty).toBe(1600)
  expect((await count(base64(pngHeader(8000, 800)))) - empty).toBe(328)
  expect((await count(image({ type: 'url', url: 'https://example.com/a.png' }))) - empty).toBe(1600)
})

test('counts a document by its pages', async () => {
  const pdf = Buffer.from('%PDF-1.7 <</Type /Pages/Count 2>> <</Type /Page>> <</Type/Page>>').toString('base64')
  const source = { type: 'base64', media_type: 'application/pdf', data: pdf }
  const counted = await count({ messages: [{ role: 'user', content: [{ type: 'document', source }] }] })
  expect(Math.round(counted / 2200)).toBe(2)
})
