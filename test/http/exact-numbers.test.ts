/** Numbers that a double cannot represent keep their digits in converted calls: in schemas and tool inputs, streamed or not. */

import { expect, test } from 'vitest'
import { type Path, streamOf, useConversionWorld } from '../support/conversion.ts'
import { json } from '../support/scripted-upstream.ts'

const { rawJSON } = JSON as unknown as { rawJSON(source: string): unknown }
const DIGITS = ['12345678901234567890', '-9007199254740993', '0.12345678901234567891', '1152921504606846977']
const NUMBERS = DIGITS.map(rawJSON)
const WRITTEN = `[${DIGITS.join(',')}]`
/** Text that looks like JSON with long numbers but must pass through unchanged; it includes a non-ASCII character. */
const TEXT = `ế [${DIGITS.join(', ')}] \\" : ${DIGITS[0]} `
const SCHEMA = { type: 'object', properties: { ids: { type: 'array', items: { enum: NUMBERS } } }, examples: NUMBERS }
const INPUT = { ids: NUMBERS }

const world = useConversionWorld()

const toMessages = (size: number) => ({
  model: 'claude-opus-5',
  tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }],
  messages: [
    { role: 'user', content: TEXT.repeat(size) },
    {
      role: 'assistant',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: JSON.stringify(INPUT) } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'done' },
  ],
})
const toChat = (size: number) => ({
  model: 'gpt-5.5',
  max_tokens: 500,
  tools: [{ name: 'f', input_schema: SCHEMA }],
  messages: [
    { role: 'user', content: TEXT.repeat(size) },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: INPUT }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'done' }] },
  ],
})

const chatCall = (given: unknown) => [
  { index: 0, id: 'c2', type: 'function', function: { name: 'f', arguments: given } },
]
const chatReply = {
  id: 'c',
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', tool_calls: chatCall(JSON.stringify(INPUT)) },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 5, completion_tokens: 5 },
}
const chatStream = (given: unknown) =>
  `${[{ delta: { role: 'assistant', tool_calls: chatCall(given) } }, { delta: {}, finish_reason: 'tool_calls' }]
    .map(choice => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, ...choice }] })}\n\n`)
    .join('')}data: [DONE]\n\n`
const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'c2', name: 'f', input: INPUT }],
  stop_reason: 'tool_use',
  usage: { input_tokens: 5, output_tokens: 5 },
}
const messagesStream = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: message.content[0] },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]
  .map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('')

/** The raw text of the reply, because parsing would lose digits. Tool arguments are JSON inside a JSON string. */
const given = async (path: Path, body: object): Promise<string> => {
  const response = await world.call(path, body)
  expect(response.status).toBe(200)
  return response.text()
}
const sentText = () => world.provider.requests.at(-1)?.body.toString('utf8') ?? ''

test.each([1, 2000])(
  'requests keep exact numbers, from the messages format to chat, in a body of %i texts',
  async size => {
    world.answer(json(200, chatReply))
    const reply = await given('/v1/messages', toChat(size))
    const sent = sentText()
    expect(sent).toContain(`"enum":${WRITTEN}`)
    expect(sent).toContain(`"examples":${WRITTEN}`)
    expect(sent).toContain(JSON.stringify(`{"ids":${WRITTEN}}`))
    expect(world.sent().messages).toContainEqual({ role: 'user', content: TEXT.repeat(size) })
    expect(reply).toContain(`"input":{"ids":${WRITTEN}}`)
  },
)

test.each([1, 2000])(
  'requests keep exact numbers, from chat to the messages format, in a body of %i texts',
  async size => {
    world.answer(json(200, message))
    const reply = await given('/v1/chat/completions', toMessages(size))
    const sent = sentText()
    expect(sent).toContain(`"enum":${WRITTEN}`)
    expect(sent).toContain(`"examples":${WRITTEN}`)
    expect(sent).toContain(`"input":{"ids":${WRITTEN}}`)
    expect(JSON.stringify(world.sent().messages)).toContain(JSON.stringify(TEXT.repeat(size)))
    expect(reply).toContain(JSON.stringify(`{"ids":${WRITTEN}}`))
  },
)

test.each([
  ['a string', JSON.stringify(INPUT)],
  ['an object', INPUT],
])('streams from chat to the messages format keep exact numbers, with arguments as %s', async (_name, form) => {
  world.answer(streamOf(chatStream(form)))
  expect(await given('/v1/messages', { ...toChat(1), stream: true })).toContain(
    `"partial_json":${JSON.stringify(`{"ids":${WRITTEN}}`)}`,
  )
  // The client asked for a stream, but the provider answers with a JSON reply.
  world.answer(json(200, chatReply))
  expect(await given('/v1/messages', { ...toChat(1), stream: true })).toContain(JSON.stringify(`{"ids":${WRITTEN}}`))
})

test('streams from the messages format to chat keep exact numbers, in inputs that arrive in one piece', async () => {
  world.answer(streamOf(messagesStream))
  const body = { ...toMessages(1), stream: true }
  expect(await given('/v1/chat/completions', body)).toContain(JSON.stringify(`{"ids":${WRITTEN}}`))
  world.answer(json(200, message))
  expect(await given('/v1/chat/completions', body)).toContain(JSON.stringify(`{"ids":${WRITTEN}}`))
})
