/** The body that conversion writes for a responses upstream, before it is adapted to the upstream's dialect. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DialectFacts } from '../../codegen/generated/types.ts'
import type { Seal } from '../../src/conversation/envelope.ts'
import { pairResults } from '../../src/conversation/pairing.ts'
import type { ContentPart, ConversationRequest, ToolDefinition, Turn } from '../../src/conversation/request.ts'
import { GatewayError } from '../../src/errors.ts'
import { readRequest } from '../../src/formats/responses/read-request.ts'
import { responsesErrors } from '../../src/formats/responses/read-turns.ts'
import { writeRequest } from '../../src/formats/responses/write-request.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { dialectOf } from '../translate/support.ts'

const OPENAI: DialectFacts = {
  turns: { system_role: 'instructions', phase: true, item_ids: 'keep' },
  reasoning: { sealed: true },
  tools: { custom: 'native' },
}

const PLAIN: Omit<ConversationRequest, 'turns'> = {
  tools: { definitions: [], choice: null, oneCallOnly: false },
  structure: null,
  reasoning: { wanted: null, effort: null, budgetTokens: null, shown: null },
  sampling: { temperature: null, topP: null, topK: null },
  stopSequences: [],
  outputTokensMax: null,
  endUser: null,
  cacheKey: null,
  verbosity: null,
  tierIsAuto: false,
  streamed: false,
  clientErrors: responsesErrors,
}

const text = (value: string): ContentPart => ({ kind: 'text', text: value })
const system = (value: string): Turn => ({ role: 'system', parts: [text(value)], place: 's' })
const user = (...parts: ContentPart[]): Turn => ({ role: 'user', parts, place: 'u' })
const assistant = (...parts: ContentPart[]): Turn => ({ role: 'assistant', parts, place: 'a' })
const call = (id: string, name = 'f', input: JsonObject = { a: 1 }): ContentPart => ({
  kind: 'call',
  id,
  name,
  input,
  signature: 's',
})
const result = (id: string, content: ContentPart[] = [text('ok')], isError = false): ContentPart =>
  ({ kind: 'result', id, name: '', content, isError, place: 'r' }) as ContentPart
const reasoning = (texts: string[], seal: Seal | null = null): ContentPart => ({ kind: 'reasoning', texts, seal })
const gap: ContentPart = { kind: 'gap' }
const image: ContentPart = { kind: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' } }
const sealed: Seal = { wire: 'responses', id: 'rs_1', encrypted: 'gAAAA' }
const tool = (name: string, rest: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name,
  description: null,
  schema: { type: 'object', properties: {} },
  strict: false,
  ...rest,
})
const freeform = tool('patch', {
  description: 'p and grammar',
  freeform: { format: { type: 'grammar' }, description: 'p' },
})

function write(turns: readonly Turn[], rest: Partial<ConversationRequest> = {}, facts: DialectFacts = OPENAI) {
  const request = { ...PLAIN, ...rest, turns: pairResults(turns, responsesErrors) }
  return writeRequest(request, { model: 'upstream-model', dialect: dialectOf(facts) })
}
const itemsOf = (turns: readonly Turn[], rest: Partial<ConversationRequest> = {}, facts: DialectFacts = OPENAI) =>
  write(turns, rest, facts).body.input

const outputTexts = (...texts: string[]) => ({ content: texts.map(value => ({ type: 'output_text', text: value })) })
const commentary = (...texts: string[]) => ({
  type: 'message',
  role: 'assistant',
  ...outputTexts(...texts),
  phase: 'commentary',
})
const final = (...texts: string[]) => ({
  type: 'message',
  role: 'assistant',
  ...outputTexts(...texts),
  phase: 'final_answer',
})
const asked = (...texts: string[]) => ({
  type: 'message',
  role: 'user',
  content: texts.map(value => ({ type: 'input_text', text: value })),
})
const called = (call_id: string, name = 'f') => ({ type: 'function_call', call_id, name, arguments: '{"a":1}' })
const output = (call_id: string, value: unknown = 'ok') => ({ type: 'function_call_output', call_id, output: value })
const HI = user(text('hi'))

// biome-ignore format: one case per line
const TURNS: [string, Turn[], unknown[]][] = [
  ['a text', [HI], [asked('hi')]],
  ['several texts', [user(text('a'), text(''), text('b'))], [asked('a', 'b')]],
  ['an image', [user(image)], [{ type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' }] }]],
  ['an image URL', [user({ kind: 'image', source: { type: 'url', url: 'https://a/b.png' } })], [{ type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'https://a/b.png', detail: 'auto' }] }]],
  ['a document', [user({ kind: 'document', source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBE' }, title: '', place: 'p' })], [{ type: 'message', role: 'user', content: [{ type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBE' }] }]],
  ['a document by URL', [user({ kind: 'document', source: { type: 'url', url: 'https://a/b.pdf' }, title: 't', place: 'p' })], [{ type: 'message', role: 'user', content: [{ type: 'input_file', file_url: 'https://a/b.pdf' }] }]],
  ['an answer', [HI, assistant(text('a'), text('b')), HI], [asked('hi'), final('a', 'b'), asked('hi')]],
  ['an answer in two messages', [HI, assistant(text('a'), gap, text('b')), HI], [asked('hi'), final('a'), final('b'), asked('hi')]],
  ['instructions in the middle', [HI, assistant(text('a')), system('now'), HI], [asked('hi'), final('a'), { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'now' }] }, asked('hi')]],
  ['calls', [HI, assistant(text('a'), call('c1'), call('c2', 'g')), user(result('c2', [text('2')]), result('c1', [text('1')]), text('and'))], [asked('hi'), commentary('a'), called('c1'), called('c2', 'g'), output('c2', '2'), output('c1', '1'), asked('and')]],
  ['ids that repeat', [HI, assistant(call('c1')), user(result('c1')), assistant(call('c1')), user(result('c1'))], [asked('hi'), called('c1'), output('c1'), called('c1_2'), output('c1_2')]],
  ['ids that are too long', [HI, assistant(call('x'.repeat(70))), user(result('x'.repeat(70)))], [asked('hi'), called(expect.stringMatching(/^x{47}_[0-9a-f]{16}$/) as never), output(expect.stringMatching(/^x{47}_[0-9a-f]{16}$/) as never)]],
  ['a result of several texts', [HI, assistant(call('c1')), user(result('c1', [text('a'), text(''), text('b')]))], [asked('hi'), called('c1'), output('c1', 'a\nb')]],
  ['an empty result', [HI, assistant(call('c1')), user(result('c1', []))], [asked('hi'), called('c1'), output('c1', '')]],
  ['a result that failed', [HI, assistant(call('c1')), user(result('c1', [text('no')], true))], [asked('hi'), called('c1'), output('c1', 'Error: no')]],
  ['a result with an image', [HI, assistant(call('c1')), user(result('c1', [text('see'), image], true))], [asked('hi'), called('c1'), output('c1', [{ type: 'input_text', text: 'Error:' }, { type: 'input_text', text: 'see' }, { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' }])]],
  ['sealed reasoning', [HI, assistant(reasoning(['a', 'b'], sealed), call('c1')), user(result('c1'))], [asked('hi'), { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'a' }, { type: 'summary_text', text: 'b' }], encrypted_content: 'gAAAA' }, called('c1'), output('c1')]],
  ['sealed reasoning that was not shown', [HI, assistant(reasoning([], sealed), text('a')), HI], [asked('hi'), { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' }, final('a'), asked('hi')]],
  ['sealed reasoning without an id', [HI, assistant(reasoning([], { ...sealed, id: null }), text('a')), HI], [asked('hi'), { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }, final('a'), asked('hi')]],
  ['reasoning between calls', [HI, assistant(call('c1'), reasoning([], sealed), call('c2')), user(result('c1'), result('c2'))], [asked('hi'), called('c1'), { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' }, called('c2'), output('c1'), output('c2')]],
  ['trailing reasoning', [HI, assistant(text('a'), reasoning([], sealed)), HI, assistant(reasoning([], sealed)), HI], [asked('hi'), final('a'), asked('hi'), asked('hi')]],
  ['a seal of another wire', [HI, assistant(reasoning(['a'], { wire: 'messages', signature: 'E' }), text('a')), HI], [asked('hi'), { type: 'reasoning', summary: [{ type: 'summary_text', text: 'a' }] }, final('a'), asked('hi')]],
]

describe('items', () => {
  test.each(TURNS)('for %s', (_what, turns, expected) => {
    expect(itemsOf(turns)).toEqual(expected)
  })

  test('record the path of their turns in the client’s request', () => {
    const turns = [system('s'), HI, assistant(text('a'), call('c1')), user(result('c1'), text('b'))]
    expect(write(turns).places).toEqual(['u', 'a', 'a', 'u', 'u'])
  })

  test('omit phases and ids that the host does not support', () => {
    const turns = [HI, assistant(reasoning([], sealed), text('a')), HI]
    expect(itemsOf(turns, {}, { turns: { item_ids: 'drop' } })).toEqual([
      asked('hi'),
      { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' },
      { type: 'message', role: 'assistant', ...outputTexts('a') },
      asked('hi'),
    ])
  })

  // biome-ignore format: one case per line
  test.each<['instructions' | 'developer' | 'system', string | undefined, unknown[]]>([
    ['instructions', 'one\n\ntwo', []],
    ['developer', undefined, ['one', 'two'].map(value => ({ type: 'message', role: 'developer', content: [{ type: 'input_text', text: value }] }))],
    ['system', undefined, ['one', 'two'].map(value => ({ type: 'message', role: 'system', content: [{ type: 'input_text', text: value }] }))],
  ])('have instructions only where the host expects them: %s', (system_role, instructions, items) => {
    const { body } = write([system('one'), system(' '), system('two'), HI], {}, { turns: { system_role } })
    expect(body.instructions).toBe(instructions)
    expect(body.input).toEqual([...items, asked('hi')])
  })

  test('contain the instructions if there is nothing else', () => {
    const { body } = write([system('one')])
    expect(body).not.toHaveProperty('instructions')
    expect(body.input).toEqual([{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'one' }] }])
  })

  test('include at least one', () => {
    expect(() => write([user(text(''))])).toThrow(
      new GatewayError('invalid_request', { message: 'u: expected a message with content' }),
    )
  })
})

describe('tools', () => {
  const definitions = [tool('f', { description: 'd', strict: true }), freeform]
  const fn = {
    type: 'function',
    name: 'f',
    description: 'd',
    parameters: { type: 'object', properties: {} },
    strict: true,
  }

  test('state whether they are strict, and are free-form if the host supports it', () => {
    const tools = { definitions, choice: { mode: 'tool', name: 'patch' }, oneCallOnly: true } as const
    expect(write([HI], { tools }).body).toMatchObject({
      tools: [fn, { type: 'custom', name: 'patch', description: 'p', format: { type: 'grammar' } }],
      tool_choice: { type: 'custom', name: 'patch' },
      parallel_tool_calls: false,
    })
    expect(write([HI], { tools }, {}).body).toMatchObject({
      tools: [
        fn,
        { type: 'function', name: 'patch', description: 'p and grammar', parameters: freeform.schema, strict: false },
      ],
      tool_choice: { type: 'function', name: 'patch' },
    })
  })

  test('that are free-form have free-form calls in the history', () => {
    const turns = [
      HI,
      assistant(call('c1', 'patch', { input: 'raw' }), call('c2', 'patch', { a: 1 })),
      user(result('c1'), result('c2')),
    ]
    const tools = { definitions, choice: null, oneCallOnly: false }
    expect(itemsOf(turns, { tools })).toEqual([
      asked('hi'),
      { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'raw' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '{"a":1}' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'ok' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'ok' },
    ])
    expect(itemsOf(turns, { tools }, {})).toMatchObject([
      asked('hi'),
      { arguments: '{"input":"raw"}' },
      called('c2', 'patch'),
      output('c1'),
      output('c2'),
    ])
  })

  // biome-ignore format: one case per line
  test.each<[ConversationRequest['tools']['choice'], unknown]>([
    [null, undefined],
    [{ mode: 'auto' }, 'auto'],
    [{ mode: 'none' }, 'none'],
    [{ mode: 'any' }, 'required'],
    [{ mode: 'tool', name: 'f' }, { type: 'function', name: 'f' }],
  ])('are chosen by %j', (choice, expected) => {
    const { body } = write([HI], { tools: { definitions, choice, oneCallOnly: false } })
    expect(body.tool_choice).toEqual(expected)
    expect(body).not.toHaveProperty('parallel_tool_calls')
  })

  test('leave no fields behind if there are none', () => {
    const { body } = write([HI], { tools: { definitions: [], choice: { mode: 'any' }, oneCallOnly: true } })
    for (const field of ['tools', 'tool_choice', 'parallel_tool_calls']) expect(body).not.toHaveProperty(field)
  })
})

describe('the body', () => {
  test('has everything that the format can express', () => {
    const { body } = write([HI], {
      sampling: { temperature: 0.5, topP: 0.9, topK: 7 },
      outputTokensMax: 100,
      endUser: 'end',
      cacheKey: 'key',
      verbosity: 'low',
      streamed: true,
      tierIsAuto: true,
    })
    expect(body).toEqual({
      model: 'upstream-model',
      input: [asked('hi')],
      max_output_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      text: { verbosity: 'low' },
      safety_identifier: 'end',
      prompt_cache_key: 'key',
      include: ['reasoning.encrypted_content'],
      store: false,
      stream: true,
    })
  })

  test('requests no seals if the model has none', () => {
    expect(write([HI], {}, {}).body).toEqual({ model: 'upstream-model', input: [asked('hi')], store: false })
  })

  test('refuses stop sequences', () => {
    expect(() => write([HI], { stopSequences: ['x'] })).toThrow(
      new GatewayError('invalid_request', {
        message: 'stop: this model does not accept stop sequences; leave the field out',
      }),
    )
  })

  test('reproduces the conversation that it was read from', () => {
    const items = fc.constantFrom(
      asked('hi'),
      { type: 'message', role: 'assistant', ...outputTexts('a') },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'd' }] },
    )
    const round = fc.constantFrom('c1', 'c2').map(id => [called(id), output(id)])
    const conversation = fc.array(
      fc.oneof(
        items.map(item => [item]),
        round,
      ),
      { minLength: 1, maxLength: 8 },
    )
    const readAgain = (input: unknown) => {
      const facts = { openEnvelope: () => null, origin: '', toolsLeftOut: null }
      const { request } = readRequest({ input } as JsonObject, facts)
      return { ...request, turns: pairResults(request.turns, request.clientErrors) }
    }
    const facts = { model: 'm', dialect: dialectOf({}) }
    fc.assert(
      fc.property(conversation, rounds => {
        const once = writeRequest(readAgain(rounds.flat()), facts).body.input
        expect(writeRequest(readAgain(once), facts).body.input).toEqual(once)
      }),
    )
  })
})
