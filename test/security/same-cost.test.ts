/** A reply costs the same whether it is streamed or not, whatever its content and whichever format is used. */

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ConversionWorld,
  CREDIT,
  chatText,
  messagesText,
  question,
  startConversionWorld,
  streamOf,
} from '../support/conversion.ts'
import { json } from '../support/scripted-upstream.ts'
import { delta as chunk } from '../translate/fixtures/chat-streams.ts'
import { close, delta, end, open, STOP, start } from '../translate/fixtures/messages-streams.ts'

let world: ConversionWorld
beforeAll(async () => {
  world = await startConversionWorld()
})
afterAll(() => world.close())

interface Tool {
  readonly name: string
  readonly input: Readonly<Record<string, string>>
}

interface ModelReply {
  readonly text: string
  readonly tools: readonly Tool[]
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
  /** False if the provider reports no usage. */
  readonly hasUsage: boolean
  readonly cutEvery: number
}

const modelReplies = fc.record<ModelReply>({
  text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
  tools: fc.array(
    fc.record({
      name: fc.stringMatching(/^[a-z]{1,8}$/),
      input: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.string({ maxLength: 9 }), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    }),
    { maxLength: 3 },
  ),
  input: fc.integer({ min: 1, max: 900_000 }),
  output: fc.integer({ min: 1, max: 100_000 }),
  cached: fc.integer({ min: 0, max: 500_000 }),
  reasoning: fc.integer({ min: 0, max: 1_000 }),
  hasUsage: fc.boolean(),
  cutEvery: fc.integer({ min: 1, max: 400 }),
})

/** One reply in one format, non-streamed and as a stream. */
interface Rendered {
  readonly whole: object
  readonly stream: string
}

function asMessages({ text, tools, hasUsage, input, output, cached }: ModelReply): Rendered {
  const blocks = tools.map(({ name, input: given }, index) => ({
    type: 'tool_use',
    id: `toolu_${index}`,
    name,
    input: given,
  }))
  const counts = { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output }
  const reason = tools.length > 0 ? 'tool_use' : 'end_turn'
  return {
    whole: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content: [{ type: 'text', text }, ...blocks],
      stop_reason: reason,
      stop_sequence: null,
      ...(hasUsage && { usage: counts }),
    },
    stream: messagesText(
      start(hasUsage ? { ...counts, output_tokens: 1 } : {}),
      open(0, { type: 'text', text: '' }),
      ...[...text].map(part => delta(0, { type: 'text_delta', text: part })),
      close(0),
      ...blocks.flatMap((block, index) => [
        open(index + 1, { ...block, input: {} }),
        delta(index + 1, { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }),
        close(index + 1),
      ]),
      end(reason, hasUsage ? { output_tokens: output } : {}),
      STOP,
    ),
  }
}

function asChat({ text, tools, hasUsage, input, output, cached, reasoning }: ModelReply): Rendered {
  const calls = tools.map(({ name, input: given }, index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }))
  const usage = {
    prompt_tokens: input + cached,
    completion_tokens: output + reasoning,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
  const reason = tools.length > 0 ? 'tool_calls' : 'stop'
  const message = { role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) }
  return {
    whole: {
      id: 'c',
      object: 'chat.completion',
      model: 'x',
      choices: [{ index: 0, message, finish_reason: reason }],
      ...(hasUsage && { usage }),
    },
    stream: chatText(
      chunk({ role: 'assistant', content: '' }),
      ...[...text].map(content => chunk({ content })),
      ...calls.map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
      chunk({}, reason),
      ...(hasUsage ? [{ id: 'c', choices: [], usage }] : []),
      '[DONE]',
    ),
  }
}

test.each([
  ['messages to messages', '/v1/messages', 'claude-opus-5', asMessages],
  ['chat to messages', '/v1/chat/completions', 'claude-opus-5', asMessages],
  ['messages to chat', '/v1/messages', 'gpt-5.5', asChat],
  ['chat to chat', '/v1/chat/completions', 'gpt-5.5', asChat],
] as const)('a reply costs the same, streamed or not, %s', async (_name, path, model, render) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_007)
  console.log(`cost seed ${seed}`)
  const costOf = async (body: object) => {
    world.account = await world.running.account(CREDIT)
    const reply = await world.call(path, question(model, body))
    await reply.text()
    expect(reply.status).toBe(200)
    const { input, output, cost, charged, estimated } = await world.row()
    expect([charged, await world.spent()]).toEqual([cost, cost])
    return { input, output, cost, estimated }
  }
  await fc.assert(
    fc.asyncProperty(modelReplies, async given => {
      const { whole, stream } = render(given)
      world.answer(json(200, whole))
      const once = await costOf({})
      world.answer(streamOf(stream, given.cutEvery))
      expect(await costOf({ stream: true })).toEqual(once)
      expect(once.cost).toBeGreaterThan(0n)
      if (given.hasUsage)
        expect(once.input + once.output).toBe(
          given.input + given.cached + given.output + (render === asChat ? given.reasoning : 0),
        )
    }),
    { seed, numRuns: 25 },
  )
})
