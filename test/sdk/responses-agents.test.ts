/**
 * Agent libraries that use the Responses format by default. With their default settings, they run tool loops with models from
 * upstreams of every format.
 */

import { createOpenAI } from '@ai-sdk/openai'
import { type AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, tool as agentTool, OpenAIProvider, Runner } from '@openai/agents'
import { generateText, isStepCount, type ModelMessage, Output, streamText, tool } from 'ai'
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

/** Models whose upstreams speak Messages, Chat Completions (two), Responses (two), and on AWS Messages and Chat Completions. */
const MODELS = [
  'claude-opus-5',
  'gemini-3.5-flash',
  'qwen3.7-max',
  'gpt-5.5',
  'deepseek-v4-flash',
  'svc/claude-sonnet-5',
  'svc/gpt-oss-120b',
]
const world = useWeatherWorld()

describe('ai with openai(model), which refers to items of earlier turns by id', () => {
  const modelOf = (model: string) =>
    createOpenAI({ baseURL: `${world.running.url}/v1`, apiKey: world.account.apiKey })(model)
  const tools = { [NAME]: tool({ description: DESCRIPTION, inputSchema: PARAMETERS, execute: world.weatherIn }) }
  const call = (model: string) => ({
    model: modelOf(model),
    tools,
    stopWhen: isStepCount(4),
    instructions: SYSTEM,
    maxRetries: 0,
  })

  /** Continues a conversation. The AI SDK refers to the texts of earlier turns by id instead of repeating them. */
  async function goOn(model: string, earlier: readonly ModelMessage[]): Promise<void> {
    const messages: ModelMessage[] = [
      { role: 'user', content: QUESTION },
      ...earlier,
      { role: 'user', content: 'Thank you. sandbox:text' },
    ]
    const { text } = await generateText({ ...call(model), messages })
    expect(text).toContain('Thank you')
  }

  test.each(MODELS)('generateText with %s', async model => {
    const result = await generateText({ ...call(model), prompt: QUESTION })
    const rows = await expectLoop(world, model, result.text)
    expect([result.steps.length, result.finishReason]).toEqual([2, 'stop'])
    expect(result.usage.totalTokens).toBe(tokensOf(rows))
    await goOn(model, result.responseMessages)
  })

  test.each(MODELS)('streamText with %s, text before the calls', async model => {
    const result = streamText({ ...call(model), prompt: `${QUESTION} sandbox:tokens=20` })
    const kinds = new Set<string>()
    for await (const part of result.fullStream) {
      if (part.type === 'error') throw part.error
      kinds.add(part.type)
    }
    const rows = await expectLoop(world, model, await result.text)
    expect([...kinds]).toEqual(expect.arrayContaining(['tool-input-delta', 'text-delta']))
    expect((await result.usage).totalTokens).toBe(tokensOf(rows))
    await goOn(model, await result.responseMessages)
  })

  test.each(MODELS)('a streamed chat without tools, with %s', async model => {
    const first = streamText({ model: modelOf(model), prompt: 'Tell me of "Huế".', maxRetries: 0 })
    await first.consumeStream()
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Tell me of "Huế".' },
      ...(await first.responseMessages),
      { role: 'user', content: 'And of "Vinh"?' },
    ]
    const second = await generateText({ model: modelOf(model), messages, maxRetries: 0 })
    // The sandbox says how many messages it has received.
    expect(second.text).toMatch(/Vinh[\s\S]*3/)
  })

  test.each(MODELS)('an object that matches a schema, with %s', async model => {
    const schema = z.object({ city: z.string(), population: z.number() })
    const prompt = 'Describe "Đà Nẵng".'
    const { output } = await generateText({
      model: modelOf(model),
      prompt,
      output: Output.object({ schema }),
      maxRetries: 0,
    })
    expect(output).toEqual({ city: 'Đà Nẵng', population: expect.any(Number) })
  })
})

describe('@openai/agents with its defaults', () => {
  const runner = () =>
    new Runner({
      tracingDisabled: true,
      modelProvider: new OpenAIProvider({
        openAIClient: new OpenAI({ baseURL: `${world.running.url}/v1`, apiKey: world.account.apiKey, maxRetries: 0 }),
      }),
    })
  const agentOf = (model: string) =>
    new Agent({
      name: 'weather',
      instructions: SYSTEM,
      model,
      tools: [agentTool({ name: NAME, description: DESCRIPTION, parameters: PARAMETERS, execute: world.weatherIn })],
    })

  test.each(MODELS)('run with %s', async model => {
    const result = await runner().run(agentOf(model), QUESTION)
    await expectLoop(world, model, String(result.finalOutput))
  })

  test.each(MODELS)('streamed with %s', async model => {
    const result = await runner().run(agentOf(model), QUESTION, { stream: true })
    for await (const _event of result) {
      // Consume the whole stream.
    }
    await result.completed
    await expectLoop(world, model, String(result.finalOutput))
  })

  test.each(MODELS)('hands off to another agent, with %s', async model => {
    const forecaster = agentOf(model)
    const desk = new Agent({ name: 'desk', model, handoffs: [forecaster] })
    const question = 'What is the weather in "Hanoi"? sandbox:tool=transfer_to_weather'
    const result = await runner().run(desk, question, { maxTurns: 3 })
    expect(result.lastAgent?.name).toBe('weather')
    expect((await world.running.usage(world.account.accountId)).map(row => row.status)).toEqual([200, 200])
  })
})

describe('@langchain/openai with the Responses format', () => {
  const weather = langchainTool(world.weatherIn, { name: NAME, description: DESCRIPTION, schema: PARAMETERS })

  async function gathered(chunks: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
    let whole: AIMessageChunk | null = null
    for await (const chunk of chunks) whole = whole === null ? chunk : whole.concat(chunk)
    if (whole === null) throw new Error('an empty stream')
    return whole
  }

  test.each(MODELS.flatMap(model => [[model, 'invoke'] as const, [model, 'stream'] as const]))(
    'a bindTools loop with %s, using %s',
    async (model, way) => {
      const bound = new ChatOpenAI({
        model,
        apiKey: world.account.apiKey,
        useResponsesApi: true,
        maxRetries: 0,
        configuration: { baseURL: `${world.running.url}/v1` },
      }).bindTools([weather])
      const messages: BaseMessage[] = [new HumanMessage(QUESTION)]
      let answer: AIMessageChunk | null = null
      for (let turn = 0; turn < 4; turn++) {
        answer = way === 'invoke' ? await bound.invoke(messages) : await gathered(await bound.stream(messages))
        messages.push(answer)
        if (!answer.tool_calls?.length) break
        for (const called of answer.tool_calls) {
          const content = String(await weather.invoke(called.args as z.infer<typeof PARAMETERS>))
          messages.push(new ToolMessage({ tool_call_id: called.id ?? '', content }))
        }
      }
      await expectLoop(world, model, answer?.text ?? '')
    },
  )
})
