/**
 * Requests to the Chat Completions endpoint in the shapes of other formats, as Cursor's agent sends them: the whole body in the
 * Responses format, the tools and results of the Messages format, and flat tools. The reply is a chat reply in any case.
 */

import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { chatText, eventsOf, messagesText, streamOf, useConversionWorld } from '../support/conversion.ts'
import { json } from '../support/scripted-upstream.ts'

const world = useConversionWorld()
const PATH = '/v1/chat/completions'
const PARAMETERS = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const PNG = 'iVBORw0KGgo='

function sdk(): OpenAI {
  return new OpenAI({ baseURL: `${world.running.url}/v1`, apiKey: world.account.apiKey, maxRetries: 0 })
}

/** Streams a call with the SDK, which passes on bodies that its types do not know. Returns what the chunks add up to. */
async function streamed(body: object) {
  const given = { ...body, stream: true, stream_options: { include_usage: true } }
  const stream = await sdk().chat.completions.create(given as OpenAI.ChatCompletionCreateParamsStreaming)
  const calls: JsonObject[] = []
  let finish: string | null = null
  let usage: OpenAI.CompletionUsage | null | undefined = null
  for await (const chunk of stream) {
    usage = chunk.usage ?? usage
    finish = chunk.choices[0]?.finish_reason ?? finish
    for (const { index, ...call } of (chunk.choices[0]?.delta.tool_calls ?? []) as (JsonObject & { index: number })[]) {
      const fn = call.function as JsonObject | undefined
      const known = calls[index]
      if (known === undefined) calls[index] = call
      else
        Object.assign(known.function as JsonObject, {
          arguments: `${(known.function as JsonObject).arguments}${fn?.arguments}`,
        })
    }
  }
  return { calls, finish, usage }
}

function chatReply(message: object, finish_reason = 'stop') {
  const usage = { prompt_tokens: 40, completion_tokens: 9, total_tokens: 49 }
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason }],
    usage,
  }
}

function responsesReply(output: readonly object[]) {
  const usage = { input_tokens: 40, output_tokens: 9, total_tokens: 49 }
  return { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output, usage }
}

function responsesStream(...output: readonly object[]): string {
  const response = responsesReply([])
  return messagesText(
    { type: 'response.created', response: { ...response, status: 'in_progress', usage: null } } as { type: string },
    ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: responsesReply(output) } as { type: string },
  )
}

describe('a body in the Responses format', () => {
  /** A second step of the agent: it has called two tools, one of them with free-form input, and sends their results. */
  const body = {
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Mend it' }] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
      { type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: '{"path":"a.py"}' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'ApplyPatch', input: '*** Begin Patch' },
      { type: 'function_call_output', call_id: 'call_1', output: 'x = 1' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'Done' },
    ],
    tools: [
      { type: 'function', name: 'read_file', description: 'Reads a file', parameters: PARAMETERS, strict: false },
      { type: 'custom', name: 'ApplyPatch', description: 'Applies a patch' },
    ],
    tool_choice: 'auto',
    reasoning: { effort: 'high', summary: 'auto' },
    text: { verbosity: 'low' },
    max_output_tokens: 700,
    store: false,
    include: ['reasoning.encrypted_content'],
    metadata: { cursorConversationId: 'c-1' },
  }

  test('reaches a model of its own format with all of it, and the reply is a chat stream that an SDK reads', async () => {
    world.answer(
      streamOf(
        responsesStream(
          {
            id: 'fc_1',
            type: 'function_call',
            call_id: 'call_3',
            name: 'read_file',
            arguments: '{"path":"b.py"}',
            status: 'completed',
          },
          {
            id: 'ctc_1',
            type: 'custom_tool_call',
            call_id: 'call_4',
            name: 'ApplyPatch',
            input: '*** End Patch',
            status: 'completed',
          },
        ),
      ),
    )
    const { calls, finish, usage } = await streamed({ ...body, model: 'gpt-5.5' })
    expect(finish).toBe('tool_calls')
    expect(calls).toEqual([
      { id: 'call_3', type: 'function', function: { name: 'read_file', arguments: '{"path":"b.py"}' } },
      { id: 'call_4', type: 'custom', custom: { name: 'ApplyPatch', input: '*** End Patch' } },
    ])
    expect(usage).toMatchObject({ prompt_tokens: 40, completion_tokens: 9 })
    expect(world.sent()).toMatchObject({
      model: 'gpt-5.5',
      reasoning: { effort: 'high', summary: 'auto' },
      max_output_tokens: 700,
      text: { verbosity: 'low' },
      tools: [
        { type: 'function', name: 'read_file' },
        { type: 'custom', name: 'ApplyPatch' },
      ],
    })
    expect((world.sent().input as JsonObject[]).map(({ type }) => type).slice(-4)).toEqual([
      'function_call',
      'custom_tool_call',
      'function_call_output',
      'custom_tool_call_output',
    ])
    expect(await world.row()).toMatchObject({ entry: 'gpt-5.5', status: 200, input: 40, output: 9, estimated: false })
  })

  test('reaches models of the other formats, and their whole replies are chat completions', async () => {
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'call_9', type: 'function', function: { name: 'ApplyPatch', arguments: '{"input":"*** End"}' } },
      ],
    }
    world.answer(json(200, chatReply(message, 'tool_calls')))
    const answer = await world.call(PATH, { ...body, model: 'glm-5.2' })
    expect(answer.status).toBe(200)
    expect(((await answer.json()) as { choices: unknown }).choices).toMatchObject([
      {
        finish_reason: 'tool_calls',
        message: { tool_calls: [{ id: 'call_9', type: 'custom', custom: { name: 'ApplyPatch', input: '*** End' } }] },
      },
    ])
    expect(world.sent().messages).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Mend it' },
      { role: 'assistant', tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'x = 1' },
      { role: 'tool', tool_call_id: 'call_2', content: 'Done' },
    ])
  })

  test('streams from a Claude model without a usage chunk, unless asked for', async () => {
    world.answer(
      streamOf(
        messagesText(
          {
            type: 'message_start',
            message: {
              id: 'msg_1',
              type: 'message',
              role: 'assistant',
              model: 'm',
              content: [],
              usage: { input_tokens: 5, output_tokens: 1 },
            },
          } as { type: string },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Done.' } } as { type: string },
          { type: 'content_block_stop', index: 0 } as { type: string },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } } as {
            type: string
          },
          { type: 'message_stop' },
        ),
      ),
    )
    const answer = await world.call(PATH, { model: 'claude-opus-5', input: 'Mend it', stream: true })
    const events = eventsOf(await answer.text())
    expect(events.at(-1)?.data).toBe('[DONE]')
    const chunks = events.slice(0, -1).map(({ data }) => data as JsonObject)
    expect(chunks.every(chunk => Array.isArray(chunk.choices) && chunk.choices.length === 1)).toBe(true)
    expect(world.sent()).toMatchObject({ max_tokens: 128_000, messages: [{ role: 'user', content: 'Mend it' }] })
  })

  test('is refused in words if it refers to a stored response, or is empty', async () => {
    const stored = await world.call(PATH, { model: 'gpt-5.5', input: 'Go on', previous_response_id: 'resp_1' })
    expect(stored.status).toBe(400)
    expect(await stored.json()).toMatchObject({ error: { code: 'previous_response_not_found' } })
    const empty = await world.call(PATH, { model: 'gpt-5.5', input: [] })
    expect(empty.status).toBe(400)
    expect(await empty.json()).toMatchObject({
      error: { message: 'input: expected a string or a list with at least one item' },
    })
    const neither = await world.call(PATH, { model: 'gpt-5.5' })
    expect(await neither.json()).toMatchObject({ error: { message: 'messages: Field required' } })
  })
})

describe('tools, calls and results of the Messages format', () => {
  const body = {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Look at it' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I will look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a.png' } },
          { type: 'tool_use', id: 'toolu_2', name: 'read_file', input: { path: 'b.py' } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [
              { type: 'text', text: 'A picture' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            ],
          },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: 'No such file', is_error: true },
          { type: 'text', text: 'Well?' },
        ],
      },
    ],
    tools: [{ name: 'read_file', description: 'Reads a file', input_schema: PARAMETERS }],
    tool_choice: { type: 'any' },
  }

  test('reach a Claude model as they are meant', async () => {
    const content = [{ type: 'tool_use', id: 'toolu_3', name: 'read_file', input: { path: 'c.py' } }]
    const usage = { input_tokens: 5, output_tokens: 2 }
    world.answer(
      json(200, {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content,
        stop_reason: 'tool_use',
        usage,
      }),
    )
    const answer = await world.call(PATH, { ...body, model: 'claude-opus-5' })
    expect(((await answer.json()) as { choices: unknown }).choices).toMatchObject([
      {
        finish_reason: 'tool_calls',
        message: {
          tool_calls: [
            { id: 'toolu_3', type: 'function', function: { name: 'read_file', arguments: '{"path":"c.py"}' } },
          ],
        },
      },
    ])
    expect(world.sent()).toMatchObject({
      system: 'Be brief.',
      tools: [{ name: 'read_file', description: 'Reads a file', input_schema: PARAMETERS }],
      tool_choice: { type: 'any' },
      messages: body.messages
        .slice(1)
        .map(({ role }, index) => (index === 0 ? { role, content: 'Look at it' } : { role })),
    })
    expect((world.sent().messages as JsonObject[]).slice(1)).toEqual(body.messages.slice(2))
  })

  test('reach a model that speaks chat in its own words', async () => {
    world.answer(json(200, chatReply({ role: 'assistant', content: 'Fine.' })))
    const answer = await world.call(PATH, { ...body, model: 'gpt-5.5' })
    expect(answer.status).toBe(200)
    expect(world.sent()).toMatchObject({
      tools: [
        { type: 'function', function: { name: 'read_file', description: 'Reads a file', parameters: PARAMETERS } },
      ],
      tool_choice: 'required',
    })
    expect((world.sent().messages as JsonObject[]).map(({ role }) => role)).toEqual([
      'developer',
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ])
    expect(JSON.stringify(world.sent())).not.toMatch(/tool_use|tool_result|input_schema/)
  })

  test('a named tool can be forced', async () => {
    world.answer(json(200, chatReply({ role: 'assistant', content: 'Fine.' })))
    await world.call(PATH, { ...body, model: 'gpt-5.5', tool_choice: { type: 'tool', name: 'read_file' } })
    expect(world.sent().tool_choice).toEqual({ type: 'function', function: { name: 'read_file' } })
  })
})

test('flat tools among those of the format reach a model that speaks chat, and their calls come back as what they are', async () => {
  const call = (index: number, name: string, args: object) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  })
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const tool_calls = [call(0, 'ApplyPatch', { input: '*** Begin Patch' }), call(1, 'grep', { path: 'a' })]
  world.answer(streamOf(chatText(chunk({ role: 'assistant', tool_calls }), chunk({}, 'tool_calls'), '[DONE]')))
  const tools = [
    { type: 'function', function: { name: 'read_file', parameters: PARAMETERS } },
    {
      type: 'custom',
      name: 'ApplyPatch',
      description: 'Applies a patch',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
    },
    { type: 'function', name: 'grep', parameters: PARAMETERS },
  ]
  const { calls } = await streamed({ model: 'gpt-5.5', messages: [{ role: 'user', content: 'Mend it' }], tools })
  expect(calls).toEqual([
    { id: 'call_0', type: 'custom', custom: { name: 'ApplyPatch', input: '*** Begin Patch' } },
    { id: 'call_1', type: 'function', function: { name: 'grep', arguments: '{"path":"a"}' } },
  ])
  const sent = world.sent().tools as { type: string; function: JsonObject }[]
  expect(sent.map(tool => [tool.type, tool.function.name])).toEqual([
    ['function', 'read_file'],
    ['function', 'ApplyPatch'],
    ['function', 'grep'],
  ])
  expect(sent[1]?.function.description).toContain('start: "x"')
})
