/** Tool calls in chat streams whose provider leaves out their index, as Gemini does, for clients of the same format. */

import { createOpenAI } from '@ai-sdk/openai'
import { streamText, tool } from 'ai'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { chatText, eventsOf, question, streamOf, useConversionWorld } from '../support/conversion.ts'

const world = useConversionWorld()
const MODEL = 'gemini-3.5-flash'

const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up' },
  choices: [{ index: 0, delta, finish_reason }],
})
const call = (id: string | undefined, name: string | undefined, args: string) => ({
  ...(id !== undefined && { id }),
  ...(name !== undefined && { type: 'function' }),
  function: { ...(name !== undefined && { name }), arguments: args },
})
const signed = { extra_content: { google: { thought_signature: 'sig' } } }
const USAGE = { ...chunk({}), choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }
const GEMINI = chatText(
  chunk({ role: 'assistant', tool_calls: [{ ...call('call_1', 'look', '{"a":1}'), ...signed }] }),
  chunk({ role: 'assistant', tool_calls: [call('call_2', 'look', '{"a":2}')] }),
  chunk({ role: 'assistant' }, 'stop'),
  USAGE,
  '[DONE]',
)
const TOOL = { type: 'function' as const, function: { name: 'look', parameters: { type: 'object', properties: {} } } }

function openai(): OpenAI {
  return new OpenAI({ baseURL: `${world.running.url}/v1`, apiKey: world.account.apiKey, maxRetries: 0 })
}

function ask() {
  const messages = [{ role: 'user' as const, content: 'Look.' }]
  return openai()
    .chat.completions.stream({ model: MODEL, messages, tools: [TOOL] })
    .finalChatCompletion()
}

test('the official SDK puts the calls together, and learns that the model waits for them', async () => {
  world.answer(streamOf(GEMINI))
  const { choices } = await ask()
  expect(choices).toMatchObject([
    {
      finish_reason: 'tool_calls',
      message: {
        tool_calls: [
          { id: 'call_1', function: { name: 'look', arguments: '{"a":1}' }, ...signed },
          { id: 'call_2', function: { name: 'look', arguments: '{"a":2}' } },
        ],
      },
    },
  ])
})

test('so does the AI SDK', async () => {
  world.answer(streamOf(GEMINI))
  const provider = createOpenAI({ baseURL: `${world.running.url}/v1`, apiKey: world.account.apiKey })
  const look = tool({ inputSchema: z.object({ a: z.number() }), execute: () => 'seen' })
  const result = streamText({ model: provider.chat(MODEL), prompt: 'Look.', tools: { look }, maxRetries: 0 })
  expect((await result.toolCalls).map(({ toolCallId, input }) => [toolCallId, input])).toEqual([
    ['call_1', { a: 1 }],
    ['call_2', { a: 2 }],
  ])
  expect(await result.finishReason).toBe('tool-calls')
})

test.each([
  ['with ids', ['c1', 'c2']],
  ['without ids', [undefined, undefined]],
])('calls %s that come in many pieces keep their pieces', async (_, [first, second]) => {
  const pieces = (text: string) => [...text].map(letter => chunk({ tool_calls: [call(undefined, undefined, letter)] }))
  world.answer(
    streamOf(
      chatText(
        chunk({ role: 'assistant', tool_calls: [call(first, 'look', '')] }),
        ...pieces('{"a":"one two three"}'),
        chunk({ tool_calls: [call(second, 'look', '')] }),
        ...pieces('{"b":"four five six"}'),
        chunk({}, 'stop'),
        '[DONE]',
      ),
    ),
  )
  const text = await (await world.call('/v1/chat/completions', question(MODEL, { stream: true }))).text()
  const calls: string[] = []
  for (const { data } of eventsOf(text)) {
    if (data === '[DONE]') continue
    const [choice] = data.choices as { delta: { tool_calls?: { index: number; function: { arguments: string } }[] } }[]
    for (const made of choice?.delta.tool_calls ?? [])
      calls[made.index] = (calls[made.index] ?? '') + made.function.arguments
  }
  expect(calls).toEqual(['{"a":"one two three"}', '{"b":"four five six"}'])
})

test('calls with an index pass through as they came, and so does the end of their stream', async () => {
  const own = { ...chunk({}), model: MODEL }
  const events = chatText(
    { ...own, choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call('c1', 'look', '{}') }] } }] },
    { ...own, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    '[DONE]',
  )
  world.answer(streamOf(events))
  const response = await world.call('/v1/chat/completions', question(MODEL, { stream: true }))
  expect(await response.text()).toBe(events)
})
