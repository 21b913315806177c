/** The arguments of tool calls are JSON within strings. When a conversation is converted, they have the limits of the body itself. */

import { expect, test } from 'vitest'
import { goodMessage } from '../support/chat.ts'
import { useConversionWorld } from '../support/conversion.ts'

const world = useConversionWorld()

const callWith = (args: string) => ({ id: 'a', type: 'function', function: { name: 'f', arguments: args } })
const chat = (calls: readonly string[]) => ({
  model: 'claude-opus-5',
  messages: [
    { role: 'user', content: 'x' },
    ...calls.flatMap(args => [
      { role: 'assistant', tool_calls: [callWith(args)] },
      { role: 'tool', tool_call_id: 'a', content: 'y' },
    ]),
  ],
})
const responses = (calls: readonly string[]) => ({
  model: 'claude-opus-5',
  input: [
    { role: 'user', content: 'x' },
    ...calls.flatMap(args => [
      { type: 'function_call', call_id: 'a', name: 'f', arguments: args },
      { type: 'function_call_output', call_id: 'a', output: 'y' },
    ]),
  ],
})
const list = (values: number) => `{"a":[${Array(values).fill('{}').join(',')}]}`
const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`

const FORMATS = [
  ['/v1/chat/completions', chat],
  ['/v1/responses', responses],
] as const

test.each(FORMATS)(
  '%s refuses arguments with more values than a body may have, in one call or in many',
  async (path, bodyOf) => {
    world.answer(goodMessage)
    for (const calls of [[list(100_001)], Array<string>(20).fill(list(5_001))]) {
      const answer = await world.call(path, bodyOf(calls))
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({
        error: { message: expect.stringContaining('The arguments of the tool calls have more than 100000 values') },
      })
    }
    expect((await world.call(path, bodyOf([list(50_000)]))).status).toBe(200)
  },
)

test.each(FORMATS)('%s keeps arguments that are nested absurdly deep as text', async (path, bodyOf) => {
  world.answer(goodMessage)
  const deep = nested(100_000)
  expect((await world.call(path, bodyOf([deep]))).status).toBe(200)
  expect(JSON.stringify(world.sent())).toContain(JSON.stringify({ _arguments: deep }))
})

test('also where arguments are read because the provider refuses broken ones', async () => {
  const answer = await world.call('/v1/chat/completions', { ...chat([list(100_001)]), model: 'qwen3.7-max' })
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('more than 100000 values')])
})
