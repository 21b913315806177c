/** Agent libraries whose default is the Responses format, with their defaults: tool loops with models of every wire. */

import { createOpenAI } from '@ai-sdk/openai'
import { type AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, tool as agentTool, OpenAIProvider, Runner } from '@openai/agents'
import { generateText, isStepCount, type ModelMessage, Output, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestGateway, type TestAccount, type TestGateway, type UsageRow } from '../support/gateway.ts'

/** Messages, chat, responses of two kinds of reasoning, and both AWS wires. */
const MODELS = [
  'claude-opus-5',
  'gemini-3.5-flash',
  'qwen3.7-max',
  'gpt-5.5',
  'deepseek-v4-flash',
  'svc/claude-sonnet-5',
  'svc/gpt-oss-120b',
]
const QUESTION = 'In parallel, what is the weather in "Hanoi" and "Paris"?'
const SYSTEM = 'You tell people about the weather.'
const PARAMETERS = z.object({ city: z.string(), days: z.number().int().min(1).max(5) })
const CREDIT = 1_000_000n * 1_000_000n

let running: TestGateway
let account: TestAccount
/** Cities that the tool was called for. */
let cities: string[]

beforeAll(async () => {
  running = await startTestGateway()
})
beforeEach(async () => {
  account = await running.account(CREDIT)
  cities = []
})
afterAll(() => running.close())

const NAME = 'get_weather'
const DESCRIPTION = 'Current weather of a city'
function weatherIn({ city }: { city: string }): string {
  cities.push(city)
  return `${city}: 31 degrees, humid`
}

/** Two tools were run and the answer tells of them; every call succeeded and was charged. */
async function expectLoop(model: string, answer: string): Promise<UsageRow[]> {
  expect(cities).toHaveLength(2)
  expect(answer).toContain('31 degrees')
  const rows = await running.usage(account.accountId)
  expect(rows.map(row => [row.model, row.status, row.charged > 0n, row.estimated])).toEqual([
    [model, 200, true, false],
    [model, 200, true, false],
  ])
  return rows
}

const tokensOf = (rows: readonly UsageRow[]) => rows.reduce((sum, row) => sum + row.input_tokens + row.output_tokens, 0)

describe('ai with openai(model), which refers to items of earlier turns by their ids', () => {
  const modelOf = (model: string) => createOpenAI({ baseURL: `${running.url}/v1`, apiKey: account.apiKey })(model)
  const tools = { [NAME]: tool({ description: DESCRIPTION, inputSchema: PARAMETERS, execute: weatherIn }) }
  const call = (model: string) => ({
    model: modelOf(model),
    tools,
    stopWhen: isStepCount(4),
    instructions: SYSTEM,
    maxRetries: 0,
  })

  /** A later turn: the texts of earlier ones come back as references now. */
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
    const rows = await expectLoop(model, result.text)
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
    const rows = await expectLoop(model, await result.text)
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
    // The double tells how many messages it was sent.
    expect(second.text).toMatch(/Vinh[\s\S]*3/)
  })

  test.each(MODELS)('an object of a schema, with %s', async model => {
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
        openAIClient: new OpenAI({ baseURL: `${running.url}/v1`, apiKey: account.apiKey, maxRetries: 0 }),
      }),
    })
  const agentOf = (model: string) =>
    new Agent({
      name: 'weather',
      instructions: SYSTEM,
      model,
      tools: [agentTool({ name: NAME, description: DESCRIPTION, parameters: PARAMETERS, execute: weatherIn })],
    })

  test.each(MODELS)('run with %s', async model => {
    const result = await runner().run(agentOf(model), QUESTION)
    await expectLoop(model, String(result.finalOutput))
  })

  test.each(MODELS)('streamed with %s', async model => {
    const result = await runner().run(agentOf(model), QUESTION, { stream: true })
    for await (const _event of result) {
      // Read to the end.
    }
    await result.completed
    await expectLoop(model, String(result.finalOutput))
  })

  test.each(MODELS)('hands over to another agent, with %s', async model => {
    const forecaster = agentOf(model)
    const desk = new Agent({ name: 'desk', model, handoffs: [forecaster] })
    const question = 'What is the weather in "Hanoi"? sandbox:tool=transfer_to_weather'
    const result = await runner().run(desk, question, { maxTurns: 3 })
    expect(result.lastAgent?.name).toBe('weather')
    expect((await running.usage(account.accountId)).map(row => row.status)).toEqual([200, 200])
  })
})

describe('@langchain/openai with the Responses format', () => {
  const weather = langchainTool(weatherIn, { name: NAME, description: DESCRIPTION, schema: PARAMETERS })

  async function gathered(chunks: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
    let whole: AIMessageChunk | null = null
    for await (const chunk of chunks) whole = whole === null ? chunk : whole.concat(chunk)
    if (whole === null) throw new Error('an empty stream')
    return whole
  }

  test.each(MODELS.flatMap(model => [[model, 'invoke'] as const, [model, 'stream'] as const]))(
    'a bindTools loop with %s by %s',
    async (model, way) => {
      const bound = new ChatOpenAI({
        model,
        apiKey: account.apiKey,
        useResponsesApi: true,
        maxRetries: 0,
        configuration: { baseURL: `${running.url}/v1` },
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
      await expectLoop(model, answer?.text ?? '')
    },
  )
})
