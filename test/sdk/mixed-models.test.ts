/**
 * Conversations that alternate between models whose upstreams speak different formats, each with the official SDK of one
 * format. Every model gets the whole history, including the reasoning, calls and results of the other models. The AI SDK refers
 * to earlier items by id. The test double refuses sealed reasoning, signatures and ids that are not its own, missing reasoning
 * where it is required, and anything that leaks from another format.
 */

import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { generateText, isStepCount, type ModelMessage, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

/**
 * In this order: a model that signs its reasoning, one that needs its plain reasoning back, one that encrypts its reasoning,
 * and one that signs its tool calls.
 */
const MODELS = ['claude-opus-5', 'deepseek-v4-pro', 'gpt-5.5', 'gemini-3.5-flash']
const PAIRS = MODELS.flatMap(one => MODELS.filter(other => other !== one).map(other => [one, other] as const))
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
const NAME = 'get_weather'
const asks = (city: string) => `What is the weather in "${city}"?`

let running: TestGateway
let anthropic: Anthropic
let openai: OpenAI
let aiSdk: OpenAIProvider

beforeAll(async () => {
  running = await startTestGateway()
  const { apiKey } = await running.account(1_000_000n * 1_000_000n)
  anthropic = new Anthropic({ baseURL: running.url, apiKey, maxRetries: 0 })
  openai = new OpenAI({ baseURL: `${running.url}/v1`, apiKey, maxRetries: 0 })
  aiSdk = createOpenAI({ baseURL: `${running.url}/v1`, apiKey })
})
afterAll(() => running.close())

/** Makes one turn (question, call, result, answer) and adds all of it to the history. */
type Turn = (model: string, city: string, streamed: boolean) => Promise<string>

function byMessages(): Turn {
  const messages: Anthropic.MessageParam[] = []
  const send = async (model: string, streamed: boolean) => {
    const body: Anthropic.MessageCreateParamsNonStreaming = {
      model,
      max_tokens: 4_000,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      tools: [{ name: NAME, description: 'Weather of a city', input_schema: { ...SCHEMA, required: ['city'] } }],
      messages,
    }
    const reply = streamed
      ? await anthropic.messages.stream(body).finalMessage()
      : await anthropic.messages.create(body)
    messages.push({ role: 'assistant', content: reply.content as Anthropic.ContentBlockParam[] })
    return reply.content
  }
  return async (model, city, streamed) => {
    messages.push({ role: 'user', content: asks(city) })
    const results = (await send(model, streamed)).flatMap((block): Anthropic.ToolResultBlockParam[] =>
      block.type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: block.id, content: `${city}: rain` }] : [],
    )
    messages.push({ role: 'user', content: results })
    return (await send(model, streamed)).map(block => (block.type === 'text' ? block.text : '')).join('')
  }
}

function byChat(): Turn {
  const messages: OpenAI.ChatCompletionMessageParam[] = []
  const send = async (model: string, streamed: boolean) => {
    const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      model,
      reasoning_effort: 'high',
      tools: [{ type: 'function', function: { name: NAME, parameters: SCHEMA } }],
      messages,
    }
    const completion = streamed
      ? await openai.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()
      : await openai.chat.completions.create(body)
    const message = completion.choices[0]!.message
    messages.push(message)
    return message
  }
  return async (model, city, streamed) => {
    messages.push({ role: 'user', content: asks(city) })
    for (const { id } of (await send(model, streamed)).tool_calls ?? []) {
      messages.push({ role: 'tool', tool_call_id: id, content: `${city}: rain` })
    }
    return (await send(model, streamed)).content ?? ''
  }
}

function byResponses(store: boolean): Turn {
  const input: OpenAI.Responses.ResponseInputItem[] = []
  const send = async (model: string, streamed: boolean) => {
    const body: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
      model,
      store,
      reasoning: { effort: 'high', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      tools: [{ type: 'function', name: NAME, parameters: SCHEMA, strict: false }],
      input,
    }
    const response = streamed
      ? await openai.responses.stream({ ...body, stream: true }).finalResponse()
      : await openai.responses.create(body)
    input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]))
    return response
  }
  return async (model, city, streamed) => {
    input.push({ role: 'user', content: asks(city) })
    for (const item of (await send(model, streamed)).output) {
      if (item.type !== 'function_call') continue
      input.push({ type: 'function_call_output', call_id: item.call_id, output: `${city}: rain` })
    }
    return (await send(model, streamed)).output_text
  }
}

const CLIENTS: readonly (readonly [string, () => Turn])[] = [
  ['messages', byMessages],
  ['chat completions', byChat],
  ['responses', () => byResponses(false)],
  ['responses, stored by default', () => byResponses(true)],
]

describe.each(CLIENTS)('a conversation in %s', (_format, begin) => {
  test.each(PAIRS)('goes from %s to %s and back', async (one, other) => {
    const turn = begin()
    expect(await turn(one, 'Huế', false)).toContain('Huế: rain')
    expect(await turn(other, 'Vinh', true)).toContain('Vinh: rain')
    expect(await turn(one, 'Hanoi', true)).toContain('Hanoi: rain')
    expect(await turn(other, 'Paris', false)).toContain('Paris: rain')
  })
})

test.each(['claude-haiku-4-5', 'claude-opus-4-5'])('%s takes over between a call and its result', async model => {
  const thinking = { type: 'enabled', budget_tokens: 2_000 } as const
  const tools = [{ name: NAME, input_schema: { ...SCHEMA, required: ['city'] } }]
  const question = { role: 'user', content: asks('Huế') } as const
  const limit = { max_tokens: 4_000, tools, thinking }
  for (const other of ['gpt-5.5', 'deepseek-v4-pro']) {
    const { content } = await anthropic.messages.create({ ...limit, model: other, messages: [question] })
    const calls = content.filter(block => block.type === 'tool_use')
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'tool_use'])
    const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'Huế: rain' }) as const)
    const messages: Anthropic.MessageParam[] = [
      question,
      { role: 'assistant', content },
      { role: 'user', content: results },
    ]
    const reply = await anthropic.messages.create({ ...limit, model, messages })
    expect(JSON.stringify(reply.content)).toContain('Huế: rain')
  }
})

describe.each([
  ['streamed', true, {}],
  ['streamed, with reasoning', true, { forceReasoning: true, reasoningEffort: 'high', reasoningSummary: 'auto' }],
  ['whole', false, {}],
  ['whole, with reasoning', false, { forceReasoning: true, reasoningEffort: 'high', reasoningSummary: 'auto' }],
])('the AI SDK, which refers to items by default, %s', (_name, streamed, openaiOptions) => {
  const tools = {
    [NAME]: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => `${city}: rain` }),
  }

  /** Adds a turn in which one model calls the tool and another answers. */
  async function turn(messages: ModelMessage[], [calling, answering]: readonly [string, string], city: string) {
    messages.push({ role: 'user', content: asks(city) })
    const options = {
      model: aiSdk.responses(calling),
      messages,
      tools,
      stopWhen: isStepCount(2),
      prepareStep: ({ stepNumber }: { stepNumber: number }) => ({
        model: aiSdk.responses(stepNumber === 0 ? calling : answering),
      }),
      providerOptions: { openai: openaiOptions },
      maxRetries: 0,
    }
    // When a stream fails, `result.text` rejects with a general error; only `onError` gets the cause.
    let failure: unknown = null
    const onError = ({ error }: { error: unknown }) => {
      failure = error
    }
    const result = streamed ? streamText({ ...options, onError }) : await generateText(options)
    try {
      const text = await result.text
      messages.push(...(await result.responseMessages))
      return text
    } catch (error) {
      throw failure ?? error
    }
  }

  test('changes models within a tool loop and between turns', async () => {
    const messages: ModelMessage[] = []
    expect(await turn(messages, ['claude-opus-5', 'deepseek-v4-pro'], 'Huế')).toContain('Huế: rain')
    expect(await turn(messages, ['gemini-3.5-flash', 'claude-opus-5'], 'Vinh')).toContain('Vinh: rain')
    expect(await turn(messages, ['deepseek-v4-pro', 'gpt-5.5'], 'Hanoi')).toContain('Hanoi: rain')
  })

  test('goes from a model whose provider stores its replies to another one within a tool loop', async () => {
    expect(await turn([], ['gpt-5.5', 'claude-opus-5'], 'Paris')).toContain('Paris: rain')
  })

  test('is told what to do about texts that the provider of an earlier model stores', async () => {
    const messages: ModelMessage[] = []
    await turn(messages, ['gpt-5.5', 'gpt-5.5'], 'Paris')
    await expect(turn(messages, ['claude-opus-5', 'claude-opus-5'], 'Hanoi')).rejects.toThrow(/set store to false/)
  })
})
