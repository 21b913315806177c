/** The AI SDK's image, edit, speech and responses functions against a running gateway. */

import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateImage, generateSpeech, generateText, StreamProviderError, streamText } from 'ai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

const PER_VND = 1_000_000n
const CREDIT = 100_000n * PER_VND

let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  running = await startTestGateway()
})
beforeEach(async () => {
  account = await running.account(CREDIT)
})
afterAll(() => running.close())

const provider = () => createOpenAI({ baseURL: `${running.url}/v1`, apiKey: account.apiKey })

test('generates images, although it requests base64 with a parameter that the provider refuses', async () => {
  const { images } = await generateImage({
    model: provider().image('req/gpt-image-2'),
    prompt: 'a cat',
    size: '256x256',
    n: 2,
    maxRetries: 0,
  })
  expect(images.map(image => image.mediaType)).toEqual(['image/png', 'image/png'])
  const spent = (await running.usage(account.accountId)).reduce((sum, row) => sum + row.charged, 0n)
  expect(spent).toBe(1300n * PER_VND)
})

test('edits an image', async () => {
  const model = provider().image('req/gpt-image-2')
  const made = await generateImage({ model, prompt: 'a cat', size: '256x256', maxRetries: 0 })
  const edited = await generateImage({
    model,
    prompt: { text: 'make it blue', images: [made.image.uint8Array] },
    size: '512x512',
    maxRetries: 0,
  })
  expect(Buffer.from(edited.image.uint8Array).readUInt32BE(20)).toBe(512)
  expect(await running.balance(account.accountId)).toBe(CREDIT - 1300n * PER_VND)
})

test('speaks', async () => {
  const { audio } = await generateSpeech({
    model: provider().speech('req/gpt-4o-mini-tts'),
    text: 'Xin chào',
    voice: 'alloy',
    maxRetries: 0,
  })
  expect(audio.uint8Array.length).toBeGreaterThan(1000)
  expect(await running.balance(account.accountId)).toBe(CREDIT - 1350n * PER_VND)
})

test('answers in the responses format, streamed or not', async () => {
  const model = provider().responses('gpt-5.5')
  const whole = await generateText({ model, prompt: 'Hello', maxRetries: 0 })
  expect(whole.text.length).toBeGreaterThan(3)
  const streamed = streamText({ model, prompt: 'Hello', maxRetries: 0 })
  let text = ''
  for await (const part of streamed.textStream) text += part
  expect(text.length).toBeGreaterThan(3)
  const tokens = (whole.usage.totalTokens ?? 0) + ((await streamed.usage).totalTokens ?? 0)
  await running.usage(account.accountId)
  expect(await running.balance(account.accountId)).toBe(CREDIT - BigInt(tokens) * 2400n)
})

test('an overload in the middle of a messages stream can be retried', async () => {
  const errors: unknown[] = []
  const streamed = streamText({
    model: createAnthropic({ baseURL: `${running.url}/v1`, apiKey: account.apiKey })('claude-opus-5'),
    prompt: 'Say something. sandbox:tokens=200 sandbox:error-event',
    maxRetries: 0,
    onError: ({ error }) => void errors.push(error),
  })
  await streamed.consumeStream()
  expect(errors).toHaveLength(1)
  expect(errors[0]).toBeInstanceOf(StreamProviderError)
  expect(errors[0]).toMatchObject({ type: 'overloaded_error', statusCode: 529, isRetryable: true })
})
