/** `parse()` of both official SDKs, with models that support schemas natively, only in JSON mode, or only in the prompt. */

import Anthropic from '@anthropic-ai/sdk'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import OpenAI from 'openai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const MODELS = [
  'claude-opus-5',
  'gpt-5.5',
  'glm-5.2',
  'deepseek-v4-flash',
  'kimi-k2.6',
  'minimax-m3',
  'svc/gpt-oss-120b',
]
const TRIP = z.object({ city: z.string(), days: z.number().int().min(1).max(9), stops: z.array(z.string()) })
const QUESTION = 'Plan a trip to "Huế" for 3 days.'
const CREDIT = 1_000_000n * 1_000_000n

let running: TestGateway
let openai: OpenAI
let anthropic: Anthropic
beforeAll(async () => {
  running = await startTestGateway()
  const { apiKey } = await running.account(CREDIT)
  openai = new OpenAI({ baseURL: `${running.url}/v1`, apiKey, maxRetries: 0 })
  anthropic = new Anthropic({ baseURL: running.url, apiKey, maxRetries: 0 })
})
afterAll(() => running.close())

const EXPECTED = { city: 'Huế', days: 3, stops: [expect.any(String)] }

describe.each(MODELS)('%s', model => {
  test('chat.completions.parse', async () => {
    const completion = await openai.chat.completions.parse({
      model,
      messages: [{ role: 'user', content: QUESTION }],
      response_format: zodResponseFormat(TRIP, 'trip'),
    })
    expect(completion.choices[0]?.message.parsed).toEqual(EXPECTED)
  })

  test('messages.parse', async () => {
    const message = await anthropic.messages.parse({
      model,
      max_tokens: 2_000,
      messages: [{ role: 'user', content: QUESTION }],
      output_config: { format: zodOutputFormat(TRIP) },
    })
    expect(message.parsed_output).toEqual(EXPECTED)
  })
})

test('responses.parse, with a model that speaks the responses format', async () => {
  const response = await openai.responses.parse({
    model: 'gpt-5.5',
    input: QUESTION,
    text: { format: zodTextFormat(TRIP, 'trip') },
  })
  expect(response.output_parsed).toEqual(EXPECTED)
})

/** Roots that GPT does not take, and Claude does. */
const ROOTS: readonly z.ZodType[] = [
  z.array(TRIP),
  z.union([TRIP, z.object({ reason: z.string() })]),
  z
    .object({
      get trips() {
        return z.array(TRIP)
      },
    })
    .meta({ id: 'Trips' }),
]

test.each(['gpt-5.5', 'gpt-5.5-instant', 'grok-4.3', 'gemini-3.5-flash'])(
  'messages.create of %s, with a list, a choice or a reference as the root of the schema',
  async model => {
    for (const type of ROOTS) {
      const { $schema: _, ...schema } = z.toJSONSchema(type, { reused: 'ref' })
      const { content } = await anthropic.messages.create({
        model,
        max_tokens: 2_000,
        messages: [{ role: 'user', content: QUESTION }],
        output_config: { format: { type: 'json_schema', schema } },
      })
      const text = content.map(block => (block.type === 'text' ? block.text : '')).join('')
      expect(type.safeParse(JSON.parse(text))).toMatchObject({ success: true })
    }
  },
)
