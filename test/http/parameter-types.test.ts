/** Parameters of a wrong type in converted calls cause a 400 that names the field; nothing is sent or charged. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ConversionWorld, CREDIT, type Path, question, startConversionWorld } from '../support/conversion.ts'
import { json } from '../support/scripted-upstream.ts'

let world: ConversionWorld
beforeAll(async () => {
  world = await startConversionWorld()
})
afterAll(() => world.close())

const ROUTES: Readonly<Record<Path, { readonly model: string; readonly reply: object }>> = {
  '/v1/messages': {
    model: 'deepseek-v4-flash',
    reply: {
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    },
  },
  '/v1/chat/completions': {
    model: 'claude-haiku-4-5',
    reply: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'x' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
}

const [NUMBER, INTEGER, BOOLEAN, TEXT, OBJECT, LIST] = ['number', 'integer', 'boolean', 'string', 'object', 'list'].map(
  kind => `Input should be a valid ${kind}`,
) as [string, string, string, string, string, string]
const TEXT_OR_LIST = 'Input should be a valid string or list'
const TEXT_OR_OBJECT = 'Input should be a valid string or object'

const schema = { type: 'object' }
const tool = (extra: object) => ({ tools: [{ name: 'f', input_schema: schema, ...extra }] })
const fn = (extra: object) => ({ tools: [{ type: 'function', function: { name: 'f', parameters: schema, ...extra } }] })
const named = (extra: object) => ({ functions: [{ name: 'f', parameters: schema, ...extra }] })
const format = (extra: object) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'r', schema, ...extra } },
})

/** The refused field, the message of the refusal, values that are refused, and values that are accepted. */
type Case = readonly [place: string, words: string, wrong: readonly object[], right: readonly object[]]

const of = (field: string, values: readonly unknown[]): object[] => values.map(value => ({ [field]: value }))

const BOTH: readonly Case[] = [
  ['temperature', NUMBER, of('temperature', ['hot', '0.5', true, {}, [0.5]]), of('temperature', [0, 0.5])],
  ['top_p', NUMBER, of('top_p', ['0.9', false, {}]), of('top_p', [0.9])],
  ['top_k', INTEGER, of('top_k', ['40', 1.5, {}]), of('top_k', [40])],
  ['stream', 'Input should be true or false', of('stream', ['true', 1, {}]), of('stream', [false])],
  [
    'max_tokens',
    'Input should be a whole number of tokens, 0 or more',
    of('max_tokens', ['12', 1.5, -1, {}, [1], true]),
    of('max_tokens', [500]),
  ],
  ['tools', LIST, of('tools', [{}, 'f', 7, true]), of('tools', [[]])],
  ['thinking', OBJECT, of('thinking', [true, 'enabled', 1000, []]), of('thinking', [{ type: 'disabled' }])],
  ['thinking.type', TEXT, of('thinking', [{ type: 1 }, { type: true }]), []],
  ['thinking.budget_tokens', INTEGER, of('thinking', [{ type: 'enabled', budget_tokens: '2000' }]), []],
]

const CASES: Readonly<Record<Path, readonly Case[]>> = {
  '/v1/messages': [
    ...BOTH,
    ['system', TEXT_OR_LIST, of('system', [7, {}, true]), of('system', ['x', [{ type: 'text', text: 'x' }]])],
    ['stop_sequences', LIST, of('stop_sequences', ['x', 5, {}]), of('stop_sequences', [[], ['x']])],
    [
      'stop_sequences.1',
      TEXT,
      of('stop_sequences', [
        ['x', 5],
        ['x', {}],
      ]),
      [],
    ],
    ['tools.0.name', TEXT, [tool({ name: 7 })], []],
    ['tools.0.description', TEXT, [tool({ description: 7 }), tool({ description: {} })], [tool({ description: 'x' })]],
    ['tools.0.input_schema', OBJECT, [tool({ input_schema: 'x' }), tool({ input_schema: [] })], []],
    ['tools.0.strict', BOOLEAN, [tool({ strict: 'yes' })], [tool({ strict: true })]],
    ['tool_choice', OBJECT, of('tool_choice', ['auto', 7, []]), of('tool_choice', [{ type: 'auto' }])],
    ['tool_choice.name', TEXT, [{ ...tool({}), tool_choice: { type: 'tool', name: 7 } }], []],
    [
      'tool_choice.disable_parallel_tool_use',
      BOOLEAN,
      of('tool_choice', [{ type: 'auto', disable_parallel_tool_use: 'no' }]),
      [],
    ],
    ['metadata', OBJECT, of('metadata', ['x', 7, []]), of('metadata', [{}])],
    ['metadata.user_id', TEXT, of('metadata', [{ user_id: 7 }]), of('metadata', [{ user_id: 'u' }, { user_id: null }])],
    ['output_config', OBJECT, of('output_config', ['x', []]), of('output_config', [{}])],
    ['output_config.effort', TEXT, of('output_config', [{ effort: 1 }]), of('output_config', [{ effort: 'low' }])],
    ['output_config.format', OBJECT, of('output_config', [{ format: 'json' }]), []],
    ['output_format', OBJECT, of('output_format', ['json']), []],
  ],
  '/v1/chat/completions': [
    ...BOTH,
    [
      'max_completion_tokens',
      'Input should be a whole number of tokens, 0 or more',
      of('max_completion_tokens', ['12', {}]),
      of('max_completion_tokens', [500]),
    ],
    ['n', 'Input should be a whole number of choices, 1 or more', of('n', ['1', 1.5, {}]), of('n', [1])],
    ['stop', TEXT_OR_LIST, of('stop', [5, {}, true]), of('stop', ['x', ['x']])],
    ['stop[1]', TEXT, of('stop', [['x', 5]]), []],
    ['tools[0].function.name', TEXT, [fn({ name: 7 })], []],
    ['tools[0].function.description', TEXT, [fn({ description: 7 })], [fn({ description: 'x' })]],
    [
      'tools[0].function.parameters',
      OBJECT,
      [fn({ parameters: 'x' }), fn({ parameters: [] })],
      [fn({ parameters: null })],
    ],
    ['tools[0].function.strict', BOOLEAN, [fn({ strict: 'yes' })], [fn({ strict: false })]],
    ['functions', LIST, of('functions', [{}, 'f']), of('functions', [[]])],
    ['functions[0].name', TEXT, [named({ name: 7 })], []],
    ['functions[0].description', TEXT, [named({ description: 7 })], []],
    ['functions[0].parameters', OBJECT, [named({ parameters: 'x' })], []],
    ['tool_choice', TEXT_OR_OBJECT, of('tool_choice', [7, true, []]), of('tool_choice', ['auto', 'none'])],
    ['function_call', TEXT_OR_OBJECT, of('function_call', [7, true]), of('function_call', ['auto'])],
    ['parallel_tool_calls', BOOLEAN, of('parallel_tool_calls', ['false', 0]), of('parallel_tool_calls', [false])],
    [
      'messages[1].tool_calls',
      LIST,
      [
        {
          messages: [
            { role: 'user', content: 'x' },
            { role: 'assistant', content: 'y', tool_calls: {} },
            { role: 'user', content: 'z' },
          ],
        },
      ],
      [],
    ],
    ['response_format', OBJECT, of('response_format', ['json_object', []]), of('response_format', [{ type: 'text' }])],
    ['response_format.type', TEXT, of('response_format', [{ type: 7 }]), []],
    ['response_format.json_schema', OBJECT, of('response_format', [{ type: 'json_schema', json_schema: 'x' }]), []],
    ['response_format.json_schema.name', TEXT, [format({ name: 7 })], [format({})]],
    ['response_format.json_schema.schema', OBJECT, [format({ schema: 'x' })], []],
    ['response_format.json_schema.strict', BOOLEAN, [format({ strict: 'yes' })], []],
    ['stream_options', OBJECT, of('stream_options', ['x', []]), of('stream_options', [{}])],
    ['stream_options.include_usage', BOOLEAN, of('stream_options', [{ include_usage: 'yes' }]), []],
    ['reasoning_effort', TEXT, of('reasoning_effort', [3, {}]), of('reasoning_effort', ['low'])],
    ['reasoning', OBJECT, of('reasoning', ['high', true]), of('reasoning', [{}])],
    ['reasoning.effort', TEXT, of('reasoning', [{ effort: 3 }]), []],
    ['reasoning.enabled', BOOLEAN, of('reasoning', [{ enabled: 'yes' }]), []],
    ['reasoning.max_tokens', INTEGER, of('reasoning', [{ max_tokens: '2000' }]), []],
    ['enable_thinking', BOOLEAN, of('enable_thinking', ['true', 1]), of('enable_thinking', [false])],
    ['thinking_budget', INTEGER, of('thinking_budget', ['2000']), []],
    ['modalities', LIST, of('modalities', ['text', {}]), of('modalities', [['text']])],
    ['user', TEXT, of('user', [7, {}]), of('user', ['u'])],
    ['safety_identifier', TEXT, of('safety_identifier', [7]), of('safety_identifier', ['u'])],
  ],
}

test.each(Object.keys(CASES) as Path[])('%s: values of a wrong type are refused, naming the field', async path => {
  const { model, reply } = ROUTES[path]
  world.account = await world.running.account(CREDIT)
  world.answer(json(200, reply))
  const before = world.provider.requests.length
  for (const [place, words, wrong] of CASES[path]) {
    for (const extra of wrong) {
      const response = await world.call(path, question(model, extra))
      const { error } = (await response.json()) as { error?: { message: string; type: string } }
      const told = [extra, response.status, error?.type, error?.message]
      expect(told).toEqual([extra, 400, 'invalid_request_error', `${place}: ${words}`])
    }
  }
  expect(world.provider.requests.length).toBe(before)
  expect(await world.spent()).toBe(0n)
})

test.each(Object.keys(CASES) as Path[])('%s: values of the right type, null or absent, are served', async path => {
  const { model, reply } = ROUTES[path]
  world.account = await world.running.account(CREDIT)
  world.answer(json(200, reply))
  for (const [place, , , right] of CASES[path]) {
    const isField = !/[.[]/.test(place) && place !== 'max_tokens'
    for (const extra of [...right, ...(isField ? [{ [place]: null }] : [])]) {
      const response = await world.call(path, question(model, extra))
      expect([extra, response.status, response.status === 200 ? '' : await response.text()]).toEqual([extra, 200, ''])
    }
  }
})
