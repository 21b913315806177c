/** The input token count that clients of the messages format get before the provider reports its own. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import {
  type ConversionWorld,
  chatText,
  eventsOf,
  question,
  startConversionWorld,
  streamOf,
} from '../support/conversion.ts'

let world: ConversionWorld
beforeAll(async () => {
  world = await startConversionWorld()
})
afterAll(() => world.close())

const CHUNK = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'upstream-name' }
const DELTA = {
  ...CHUNK,
  choices: [{ index: 0, delta: { role: 'assistant', content: 'Hà Nội' }, finish_reason: null }],
}
const FINISH = { ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
const USAGE = { ...CHUNK, choices: [], usage: { prompt_tokens: 22, completion_tokens: 5, total_tokens: 27 } }

const TOOLS = [{ name: 'look_up', description: 'Looks a city up.', input_schema: { type: 'object', properties: {} } }]
const BODIES: readonly (readonly [string, object])[] = [
  ['Vietnamese', {}],
  ['code and tools', { system: 'function f(x) { return x => x ?? 1 }', tools: TOOLS }],
  ['a large prompt', { system: 'Xin chào các bạn, đây là một câu. '.repeat(60_000) }],
]

test.each(BODIES)(
  'message_start of a converted stream has the same count as count_tokens: %s',
  async (_name, extra) => {
    const headers = { 'x-api-key': world.account.apiKey }
    const counted = await fetch(`${world.running.url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers,
      body: JSON.stringify(question('gpt-5.5', extra)),
    })
    const { input_tokens } = (await counted.json()) as { input_tokens: number }
    expect(input_tokens).toBeGreaterThan(8)
    world.answer(streamOf(chatText(DELTA, FINISH, USAGE, '[DONE]')))
    const response = await world.call('/v1/messages', question('gpt-5.5', { ...extra, stream: true }))
    const events = eventsOf(await response.text()).map(({ data }) => data as JsonObject)
    expect(events.find(({ type }) => type === 'message_start')).toMatchObject({
      message: { usage: { input_tokens, output_tokens: 0 } },
    })
    expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({
      usage: { input_tokens: 22, output_tokens: 5 },
    })
  },
)
