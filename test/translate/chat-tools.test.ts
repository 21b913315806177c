/** Custom tools and legacy functions of chat clients, with models of other formats. */

import { describe, expect, test } from 'vitest'
import { FORMATS } from '../../src/formats/index.ts'
import type { WireName } from '../../src/generated/types.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { translatorFor } from '../../src/translate/convert.ts'
import { contextOf, dialectOf, drain } from './support.ts'

const FUNCTION = { type: 'object', properties: {} }
const grammar = { syntax: 'lark', definition: 'start: "x"' }
const CUSTOM = {
  type: 'custom',
  custom: { name: 'patch', description: 'Edits files.', format: { type: 'grammar', grammar } },
}
const TEXT = '*** Begin "patch"\n+1'
const user = (content: string) => ({ role: 'user', content })
const customCall = { id: 'c1', type: 'custom', custom: { name: 'patch', input: TEXT } }
const functionCall = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{"a":1}' } })

function translated(to: WireName, body: object) {
  const tools = { custom: to === 'responses' ? ('native' as const) : ('function' as const) }
  const upstream = to === 'messages' ? 'messages' : 'chat_completions'
  return translatorFor('chat_completions', to)(
    body as JsonObject,
    contextOf({ upstream, dialect: dialectOf({ tools }) }),
  )
}

const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })
const messagesReply = (...content: object[]) =>
  ({ type: 'message', content, stop_reason: 'tool_use', usage: { input_tokens: 5, output_tokens: 9 } }) as JsonObject
const choiceOf = (to: WireName, body: object, reply: JsonObject) =>
  (translated(to, body).reply(reply).body.choices as JsonObject[])[0]!
/** The choices of a streamed reply's chunks. */
const streamed = (to: WireName, body: object, reply: JsonObject): JsonObject[] =>
  [...drain(translated(to, { ...body, stream: true }).stream(), FORMATS[to].replay(reply)).matchAll(/^data: (\{.*)$/gm)]
    .flatMap(([, json]) => JSON.parse(json!).choices as JsonObject[])
    .map(({ delta, finish_reason }) => ({ ...(delta as JsonObject), ...(finish_reason !== null && { finish_reason }) }))

describe('a custom tool', () => {
  const look = { type: 'function', function: { name: 'look', parameters: FUNCTION } }
  const body = { tools: [look, CUSTOM], tool_choice: { type: 'custom', custom: { name: 'patch' } } }
  const history = {
    ...body,
    messages: [
      user('hi'),
      { role: 'assistant', content: null, tool_calls: [customCall] },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
    ],
  }

  test('stays a custom tool where the upstream has such tools', () => {
    const { upstreamBody } = translated('responses', history)
    expect(upstreamBody).toMatchObject({
      tools: [
        { type: 'function', name: 'look' },
        { type: 'custom', name: 'patch', description: 'Edits files.', format: { type: 'grammar', ...grammar } },
      ],
      tool_choice: { type: 'custom', name: 'patch' },
      input: [
        { role: 'user' },
        { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: TEXT },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
      ],
    })
  })

  test('is a function with one text elsewhere', () => {
    const { upstreamBody } = translated('messages', history)
    expect(upstreamBody).toMatchObject({
      tools: [
        { name: 'look' },
        {
          name: 'patch',
          description: 'Edits files.\n\nThe input must match this lark grammar:\nstart: "x"',
          input_schema: { required: ['input'], properties: { input: { type: 'string' } } },
        },
      ],
      tool_choice: { type: 'tool', name: 'patch' },
    })
    expect((upstreamBody.messages as JsonObject[])[1]!.content).toEqual([use('c1', 'patch', { input: TEXT })])
  })

  test('may be the only one that is allowed', () => {
    const allowed = { mode: 'required', tools: [{ type: 'custom', custom: { name: 'patch' } }] }
    const tool_choice = { type: 'allowed_tools', allowed_tools: allowed }
    const { upstreamBody } = translated('messages', { ...body, messages: [user('hi')], tool_choice })
    expect(upstreamBody).toMatchObject({ tools: [{ name: 'patch' }], tool_choice: { type: 'any' } })
  })

  const asked = { ...body, messages: [user('hi')] }
  const reply = messagesReply(use('c0', 'look', { a: 1 }), use('c1', 'patch', { input: TEXT }))
  const calls = [functionCall('c0'), customCall]

  test('is called as a custom tool', () => {
    const { message, finish_reason } = choiceOf('messages', asked, reply)
    expect(message).toMatchObject({ content: null, tool_calls: calls })
    expect(finish_reason).toBe('tool_calls')
  })

  test('is called as a custom tool in a stream, in one piece', () => {
    expect(streamed('messages', asked, reply)).toEqual([
      { role: 'assistant', content: '', refusal: null },
      { tool_calls: [{ index: 0, id: 'c0', type: 'function', function: { name: 'look', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
      { tool_calls: [{ index: 1, ...customCall }] },
      { finish_reason: 'tool_calls' },
    ])
  })

  test('of the upstream is called as a custom tool, too', () => {
    const call = { id: 'ctc_1', type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: TEXT }
    const upstreamReply = { object: 'response', status: 'completed', output: [call], usage: { total_tokens: 3 } }
    const { message } = choiceOf('responses', asked, upstreamReply)
    expect(message).toMatchObject({ tool_calls: [customCall] })
    const toldCalls = streamed('responses', asked, upstreamReply).flatMap(delta => delta.tool_calls ?? [])
    expect(toldCalls).toEqual([{ index: 0, ...customCall }])
  })
})

describe('legacy functions', () => {
  const body = { messages: [user('hi')], functions: [{ name: 'look', parameters: FUNCTION }] }
  const reply = messagesReply(
    { type: 'text', text: 'I look.' },
    use('c0', 'look', { a: 1 }),
    use('c1', 'look', { b: 1 }),
  )
  const function_call = { name: 'look', arguments: '{"a":1}' }

  test('forbid parallel calls, of which the client would get the first one only', () => {
    const { upstreamBody } = translated('messages', body)
    expect(upstreamBody.tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true })
  })

  test('are called as such: one at a time', () => {
    const { message, finish_reason } = choiceOf('messages', body, reply)
    expect(message).toEqual({ role: 'assistant', content: 'I look.', refusal: null, function_call })
    expect(finish_reason).toBe('function_call')
  })

  test('are called as such in a stream', () => {
    expect(streamed('messages', body, reply)).toEqual([
      { role: 'assistant', content: '', refusal: null },
      { content: 'I look.' },
      { function_call: { name: 'look', arguments: '' } },
      { function_call: { arguments: '{"a":1}' } },
      { finish_reason: 'function_call' },
    ])
  })

  test('are ordinary tools beside ordinary tools', () => {
    const { message, finish_reason } = choiceOf('messages', { ...body, tools: [CUSTOM] }, reply)
    expect(message).toMatchObject({ tool_calls: [functionCall('c0'), { id: 'c1' }] })
    expect(finish_reason).toBe('tool_calls')
  })

  test('leave other ends alone', () => {
    const text = { ...messagesReply({ type: 'text', text: 'No.' }), stop_reason: 'end_turn' }
    expect(choiceOf('messages', body, text)).toMatchObject({ message: { content: 'No.' }, finish_reason: 'stop' })
  })
})
