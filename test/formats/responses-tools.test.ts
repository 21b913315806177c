/** Reading Responses requests: tools and parameters. */

import { describe, expect, test } from 'vitest'
import { call, FACTS, fn, output, read, requestOf, told, user } from './responses-request-support.ts'

const namesOf = (body: object) => requestOf({ input: 'hi', ...body }).tools.definitions.map(({ name }) => name)
const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' }

describe('tools', () => {
  test('of every client-side kind become functions', () => {
    const { request, echo } = read({
      input: [
        user('hi'),
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'custom', name: 'exec' }] },
        { type: 'tool_search_output', execution: 'client', call_id: 'c', tools: [fn('late')] },
      ],
      tools: [
        fn('f', { description: 'd', strict: true, defer_loading: true }),
        fn('g', { parameters: null }),
        { type: 'custom', name: 'patch', description: 'p', format: grammar },
        {
          type: 'namespace',
          name: 'ns',
          description: 'about',
          tools: [fn('f', { description: 'd' }), { type: 'custom', name: 'c' }],
        },
        { type: 'tool_search', execution: 'client', description: 's', parameters: { type: 'object' } },
      ],
    })
    const freeform = {
      type: 'object',
      properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
      required: ['input'],
      additionalProperties: false,
    }
    const told = 'p\n\nThe input must match this lark grammar:\nstart: "a"'
    expect(request.tools.definitions).toEqual([
      { name: 'f', description: 'd', schema: { type: 'object' }, strict: true },
      { name: 'g', description: null, schema: {}, strict: false },
      {
        name: 'patch',
        description: told,
        schema: freeform,
        strict: false,
        freeform: { format: grammar, description: 'p' },
      },
      { name: 'ns__f', description: 'about\n\nd', schema: { type: 'object' }, strict: false },
      {
        name: 'ns__c',
        description: null,
        schema: freeform,
        strict: false,
        freeform: { format: null, description: null },
      },
      { name: 'tool_search', description: 's', schema: { type: 'object' }, strict: false },
      {
        name: 'exec',
        description: null,
        schema: freeform,
        strict: false,
        freeform: { format: null, description: null },
      },
      { name: 'late', description: null, schema: { type: 'object' }, strict: false },
    ])
    expect([...echo.tools]).toEqual([
      ['f', { kind: 'function', name: 'f', namespace: null }],
      ['g', { kind: 'function', name: 'g', namespace: null }],
      ['patch', { kind: 'custom', name: 'patch', namespace: null }],
      ['ns__f', { kind: 'function', name: 'f', namespace: 'ns' }],
      ['ns__c', { kind: 'custom', name: 'c', namespace: 'ns' }],
      ['tool_search', { kind: 'tool_search', name: 'tool_search', namespace: null }],
      ['exec', { kind: 'custom', name: 'exec', namespace: null }],
      ['late', { kind: 'function', name: 'late', namespace: null }],
    ])
  })

  test('in a namespace never take another tool’s name', () => {
    const spaces = [
      { type: 'namespace', name: 'a', tools: [fn('b__c')] },
      { type: 'namespace', name: 'a__b', tools: [fn('c')] },
      fn('a__b__c'),
      { type: 'tool_search', execution: 'client' },
      fn('tool_search'),
    ]
    const names = namesOf({ tools: spaces })
    expect(names).toEqual([
      expect.stringMatching(/^a__b__c_[0-9a-f]{8}$/),
      expect.stringMatching(/^a__b__c_[0-9a-f]{8}$/),
      'a__b__c',
      expect.stringMatching(/^tool_search_[0-9a-f]{8}$/),
      'tool_search',
    ])
    expect(new Set(names).size).toBe(5)
    // The same tools get the same names in the next request, so that the provider's cache hits.
    expect(namesOf({ tools: spaces })).toEqual(names)
  })

  test('that are defined twice count with the last definition', () => {
    const { definitions } = requestOf({ input: 'hi', tools: [fn('f'), fn('g'), fn('f', { description: 'new' })] }).tools
    expect(definitions.map(({ name, description }) => [name, description])).toEqual([
      ['f', 'new'],
      ['g', null],
    ])
  })

  // biome-ignore format: one case per line
  test.each<[string, object[], string[]]>([
    ['searches of the web', [{ type: 'web_search' }, { type: 'web_search_preview_2025_03_11' }, fn('f')], ['f']],
    ['pictures', [{ type: 'image_generation' }], []],
    ['a search of the provider', [{ type: 'tool_search' }, { type: 'programmatic_tool_calling' }, fn('f')], ['f']],
  ])('that clients send by default are dropped: %s', (_what, tools, expected) => {
    expect(namesOf({ tools })).toEqual(expected)
  })

  test('are dropped where the table says so', () => {
    const facts = { ...FACTS, toolsLeftOut: ['mcp'] }
    expect(read({ input: 'hi', tools: [{ type: 'mcp' }, fn('f')] }, facts).request.tools.definitions).toHaveLength(1)
  })

  const two = [fn('f'), { type: 'namespace', name: 'ns', tools: [fn('g')] }, { type: 'web_search' }]
  // biome-ignore format: one case per line
  test.each<[string, unknown, unknown, string[]?]>([
    ['nothing', undefined, null],
    ['auto', 'auto', { mode: 'auto' }],
    ['none', 'none', { mode: 'none' }],
    ['required', 'required', { mode: 'any' }],
    ['a function', { type: 'function', name: 'f' }, { mode: 'tool', name: 'f' }],
    ['a tool in a namespace', { type: 'function', name: 'g', namespace: 'ns' }, { mode: 'tool', name: 'ns__g' }],
    ['allowed tools', { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }] }, { mode: 'auto' }, ['f']],
    ['allowed tools, one of which is required', { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'g', namespace: 'ns' }] }, { mode: 'any' }, ['ns__g']],
    ['no tool allowed', { type: 'allowed_tools', mode: 'auto', tools: [] }, { mode: 'auto' }, []],
  ])('are chosen by %s', (_what, choice, expected, names = ['f', 'ns__g']) => {
    const { tools } = requestOf({ input: 'hi', tools: two, tool_choice: choice })
    expect(tools.choice).toEqual(expected)
    expect(tools.definitions.map(({ name }) => name)).toEqual(names)
  })

  test('may be called one at a time', () => {
    expect(requestOf({ input: 'hi', tools: two, parallel_tool_calls: false }).tools.oneCallOnly).toBe(true)
    expect(requestOf({ input: 'hi', tools: two, parallel_tool_calls: true }).tools.oneCallOnly).toBe(false)
  })
})

describe('parameters', () => {
  test('are read', () => {
    const {
      turns: _turns,
      tools: _tools,
      clientErrors: _clientErrors,
      ...rest
    } = requestOf({
      input: 'hi',
      max_output_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      stream: true,
      text: { verbosity: 'low', format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } },
      reasoning: { effort: 'xhigh', summary: 'auto' },
      safety_identifier: 'end',
      user: 'other',
      prompt_cache_key: 'key',
      service_tier: 'auto',
    })
    expect(rest).toEqual({
      structure: { kind: 'schema', name: 'n', description: null, schema: { type: 'object' }, strict: true },
      reasoning: { wanted: true, effort: 'xhigh', budgetTokens: null, shown: true },
      sampling: { temperature: 0.5, topP: 0.9, topK: null },
      stopSequences: [],
      outputTokensMax: 100,
      endUser: 'end',
      cacheKey: 'key',
      verbosity: 'low',
      tierIsAuto: true,
      streamed: true,
    })
  })

  // biome-ignore format: one case per line
  test.each<[string, object, object]>([
    ['nothing requested', {}, { wanted: null, effort: null, shown: null }],
    ['null', { reasoning: null }, { wanted: null, effort: null, shown: null }],
    ['an effort', { reasoning: { effort: 'low' } }, { wanted: true, effort: 'low', shown: null }],
    ['a summary without an effort', { reasoning: { summary: 'auto' } }, { wanted: null, effort: null, shown: true }],
    ['a summary by its older name', { reasoning: { effort: null, generate_summary: 'concise' } }, { wanted: null, effort: null, shown: true }],
    ['none', { reasoning: { effort: 'none' } }, { wanted: false, effort: null, shown: null }],
    ['an invalid effort', { reasoning: { effort: 'huge' } }, { wanted: null, effort: null, shown: null }],
  ])('reasoning: %s', (_what, body, expected) => {
    expect(requestOf({ input: 'hi', ...body }).reasoning).toEqual({ budgetTokens: null, ...expected })
  })

  // biome-ignore format: one case per line
  test.each<[string, object, unknown]>([
    ['an empty object', { text: {} }, null],
    ['text', { text: { format: { type: 'text' } } }, null],
    ['a JSON object', { text: { format: { type: 'json_object' } } }, { kind: 'object' }],
    ['a schema without a name', { text: { format: { type: 'json_schema', schema: {} } } }, { kind: 'schema', name: 'reply', description: null, schema: {}, strict: false }],
    ['a schema without a schema', { text: { format: { type: 'json_schema', name: 'n' } } }, { kind: 'object' }],
  ])('text.format: %s', (_what, body, expected) => {
    expect(requestOf({ input: 'hi', ...body }).structure).toEqual(expected)
  })

  test('that clients send by default are accepted', () => {
    const habits = {
      include: [],
      store: true,
      truncation: 'auto',
      metadata: { a: 'b' },
      top_logprobs: 2,
      max_tool_calls: 3,
      client_metadata: {},
      stream_options: { include_obfuscation: false },
      prompt_cache_retention: '24h',
      context_management: [],
      moderation: {},
      previous_response_id: null,
      conversation: null,
      prompt: null,
      background: false,
      unknown: { __proto__: null, deep: [1] },
    }
    expect(told({ input: 'hi', ...habits })).toEqual(['user: hi'])
  })

  test('are repeated in the reply', () => {
    const given = {
      instructions: 'i',
      max_output_tokens: 5,
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      prompt_cache_key: 'k',
      safety_identifier: 's',
      temperature: 0,
      tool_choice: 'none',
      tools: [fn('f')],
      top_p: 0.5,
      user: 'u',
    }
    const { echo } = read({
      input: 'hi',
      ...given,
      reasoning: { effort: 'low', context: 'x' },
      text: { verbosity: 'low' },
      truncation: 'auto',
      store: false,
    })
    expect(echo.fields).toEqual({
      ...given,
      reasoning: { effort: 'low', summary: null },
      text: { format: { type: 'text' }, verbosity: 'low' },
      truncation: 'disabled',
    })
    expect(echo.refersToItems).toBe(false)
  })

  test('say which ids are taken', () => {
    const id = `c1__sig_${Buffer.from('s').toString('base64url')}`
    expect(read({ input: [user('hi'), call(id), output(id), call('c2')] }).echo.callIds).toEqual(new Set(['c1', 'c2']))
  })

  test('that were left out are repeated with their defaults', () => {
    const { echo } = read({ input: 'hi' })
    expect(echo.fields).toEqual({
      instructions: null,
      max_output_tokens: null,
      metadata: {},
      parallel_tool_calls: true,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      temperature: 1,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_p: 1,
      truncation: 'disabled',
      user: null,
    })
    expect(echo.refersToItems).toBe(true)
  })

  test('gets the default where the client wrote null', () => {
    expect(read({ input: 'hi', text: { format: null, verbosity: 'low' } }).echo.fields.text).toEqual({
      format: { type: 'text' },
      verbosity: 'low',
    })
  })
})
