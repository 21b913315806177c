/**
 * Agent libraries as clients: each completes a tool loop with models of four dialects, in the format that the library
 * speaks. The sandbox refuses what a provider would refuse, so any field that leaks from one format into another fails
 * here.
 */

import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatAnthropic } from '@langchain/anthropic'
import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
  type UsageMetadata,
} from '@langchain/core/messages'
import type { Runnable } from '@langchain/core/runnables'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, tool as agentTool, OpenAIChatCompletionsModel, Runner } from '@openai/agents'
import { generateText, isStepCount, type LanguageModel, Output, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  DESCRIPTION,
  expectLoop,
  NAME,
  PARAMETERS,
  QUESTION,
  SYSTEM,
  tokensOf,
  useWeatherWorld,
} from '../support/weather.ts'

const MODELS = ['claude-opus-5', 'gpt-5.5', 'deepseek-v4-flash', 'gemini-3.5-flash']
const world = useWeatherWorld()

const AI_PROVIDERS: [string, (model: string) => LanguageModel][] = [
  [
    '@ai-sdk/anthropic',
    model => createAnthropic({ baseURL: `${world.running.url}/v1`, apiKey: world.account.apiKey })(model),
  ],
  [
    '@ai-sdk/openai, chat',
    model => createOpenAI({ baseURL: `${world.running.url}/v1`, apiKey: world.account.apiKey }).chat(model),
  ],
  [
    '@ai-sdk/openai-compatible',
    model =>
      createOpenAICompatible({
        name: 'gateway',
        baseURL: `${world.running.url}/v1`,
        apiKey: world.account.apiKey,
        includeUsage: true,
      })(model),
  ],
]

describe.each(AI_PROVIDERS)('ai with %s', (provider, modelOf) => {
  const tools = {
    [NAME]: tool({ description: DESCRIPTION, inputSchema: PARAMETERS, execute: world.weatherIn }),
  }
  const call = (model: string) => ({
    model: modelOf(model),
    instructions: SYSTEM,
    prompt: QUESTION,
    tools,
    stopWhen: isStepCount(4),
    maxRetries: 0,
  })

  test.each(MODELS)('generateText with %s', async model => {
    const result = await generateText(call(model))
    const rows = await expectLoop(world, model, result.text)
    expect([result.steps.length, result.finishReason]).toEqual([2, 'stop'])
    expect(result.usage.totalTokens).toBe(tokensOf(rows))
  })

  test.each(MODELS)('streamText with %s', async model => {
    const result = streamText(call(model))
    const kinds = new Set<string>()
    for await (const part of result.fullStream) {
      if (part.type === 'error') throw part.error
      kinds.add(part.type)
    }
    const rows = await expectLoop(world, model, await result.text)
    expect(kinds).toContain('tool-input-delta')
    expect((await result.usage).totalTokens).toBe(tokensOf(rows))
  })

  test('an object that matches a schema', async () => {
    const schema = z.object({ city: z.string(), population: z.number() })
    const model = provider === '@ai-sdk/anthropic' ? 'gpt-5.5' : 'claude-opus-5'
    // The SDK's provider for compatible services sends the schema only with this option.
    const language = provider.endsWith('compatible')
      ? createOpenAICompatible({
          name: 'gateway',
          baseURL: `${world.running.url}/v1`,
          apiKey: world.account.apiKey,
          supportsStructuredOutputs: true,
        })(model)
      : modelOf(model)
    const { output } = await generateText({
      model: language,
      prompt: 'Describe "Đà Nẵng".',
      output: Output.object({ schema }),
      maxRetries: 0,
    })
    expect(schema.parse(output)).toEqual(output)
  })
})

const langchainWeather = langchainTool(world.weatherIn, { name: NAME, description: DESCRIPTION, schema: PARAMETERS })

type Bound = Runnable<BaseMessage[], AIMessageChunk>

const LANGCHAIN = [
  [
    '@langchain/openai',
    (model: string) =>
      new ChatOpenAI({
        model,
        apiKey: world.account.apiKey,
        useResponsesApi: false,
        maxRetries: 0,
        configuration: { baseURL: `${world.running.url}/v1` },
      }),
  ],
  [
    '@langchain/anthropic',
    (model: string) =>
      new ChatAnthropic({
        model,
        apiKey: world.account.apiKey,
        anthropicApiUrl: world.running.url,
        maxTokens: 2000,
        maxRetries: 0,
      }),
  ],
] as const

describe.each(LANGCHAIN)('%s', (_library, modelOf) => {
  test.each(MODELS.flatMap(model => [[model, 'invoke'] as const, [model, 'stream'] as const]))(
    'a bindTools loop with %s, using %s',
    async (model, way) => {
      const bound: Bound = modelOf(model).bindTools([langchainWeather])
      const messages: BaseMessage[] = [new HumanMessage(QUESTION)]
      let answer: AIMessageChunk | null = null
      let told = 0
      for (let turn = 0; turn < 4; turn++) {
        answer = way === 'invoke' ? await bound.invoke(messages) : await gathered(await bound.stream(messages))
        told += (answer.usage_metadata as UsageMetadata | undefined)?.total_tokens ?? 0
        messages.push(answer)
        if (!answer.tool_calls?.length) break
        for (const called of answer.tool_calls) {
          messages.push(
            new ToolMessage({
              tool_call_id: called.id ?? '',
              content: String(await langchainWeather.invoke(called.args as z.infer<typeof PARAMETERS>)),
            }),
          )
        }
      }
      const rows = await expectLoop(world, model, answer?.text ?? '')
      // For a stream in the messages format, LangChain reports the input tokens of the first event, which are only estimated.
      if (way === 'invoke') expect(told).toBe(tokensOf(rows))
      else expect(told).toBeGreaterThan(0)
    },
  )
})

async function gathered(chunks: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | null = null
  for await (const chunk of chunks) whole = whole === null ? chunk : whole.concat(chunk)
  if (whole === null) throw new Error('the stream was empty')
  return whole
}

describe('@openai/agents on chat completions', () => {
  const agentOf = (model: string) =>
    new Agent({
      name: 'weather',
      instructions: SYSTEM,
      model: new OpenAIChatCompletionsModel(
        new OpenAI({ baseURL: `${world.running.url}/v1`, apiKey: world.account.apiKey, maxRetries: 0 }),
        model,
      ),
      tools: [agentTool({ name: NAME, description: DESCRIPTION, parameters: PARAMETERS, execute: world.weatherIn })],
    })

  test.each(MODELS)('run with %s', async model => {
    const result = await new Runner({ tracingDisabled: true }).run(agentOf(model), QUESTION)
    await expectLoop(world, model, String(result.finalOutput))
  })

  test.each(MODELS)('streamed with %s', async model => {
    const result = await new Runner({ tracingDisabled: true }).run(agentOf(model), QUESTION, { stream: true })
    for await (const _event of result) {
      // Consume the whole stream.
    }
    await result.completed
    await expectLoop(world, model, String(result.finalOutput))
  })

  test.each(['claude-opus-5', 'gpt-5.5'])('hands off to another agent, with %s', async model => {
    const forecaster = agentOf(model)
    const desk = new Agent({ name: 'desk', model: forecaster.model, handoffs: [forecaster] })
    const question = 'What is the weather in "Hanoi"? sandbox:tool=transfer_to_weather'
    const result = await new Runner({ tracingDisabled: true }).run(desk, question, { maxTurns: 3 })
    expect(result.lastAgent?.name).toBe('weather')
    expect((await world.running.usage(world.account.accountId)).map(row => row.status)).toEqual([200, 200])
  })
})
