/**
 * Calls every chat entry of the catalogue on both endpoints, streamed and non-streamed. The requests are like those of agents:
 * they have system messages, tools with odd schemas, tool calls and results, images and a reasoning effort. The sandbox refuses
 * what the entry's provider would refuse.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TABLES } from '../../src/generated/tables.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { strictCompletion, strictMessage } from '../translate/grammar.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
const ENTRIES = TABLES.entries
  .filter(entry => entry.kind === 'chat')
  .map(entry => ({
    id: entry.id,
    sees:
      entry.capabilities.includes('vision') ||
      entry.upstreams.every(target => target.dialect.content.imagesUnsupported === 'placeholder'),
    stops: entry.upstreams.every(target => target.dialect.sampling.stopMax > 0),
    both: ['messages', 'chat_completions'].every(path => entry.endpoints.includes(path as never)),
  }))

let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  running = await startTestGateway()
  account = await running.account(1_000_000n * 1_000_000n)
})
afterAll(() => running.close())

async function call(path: string, body: object): Promise<string> {
  const response = await fetch(running.url + path, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  expect([response.status, response.ok ? '' : text]).toEqual([200, ''])
  return text
}

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 1 },
    days: { type: 'integer', exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    anything: {},
  },
  required: ['city'],
  additionalProperties: false,
}
const LONG_NAME = `mcp__${'long_server_name_'.repeat(4)}weather`

interface Accepted {
  readonly sees: boolean
  readonly stops: boolean
}

/**
 * `sees` adds an image, and `stops` stop sequences. Models that do not support them refuse the request, because ignoring them
 * would change the reply.
 */
function messagesRequest(model: string, { sees, stops }: Accepted): object {
  return {
    model,
    max_tokens: 128_000,
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: a=b' },
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
    ],
    thinking: { type: 'adaptive' },
    output_config: { effort: 'medium' },
    metadata: { user_id: 'u'.repeat(190) },
    ...(stops && { stop_sequences: ['STOP'] }),
    tools: [
      { name: LONG_NAME, description: 'Weather', input_schema: SCHEMA, cache_control: { type: 'ephemeral' } },
      { name: 'look', input_schema: { type: 'object' } },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look at this.' },
          ...(sees ? [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }] : []),
        ],
      },
      { role: 'system', content: 'It is late.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: '' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
          { type: 'tool_use', id: 'functions_look_1', name: LONG_NAME, input: { city: 'Huế' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'seen' }] },
          { type: 'tool_result', tool_use_id: 'functions_look_1', is_error: true, content: 'down' },
          { type: 'text', text: 'What is the weather in "Đà Lạt"? sandbox:tool=look' },
        ],
      },
    ],
  }
}

function chatRequest(model: string, { sees, stops }: Accepted): object {
  const fn = (name: string, args: string, id: string) => ({ id, type: 'function', function: { name, arguments: args } })
  return {
    model,
    max_completion_tokens: 128_000,
    temperature: 0.7,
    reasoning_effort: 'medium',
    user: 'u'.repeat(190),
    ...(stops && { stop: ['STOP'] }),
    tools: [
      { type: 'function', function: { name: 'weather', description: 'Weather', parameters: SCHEMA } },
      { type: 'function', function: { name: 'look' } },
    ],
    messages: [
      { role: 'developer', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look at this.' },
          ...(sees ? [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }] : []),
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'Hm.',
        tool_calls: [fn('look', '', 'functions.look:0'), fn('weather', '{"city":"Huế"}', 'call_2')],
      },
      { role: 'tool', tool_call_id: 'functions.look:0', content: 'seen' },
      { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'sun' }] },
      { role: 'system', content: 'It is late.' },
      { role: 'user', content: 'What is the weather in "Đà Lạt"? sandbox:tool=look' },
    ],
  }
}

describe.each(ENTRIES.filter(entry => entry.both))('$id', ({ id, sees, stops }) => {
  test('answers a messages agent, streamed or not', async () => {
    const request = messagesRequest(id, { sees, stops })
    const whole = JSON.parse(await call('/v1/messages', request)) as JsonObject
    expect(whole).toMatchObject({ type: 'message', model: id, stop_reason: 'tool_use' })
    const streamed = strictMessage(await call('/v1/messages', { ...request, stream: true }))
    const shape = (message: JsonObject) =>
      (message.content as JsonObject[]).map(({ type, name, input }) => ({ type, name, input }))
    expect(shape(streamed)).toEqual(shape(whole))
    expect(streamed.stop_reason).toBe('tool_use')
  })

  test('answers a chat agent, streamed or not', async () => {
    const request = chatRequest(id, { sees, stops })
    const whole = JSON.parse(await call('/v1/chat/completions', request)) as { choices: JsonObject[] }
    expect(whole).toMatchObject({ object: 'chat.completion', model: id, choices: [{ finish_reason: 'tool_calls' }] })
    const streamed = strictCompletion(await call('/v1/chat/completions', { ...request, stream: true }))
    const calls = (message: unknown) =>
      ((message as JsonObject).tool_calls as { name?: string; function?: { name: string } }[]).map(
        made => made.function?.name ?? made.name,
      )
    expect(calls(streamed.message)).toEqual(calls(whole.choices[0]?.message))
    expect(streamed.finish_reason).toBe('tool_calls')
  })
})

test('every chat entry answers on both endpoints, or names the endpoint that does', () => {
  expect(ENTRIES.filter(entry => !entry.both).map(entry => entry.id)).toEqual([])
})
