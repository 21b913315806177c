/**
 * Calls the images, speech and responses APIs through the OpenAI SDK, with only the base URL and key changed. Checks wallets to
 * the µVND.
 */

import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

const PER_VND = 1_000_000n
const CREDIT = 100_000n * PER_VND

let running: TestGateway
let account: TestAccount
let client: OpenAI

beforeAll(async () => {
  running = await startTestGateway()
})
beforeEach(async () => {
  account = await running.account(CREDIT)
  client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: account.apiKey, maxRetries: 0 })
})
afterAll(() => running.close())

async function expectSpent(microVnd: bigint, rows: readonly object[]) {
  expect(await running.usage(account.accountId)).toMatchObject(rows)
  expect(await running.balance(account.accountId)).toBe(CREDIT - microVnd)
}

const isPng = (bytes: Buffer) => bytes.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n'
const sizeOf = (bytes: Buffer) => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]

test('images.generate: two images of the requested size, at the price of two', async () => {
  const { data, response } = await client.images
    .generate({ model: 'req/gpt-image-2', prompt: 'Một con mèo', size: '1536x1024', n: 2 })
    .withResponse()
  const images = (data.data ?? []).map(image => Buffer.from(image.b64_json ?? '', 'base64'))
  expect(images.map(isPng)).toEqual([true, true])
  expect(sizeOf(images[0] as Buffer)).toEqual([1536, 1024])
  expect(response.headers.get('x-svc-cost-vnd')).toBe('1300')
  expect(response.headers.get('x-svc-model')).toBe('req/gpt-image-2')
  expect(response.headers.get('x-svc-price-vnd-per-request')).toBe('650')
  await expectSpent(1300n * PER_VND, [
    { model: 'req/gpt-image-2', status: 200, cost: 1300n * PER_VND, streamed: false },
  ])
})

test('images.generate, streamed: partial images, then the image, billed once', async () => {
  const stream = await client.images.generate({
    model: 'req/gpt-image-2',
    prompt: 'x',
    size: '256x256',
    stream: true,
    partial_images: 2,
  })
  const types: string[] = []
  for await (const event of stream) {
    types.push(event.type)
    expect(isPng(Buffer.from(event.b64_json, 'base64'))).toBe(true)
  }
  expect(types).toEqual([
    'image_generation.partial_image',
    'image_generation.partial_image',
    'image_generation.completed',
  ])
  await expectSpent(650n * PER_VND, [{ status: 200, cost: 650n * PER_VND, streamed: true, estimated: false }])
})

test('images.edit: one image and several, with a mask', async () => {
  const made = await client.images.generate({ model: 'req/gpt-image-2', prompt: 'x', size: '64x32' })
  const png = Buffer.from(made.data?.[0]?.b64_json ?? '', 'base64')
  const image = await toFile(png, 'cat.png', { type: 'image/png' })
  const one = await client.images.edit({ model: 'req/gpt-image-2', prompt: 'make it blue', image, size: '512x512' })
  expect(sizeOf(Buffer.from(one.data?.[0]?.b64_json ?? '', 'base64'))).toEqual([512, 512])
  const several = await client.images.edit({
    model: 'req/gpt-image-2',
    prompt: 'join them',
    image: [image, await toFile(png, 'dog.png', { type: 'image/png' })],
    mask: await toFile(png, 'mask.png', { type: 'image/png' }),
    n: 2,
    size: '256x256',
  })
  expect(several.data).toHaveLength(2)
  await expectSpent(2600n * PER_VND, [{ cost: 650n * PER_VND }, { cost: 650n * PER_VND }, { cost: 1300n * PER_VND }])
})

test('audio.speech.create: audio, and audio as events, at the same price', async () => {
  const spoken = await client.audio.speech.create({ model: 'req/gpt-4o-mini-tts', voice: 'alloy', input: 'Xin chào' })
  const bytes = Buffer.from(await spoken.arrayBuffer())
  expect(bytes.readUInt16BE(0) & 0xffe0).toBe(0xffe0)
  expect(bytes.length).toBeGreaterThan(1000)
  expect(spoken.headers.get('content-type')).toBe('audio/mpeg')
  expect(spoken.headers.get('x-svc-cost-vnd')).toBe('1350')
  const events = await client.audio.speech.create({
    model: 'req/gpt-4o-mini-tts',
    voice: 'alloy',
    input: 'Xin chào',
    stream_format: 'sse',
  })
  const text = await events.text()
  expect(text).toContain('speech.audio.delta')
  expect(text.trimEnd().split('\n\n').at(-1)).toContain('speech.audio.done')
  await expectSpent(2700n * PER_VND, [
    { model: 'req/gpt-4o-mini-tts', cost: 1350n * PER_VND, streamed: false, status: 200 },
    { model: 'req/gpt-4o-mini-tts', cost: 1350n * PER_VND, streamed: true, status: 200 },
  ])
})

test('the provider’s refusals keep their wording and cost nothing', async () => {
  const speech = { model: 'req/gpt-4o-mini-tts', voice: 'alloy', input: 'x' }
  await expect(client.audio.speech.create({ ...speech, speed: 9 })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('speed'),
  })
  const image = { model: 'req/gpt-image-2', prompt: 'x', size: '256x256' as const }
  await expect(client.images.generate({ ...image, response_format: 'url' })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('response_format'),
  })
  await expectSpent(0n, [
    { status: 400, cost: 0n },
    { status: 400, cost: 0n },
  ])
})

const WEATHER = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'Current weather of a city',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
}

test('responses.create: text, and its cost from the usage it reports', async () => {
  const { data, response } = await client.responses
    .create({ model: 'gpt-5.5', instructions: 'Be brief.', input: 'Hello' })
    .withResponse()
  expect(data.model).toBe('gpt-5.5')
  expect(data.output_text.length).toBeGreaterThan(3)
  const cost = BigInt(data.usage?.total_tokens ?? 0) * 2400n
  expect(Number(response.headers.get('x-svc-cost-vnd')) * 1e6).toBeCloseTo(Number(cost), 3)
  await expectSpent(cost, [{ model: 'gpt-5.5', cost, streamed: false, input_tokens: data.usage?.input_tokens }])
})

test('responses.stream: runs a tool loop, with the same model name in every event', async () => {
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'What is the weather in Hanoi?' }]
  const first = client.responses.stream({ model: 'gpt-5.5', input, tools: [WEATHER] })
  const models = new Set<string>()
  for await (const event of first) if ('response' in event) models.add(event.response.model)
  expect([...models]).toEqual(['gpt-5.5'])
  const asked = await first.finalResponse()
  const call = asked.output.find(item => item.type === 'function_call')
  if (call?.type !== 'function_call') throw new Error('no tool call')
  expect(JSON.parse(call.arguments)).toMatchObject({ city: expect.any(String) })
  const second = client.responses.stream({
    model: 'gpt-5.5',
    tools: [WEATHER],
    input: [...input, call, { type: 'function_call_output', call_id: call.call_id, output: '31 degrees, sunny' }],
  })
  const answered = await second.finalResponse()
  expect(answered.output_text).toContain('31 degrees')
  const costs = [asked, answered].map(response => BigInt(response.usage?.total_tokens ?? 0) * 2400n)
  await expectSpent((costs[0] ?? 0n) + (costs[1] ?? 0n), [
    { cost: costs[0], streamed: true, status: 200 },
    { cost: costs[1], streamed: true, status: 200 },
  ])
})

test.each(['cut', 'error-event'])('a broken stream (%s) ends as a failed response, never as a good one', async word => {
  const stream = client.responses.stream({ model: 'gpt-5.5', input: `Tell me a story. sandbox:${word}` })
  const types: string[] = []
  for await (const event of stream) types.push(event.type)
  expect(types).not.toContain('response.completed')
  expect(types.at(-1)).toBe('response.failed')
  expect(await stream.finalResponse()).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
  await expectSpent(0n, [{ status: 502, cost: 0n }])
})
