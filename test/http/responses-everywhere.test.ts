/** Every chat model of the catalogue in the responses format, called with the official SDK and answered by the sandbox. */

import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TABLES } from '../../src/generated/tables.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

const ENTRIES = TABLES.entries.filter(({ kind }) => kind === 'chat').map(({ id }) => id)

let running: TestGateway
let account: TestAccount
let client: OpenAI

beforeAll(async () => {
  running = await startTestGateway()
  account = await running.account(10_000_000n * 1_000_000n)
  client = new OpenAI({ apiKey: account.apiKey, baseURL: `${running.url}/v1`, maxRetries: 0 })
})
afterAll(() => running.close())

test('the model list for this endpoint has every chat model', async () => {
  const response = await fetch(`${running.url}/v1/models?endpoint=responses`, {
    headers: { authorization: `Bearer ${account.apiKey}` },
  })
  const { data } = (await response.json()) as { data: readonly { id: string }[] }
  expect(data.map(({ id }) => id).sort()).toEqual([...ENTRIES].sort())
})

test.each(ENTRIES)('%s answers under its own name, streamed or not, and is billed', async model => {
  const input = 'Say hello in one short sentence.'
  const whole = await client.responses.create({ model, input, max_output_tokens: 4000 })
  expect([whole.object, whole.status, whole.model, whole.error]).toEqual(['response', 'completed', model, null])
  expect(whole.output_text).not.toBe('')
  expect(whole.usage?.input_tokens).toBeGreaterThan(0)
  const stream = client.responses.stream({ model, input, max_output_tokens: 4000 })
  let text = ''
  stream.on('response.output_text.delta', event => {
    text += event.delta
  })
  const final = await stream.finalResponse()
  expect([final.status, final.model, final.output_text]).toEqual(['completed', model, text])
  expect(text).not.toBe('')
  expect(final.usage?.output_tokens).toBeGreaterThan(0)
})

test('each call has its row', async () => {
  const rows = await running.usage(account.accountId)
  expect(rows.map(({ status, estimated }) => ({ status, estimated }))).toEqual(
    ENTRIES.flatMap(() => [
      { status: 200, estimated: false },
      { status: 200, estimated: false },
    ]),
  )
  expect(rows.filter(({ streamed }) => streamed)).toHaveLength(ENTRIES.length)
})

test('an unknown name gets the fallback, as the reply says', async () => {
  const { data, response } = await client.responses.create({ model: 'no-such-model', input: 'Hello' }).withResponse()
  expect(data.status).toBe('completed')
  expect(response.headers.get('x-svc-model')).toBe(TABLES.settings.fallback)
  expect(response.headers.get('x-svc-model-mapped-from')).toBe('no-such-model')
})
