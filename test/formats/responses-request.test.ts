/** Reading responses requests into the conversation, in every way that clients write them. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { carryingId } from '../../src/conversation/carried-items.ts'
import type { ReadFacts } from '../../src/conversation/format.ts'
import { markPayload } from '../../src/conversation/marks.ts'
import { pairResults } from '../../src/conversation/pairing.ts'
import type { ContentPart } from '../../src/conversation/request.ts'
import { makeSealer, type Seal } from '../../src/conversation/seal.ts'
import { GatewayError } from '../../src/errors.ts'
import { readRequest } from '../../src/formats/responses/read-request.ts'
import type { JsonObject, JsonValue } from '../../src/lib/json.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { anyJson } from '../support/any-json.ts'

const sealer = makeSealer(parseSecretSet('KEY_PEPPERS', generateSecretSet()), '7')
const FACTS: ReadFacts = { openMark: sealer.open, origin: 'here', toolsLeftOut: null }
const mark = (seal: Seal, origin = 'here') => sealer.seal(markPayload(seal, origin, []))

const read = (body: object, facts = FACTS) => readRequest(body as JsonObject, facts)
const requestOf = (body: object) => read(body).request

/** Turns in short notation: `user: hi`, `assistant: call c1 f {"a":1}`, `result c1 "text"`. */
const told = (body: object) => requestOf(body).turns.map(turn => `${turn.role}: ${turn.parts.map(shortOf).join(' | ')}`)
const toldItems = (...input: object[]) => told({ input })

function shortOf(part: ContentPart): string {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'image':
      return `image ${part.source.type === 'url' ? part.source.url : `${part.source.mediaType} ${part.source.data}`}`
    case 'document':
      return `document ${part.title} ${part.source.type === 'url' ? part.source.url : part.source.data}`
    case 'reasoning':
      return `reasoning ${JSON.stringify(part.texts)}${part.seal === null ? '' : ` ${JSON.stringify(part.seal)}`}`
    case 'gap':
      return 'gap'
    case 'call':
      return `call ${part.id} ${part.name} ${JSON.stringify(part.input)}${part.signature === null ? '' : ` signed ${part.signature}`}`
    case 'result':
      return `result ${part.id}${part.isError ? ' failed' : ''} ${JSON.stringify(part.content.map(shortOf).join(' | '))}`
  }
}

function refusal(body: object, facts = FACTS): GatewayError {
  try {
    read(body, facts)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('the request was not refused')
}

const user = (content: unknown) => ({ role: 'user', content })
const said = (text: string) => ({
  type: 'message',
  role: 'assistant',
  id: 'msg_1',
  content: [{ type: 'output_text', text }],
})
const call = (id: string, name = 'f', args = '{}') => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: args,
})
const output = (id: string, text: unknown = 'ok') => ({ type: 'function_call_output', call_id: id, output: text })
const fn = (name: string, rest: object = {}) => ({ type: 'function', name, parameters: { type: 'object' }, ...rest })

// biome-ignore format: one case per line
const CONVERSATIONS: [string, object, string[]][] = [
  ['a text', { input: 'hi' }, ['user: hi']],
  ['instructions before the input', { instructions: 'be brief', input: 'hi' }, ['system: be brief', 'user: hi']],
  ['instructions as items', { instructions: [{ role: 'developer', content: 'one' }, { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'two' }] }], input: 'hi' }, ['system: one', 'system: two', 'user: hi']],
  ['developer messages of a coding agent', { instructions: 'i', input: [{ role: 'developer', content: 'd1' }, { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'd2' }] }, user('<environment_context/>')] }, ['system: i', 'system: d1', 'system: d2', 'user: <environment_context/>']],
  ['parts of a user message', { input: [user([{ type: 'input_text', text: 'a' }, { type: 'input_text', text: '' }, 'b'])] }, ['user: a | b']],
  ['empty messages', { input: [user(''), user([]), { role: 'assistant', content: [] }, user('hi')] }, ['user: hi']],
  ['an answer in several messages', { input: [user('hi'), { ...said('let me look'), phase: 'commentary' }, { ...said('done'), phase: 'final_answer' }, user('thanks')] }, ['user: hi', 'assistant: let me look | gap | done', 'user: thanks']],
  ['an answer that some clients write as input', { input: [user('hi'), { role: 'assistant', content: [{ type: 'input_text', text: 'yes' }] }] }, ['user: hi', 'assistant: yes']],
  ['a refusal', { input: [user('hi'), { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }] }, ['user: hi', 'assistant: no']],
  ['an image', { input: [user([{ type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'original' }])] }, ['user: image image/png AAAA']],
  ['an image URL', { input: [user([{ type: 'input_image', image_url: 'https://a/b.png' }])] }, ['user: image https://a/b.png']],
  ['an image URL as the chat format has it', { input: [user([{ type: 'input_image', image_url: { url: 'https://a/b.png' } }])] }, ['user: image https://a/b.png']],
  ['a PDF', { input: [user([{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' }])] }, ['user: document a.pdf JVBE']],
  ['a PDF in bare base64', { input: [user([{ type: 'input_file', file_data: 'JVBE' }])] }, ['user: document  JVBE']],
  ['a file by URL', { input: [user([{ type: 'input_file', file_url: 'https://a/b.pdf' }])] }, ['user: document  https://a/b.pdf']],
  ['a text file', { input: [user([{ type: 'input_file', filename: 'a.md', file_data: 'data:text/markdown;base64,aGk=' }])] }, ['user: a.md\n\nhi']],
  ['a text file in bare base64', { input: [user([{ type: 'input_file', filename: 'a.csv', file_data: 'aGk=' }])] }, ['user: a.csv\n\nhi']],
  ['an image as a file', { input: [user([{ type: 'input_file', filename: 'a.jpg', file_data: 'data:image/jpg;base64,AAAA' }])] }, ['user: image image/jpeg AAAA']],
  ['a call and its output', { input: [user('hi'), call('c1', 'f', '{"a":1}'), output('c1')] }, ['user: hi', 'assistant: call c1 f {"a":1}', 'user: result c1 "ok"']],
  ['empty arguments', { input: [user('hi'), call('c1', 'f', ''), output('c1')] }, ['user: hi', 'assistant: call c1 f {}', 'user: result c1 "ok"']],
  ['broken arguments', { input: [user('hi'), call('c1', 'f', '{"a":'), output('c1')] }, ['user: hi', 'assistant: call c1 f {"_arguments":"{\\"a\\":"}', 'user: result c1 "ok"']],
  ['a signature in the id of a call', { input: [user('hi'), call(`c1__sig_${Buffer.from('s').toString('base64url')}`), output('c1')] }, ['user: hi', 'assistant: call c1 f {} signed s', 'user: result c1 "ok"']],
  ['an output with an image', { input: [user('hi'), call('c1'), output('c1', [{ type: 'input_text', text: 'see' }, { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }])] }, ['user: hi', 'assistant: call c1 f {}', 'user: result c1 "see | image image/png AAAA"']],
  ['an output that is an object', { input: [user('hi'), call('c1'), output('c1', { a: 1 })] }, ['user: hi', 'assistant: call c1 f {}', 'user: result c1 "{\\"a\\":1}"']],
  ['a custom tool', { input: [user('hi'), { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** Begin' }, { type: 'custom_tool_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'done' }] }] }, ['user: hi', 'assistant: call c1 apply_patch {"input":"*** Begin"}', 'user: result c1 "done"']],
  ['a tool in a namespace', { input: [user('hi'), { ...call('c1', 'spawn'), namespace: 'agents' }, output('c1')] }, ['user: hi', 'assistant: call c1 agents__spawn {}', 'user: result c1 "ok"']],
  ['a tool search by the client', { input: [user('hi'), { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'q' } }, { type: 'tool_search_output', call_id: 'c1', execution: 'client', tools: [fn('g'), { type: 'namespace', name: 'ns', tools: [fn('h')] }] }] }, ['user: hi', 'assistant: call c1 tool_search {"query":"q"}', 'user: result c1 "Tools available: g, ns__h"']],
  ['a search that found nothing', { input: [user('hi'), { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: {} }, { type: 'tool_search_output', call_id: 'c1', execution: 'client', tools: [] }] }, ['user: hi', 'assistant: call c1 tool_search {}', 'user: result c1 "No tools found."']],
  ['a tool search by the provider', { input: [user('hi'), { type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} }, { type: 'tool_search_output', call_id: null, execution: 'server', tools: [] }] }, ['user: hi']],
  ['a local shell', { input: [user('hi'), { type: 'local_shell_call', id: 'ls_1', call_id: 'c1', action: { type: 'exec', command: ['ls'] } }, { type: 'local_shell_call_output', id: 'c1', output: 'a b' }] }, ['user: hi', 'assistant: call c1 local_shell {"type":"exec","command":["ls"]}', 'user: result c1 "a b"']],
  ['a shell', { input: [user('hi'), { type: 'shell_call', call_id: 'c1', action: { commands: ['ls', 'x'] } }, { type: 'shell_call_output', call_id: 'c1', output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }, { stdout: '', stderr: 'e', outcome: { type: 'timeout' } }] }] }, ['user: hi', 'assistant: call c1 shell {"commands":["ls","x"]}', 'user: result c1 "a\\nexit code 0 | e\\ntimed out"']],
  ['a patch that failed', { input: [user('hi'), { type: 'apply_patch_call', call_id: 'c1', operation: { type: 'delete_file', path: 'a' } }, { type: 'apply_patch_call_output', call_id: 'c1', status: 'failed', output: 'no' }] }, ['user: hi', 'assistant: call c1 apply_patch {"type":"delete_file","path":"a"}', 'user: result c1 failed "no"']],
  ['what the provider ran', { input: [user('hi'), said('I search'), { type: 'web_search_call', id: 'ws_1', status: 'completed', action: {} }, { type: 'mcp_list_tools', tools: [] }, { type: 'computer_call', call_id: 'x' }, said('found')] }, ['user: hi', 'assistant: I search | gap | found']],
  ['a message between agents', { input: [user('hi'), { type: 'agent_message', author: '/root/a', recipient: '/root', content: [{ type: 'input_text', text: 'ready' }] }, { type: 'agent_message', author: 'a', content: [{ type: 'encrypted', data: 'x' }] }] }, ['user: hi', 'user: Message from /root/a:\nready']],
  ['tools in the middle', { input: [user('hi'), { type: 'additional_tools', role: 'developer', tools: [fn('f')] }] }, ['user: hi']],
]

describe('a conversation', () => {
  test.each(CONVERSATIONS)('is read from %s', (_what, body, expected) => {
    expect(told(body)).toEqual(expected)
  })

  test('keeps the path of each part', () => {
    const { turns } = requestOf({
      instructions: 'i',
      input: [user('hi'), said('a'), call('c1'), output('c1'), user('b')],
    })
    expect(turns.map(turn => turn.place)).toEqual(['instructions', 'input[0]', 'input[1]', 'input[3]', 'input[4]'])
  })
})

// biome-ignore format: one case per line
const ORDERS: [string, object[], string[]][] = [
  ['consecutive output is one turn', [user('hi'), said('a'), call('c1'), call('c2', 'g'), output('c1', '1'), output('c2', '2')], ['user: hi', 'assistant: a | call c1 f {} | call c2 g {}', 'user: result c1 "1" | result c2 "2"']],
  ['rounds of calls stay apart', [user('hi'), call('c1'), output('c1', '1'), call('c2'), output('c2', '2')], ['user: hi', 'assistant: call c1 f {}', 'user: result c1 "1"', 'assistant: call c2 f {}', 'user: result c2 "2"']],
  ['outputs in another order', [user('hi'), call('c1'), call('c2'), output('c2', '2'), output('c1', '1')], ['user: hi', 'assistant: call c1 f {} | call c2 f {}', 'user: result c1 "1" | result c2 "2"']],
  ['messages between a call and its output', [user('hi'), call('c1'), { role: 'developer', content: 'd' }, user('u'), output('c1')], ['user: hi', 'assistant: call c1 f {}', 'user: result c1 "ok"', 'system: d', 'user: u']],
  ['an answer between a call and its output', [user('hi'), call('c1'), user('u'), said('a'), output('c1')], ['user: hi', 'assistant: call c1 f {}', 'user: result c1 "ok"', 'user: u', 'assistant: a']],
  ['a call without its output', [user('hi'), call('c1'), user('u')], ['user: hi', 'assistant: call c1 f {}', 'user: result c1 failed "The output of this call is not known."', 'user: u']],
  ['a call at the end', [user('hi'), call('c1')], ['user: hi', 'assistant: call c1 f {}', 'user: result c1 failed "The output of this call is not known."']],
  ['an output without its call', [user('hi'), output('c9', 'x')], ['user: hi', 'user: Output of the tool call c9: | x']],
  ['an output before its call', [user('hi'), output('c1', 'x'), call('c1')], ['user: hi', 'user: Output of the tool call c1: | x', 'assistant: call c1 f {}', 'user: result c1 failed "The output of this call is not known."']],
  ['two outputs of one call', [user('hi'), call('c1'), output('c1', '1'), output('c1', '2')], ['user: hi', 'assistant: call c1 f {}', 'user: result c1 "1"', 'user: Output of the tool call c1: | 2']],
  ['ids that repeat', [user('hi'), call('c1'), output('c1', '1'), call('c1'), output('c1', '2')], ['user: hi', 'assistant: call c1 f {}', 'user: result c1 "1"', 'assistant: call c1 f {}', 'user: result c1 "2"']],
]

describe('the order of items', () => {
  test.each(ORDERS)('%s', (_what, items, expected) => {
    expect(toldItems(...items)).toEqual(expected)
  })

  test('never leads to a refusal', () => {
    const id = fc.constantFrom('a', 'b', 'c')
    const item = fc.oneof(
      id.map(each => call(each)),
      id.map(each => output(each)),
      fc.constantFrom(user('u'), said('s'), { role: 'developer', content: 'd' }),
    )
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 12 }), input => {
        const { turns, words } = requestOf({ input })
        const paired = pairResults(turns, words)
        const outputs = input.filter(each => 'output' in each).length
        const calls = input.filter(each => 'arguments' in each).length
        const parts = paired.flatMap(turn => turn.parts)
        expect(parts.filter(part => part.kind === 'result')).toHaveLength(calls)
        const orphans = parts.filter(part => part.kind === 'text' && part.text.startsWith('Output of'))
        const placeholders = parts.filter(part => part.kind === 'result' && part.isError)
        expect(outputs - orphans.length).toBe(calls - placeholders.length)
      }),
    )
  })
})

describe('reasoning', () => {
  const ours: Seal = { wire: 'messages', signature: 'EqQB' }
  const item = (rest: object) => ({ type: 'reasoning', id: 'rs_1', ...rest })
  const reasoning = (rest: object) => toldItems(user('hi'), item(rest), said('a'))[1]
  const summary = [
    { type: 'summary_text', text: 'one' },
    { type: 'summary_text', text: 'two' },
  ]

  // biome-ignore format: one case per line
  test.each<[string, object, string]>([
    ['a summary', { summary, content: null }, 'assistant: reasoning ["one","two"] | a'],
    ['raw text', { summary: [], content: [{ type: 'reasoning_text', text: 'raw' }] }, 'assistant: reasoning ["raw"] | a'],
    ['our own mark', { summary, encrypted_content: mark(ours) }, `assistant: reasoning ["one","two"] ${JSON.stringify(ours)} | a`],
    ['our own mark alone', { summary: [], encrypted_content: mark(ours) }, `assistant: reasoning [] ${JSON.stringify(ours)} | a`],
    ['our mark of another origin', { summary, encrypted_content: mark(ours, 'elsewhere') }, 'assistant: reasoning ["one","two"] | a'],
    ['a seal of another service', { summary, encrypted_content: 'gAAAAAB' }, 'assistant: reasoning ["one","two"] | a'],
    ['a seal of another service alone', { summary: [], encrypted_content: 'gAAAAAB' }, 'assistant: a'],
    ['nothing', {}, 'assistant: a'],
  ])('is read from %s', (_what, rest, expected) => {
    expect(reasoning(rest)).toBe(expected)
  })
})

describe('references', () => {
  const refer = (id: string) => ({ type: 'item_reference', id })
  const carried = (item: object) => carryingId('msg_', [item as JsonObject], sealer.seal)!

  test('to items that ids carry are resolved', () => {
    const id = carried({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'kept' }] })
    expect(toldItems(user('hi'), refer(id), call('c1'), output('c1'))).toEqual([
      'user: hi',
      'assistant: kept | call c1 f {}',
      'user: result c1 "ok"',
    ])
    expect(toldItems(user('hi'), { id })).toEqual(['user: hi', 'assistant: kept'])
  })

  test.each([['msg_1'], [''], [carried({ type: 'item_reference' })]])('to other items are refused', id => {
    const error = refusal({ input: [user('hi'), refer(id)] })
    expect(error.code).toBe('invalid_request')
    expect(error.message).toMatch(/^input\[1\]: /)
  })

  test('to missing reasoning are skipped', () => {
    expect(toldItems(user('hi'), refer('rs_1'), call('c1'), output('c1'))).toEqual([
      'user: hi',
      'assistant: call c1 f {}',
      'user: result c1 "ok"',
    ])
  })

  test('that cannot be resolved say what to do', () => {
    expect(refusal({ input: [user('hi'), refer('msg_1')] }).message).toBe(
      'input[1]: item_reference cannot be resolved, because this service stores no responses. Send the items themselves ' +
        '(set store to false in your client).',
    )
  })
})

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
    // The names stay the same in the next request, so that the provider's cache hits.
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
      words: _words,
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
      structure: { kind: 'schema', name: 'n', schema: { type: 'object' }, strict: true },
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
    ['a schema without a name', { text: { format: { type: 'json_schema', schema: {} } } }, { kind: 'schema', name: 'reply', schema: {}, strict: false }],
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
})

const only = (...input: unknown[]) => ({ input })
const withTool = (tool: unknown) => ({ input: 'hi', tools: [fn('f'), tool] })

// biome-ignore format: one case per line
const REFUSALS: [string, object, string][] = [
  ['no input', {}, 'input: expected a string or a list with at least one item'],
  ['an empty input', { input: [] }, 'input: expected a string or a list with at least one item'],
  ['input of a wrong type', { input: 7 }, 'input: Input should be a valid string or list'],
  ['an item of a wrong type', only('hi'), 'input[0]: expected an item, e.g. {"role": "user", "content": "…"}'],
  ['an unknown role', only({ role: 'critic', content: 'x' }), 'input[0].role: expected one of user, assistant, system, developer'],
  ['content of a wrong type', only(user(7)), 'input[0].content: expected a string or an array of content parts'],
  ['an unknown part', only(user([{ type: 'video' }])), 'input[0].content[0]: content parts of type "video" are not supported by this model'],
  ['a part without text', only(user([{ type: 'input_text', text: 7 }])), 'input[0].content[0].text: expected a string'],
  ['sound', only(user([{ type: 'input_audio' }])), 'input[0].content[0]: this model takes no audio; send text, images or files'],
  ['an image by file id', only(user([{ type: 'input_image', file_id: 'file_1' }])), 'input[0].content[0].file_id: file ids belong to one provider and cannot be used here; send the image as a data URL'],
  ['an image without data', only(user([{ type: 'input_image' }])), 'input[0].content[0].image_url: expected a data URL or an http(s) URL'],
  ['an image of another type', only(user([{ type: 'input_image', image_url: 'data:image/tiff;base64,AAAA' }])), 'input[0].content[0].image_url: expected a base64 image of type image/png, image/jpeg, image/gif or image/webp'],
  ['a file by id', only(user([{ type: 'input_file', file_id: 'file_1' }])), 'input[0].content[0].file_id: file ids belong to one provider and cannot be used here; send the content as file_data'],
  ['a file of another type', only(user([{ type: 'input_file', file_data: 'data:video/mp4;base64,AAAA' }])), 'input[0].content[0].file_data: files of type "video/mp4" are not supported; send a PDF, text or an image'],
  ['an image in an assistant message', only({ role: 'assistant', content: [{ type: 'input_image', image_url: 'https://a/b.png' }] }), 'input[0].content[0]: images and files are only allowed in user messages'],
  ['a call without an id', only({ type: 'function_call', name: 'f' }), 'input[0].call_id: expected the id of the call'],
  ['a call without a name', only({ type: 'function_call', call_id: 'c' }), 'input[0].name: expected the name of the tool'],
  ['an output without an id', only({ type: 'function_call_output', output: 'x' }), 'input[0].call_id: expected the id of the call'],
  ['custom tool input that is not a string', only({ type: 'custom_tool_call', call_id: 'c', name: 'n', input: {} }), 'input[0].input: expected a string'],
  ['history of another service', only(user('hi'), { type: 'compaction', encrypted_content: 'x' }), 'input[1]: compaction items can only be read by the service that created them; send the original items instead'],
  ['a request to compact', only(user('hi'), { type: 'compaction_trigger' }), 'input[1]: compaction is not supported; have your client ask the model for a summary'],
  ['an unknown item', only(user('hi'), user('a'), user('b'), { type: 'hologram' }), 'input[3]: items of type "hologram" are not supported by this model'],
  ['an item without a type', only({ a: 1 }), 'input[0]: items of type null are not supported by this model'],
  ['instructions that are not text', { instructions: [call('c')], input: 'hi' }, 'instructions[0]: expected a text message'],
  ['a stored conversation', { input: 'hi', conversation: 'conv_1' }, 'conversation: this service stores no conversations. Send the whole conversation in input.'],
  ['a stored prompt', { prompt: { id: 'p' } }, 'prompt: this service stores no prompts. Send the instructions and the input themselves.'],
  ['a background response', { input: 'hi', background: true }, 'background: background responses are not supported; leave the field out, and set stream: true for long replies'],
  ['a tool of a wrong type', withTool('f'), 'tools[1]: expected a tool, e.g. {"type": "function", "name": "…"}'],
  ['a tool without a name', withTool({ type: 'function' }), 'tools[1].name: expected the name of the tool'],
  ['a provider-run tool', withTool({ type: 'mcp' }), 'tools[1]: tools of type mcp are run by the provider and are not offered for this model; declare a function tool instead'],
  ['a computer', withTool({ type: 'computer_use_preview' }), 'tools[1]: tools of type computer_use_preview are run by the provider and are not offered for this model; declare a function tool instead'],
  ['a tool that only some models know', withTool({ type: 'apply_patch' }), 'tools[1]: tools of type apply_patch are run by your client, but this model does not know their definition; declare a function tool instead'],
  ['an unknown tool', withTool({ type: 'hologram' }), 'tools[1]: tools of type hologram are not supported; declare a function tool instead'],
  ['a wrong type of tool in a namespace', withTool({ type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }), 'tools[1].tools[0].type: expected "function" or "custom", not "web_search"'],
  ['a provider-run tool in an item', only(user('hi'), { type: 'additional_tools', tools: [{ type: 'mcp' }] }), 'input[1].tools[0]: tools of type mcp are run by the provider and are not offered for this model; declare a function tool instead'],
  ['a choice of a missing tool', { input: 'hi', tools: [fn('f')], tool_choice: { type: 'function', name: 'g' } }, 'tool_choice.name: there is no tool "g" among the tools'],
  ['a choice of a provider-run tool', { input: 'hi', tools: [fn('f')], tool_choice: { type: 'web_search_preview' } }, 'tool_choice: a tool of type "web_search_preview" cannot be forced on this model; name a function or custom tool'],
  ['a forced choice without tools', { input: 'hi', tools: [{ type: 'web_search' }], tool_choice: 'required' }, 'tool_choice: none of the tools is offered for this model'],
  ['a required choice among no tools', { input: 'hi', tools: [fn('f')], tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] } }, 'tool_choice.tools: none of these tools is offered for this model'],
  ['an unknown choice', { input: 'hi', tools: [fn('f')], tool_choice: 'maybe' }, 'tool_choice: expected "auto", "none", "required" or a tool'],
  ['an unknown format', { input: 'hi', text: { format: { type: 'grammar' } } }, 'text.format.type: expected "text", "json_object" or "json_schema"'],
  ['a number as a string', { input: 'hi', temperature: '1' }, 'temperature: Input should be a valid number'],
  ['half a token', { input: 'hi', max_output_tokens: 1.5 }, 'max_output_tokens: Input should be a valid integer'],
  ['a schema as a string', withTool({ type: 'function', name: 'g', parameters: '{}' }), 'tools[1].parameters: Input should be a valid object'],
]

describe('refusals', () => {
  test.each(REFUSALS)('%s', (_what, body, message) => {
    const error = refusal(body)
    expect(error.code).toBe('invalid_request')
    expect(error.message).toBe(message)
  })

  test('refuses previous_response_id in words that clients know', () => {
    const error = refusal({ input: 'hi', previous_response_id: 'resp_1' })
    expect([error.status, error.code, error.details.param]).toEqual([
      400,
      'previous_response_not_found',
      'previous_response_id',
    ])
    expect(error.message).toBe(
      'previous_response_id is not supported: this service stores no responses. Send the whole conversation in input.',
    )
  })

  test('either reads or refuses a body with a message, whatever it contains', () => {
    const key = fc.constantFrom(
      '__proto__',
      'constructor',
      'type',
      'role',
      'content',
      'id',
      'call_id',
      'name',
      'tools',
      'output',
      'text',
      'x',
    )
    const word = fc.constantFrom(
      'message',
      'function_call',
      'function_call_output',
      'custom_tool_call',
      'reasoning',
      'item_reference',
      'tool_search_output',
      'shell_call_output',
      'additional_tools',
      'namespace',
      'custom',
      'function',
      'user',
      'assistant',
      'input_text',
      'input_image',
      'input_file',
      'allowed_tools',
      'json_schema',
      'data:,x',
      '',
      'x',
    )
    const value = anyJson(key, word)
    const top = fc.constantFrom(
      'input',
      'instructions',
      'tools',
      'tool_choice',
      'text',
      'reasoning',
      'include',
      'user',
      'metadata',
    )
    fc.assert(
      fc.property(fc.dictionary(top, value, { maxKeys: 4 }), fc.array(value, { maxLength: 4 }), (fields, items) => {
        for (const body of [fields, { ...fields, input: items }]) {
          try {
            read(JSON.parse(JSON.stringify(body)) as JsonObject)
          } catch (error) {
            expect(error).toBeInstanceOf(GatewayError)
            expect((error as GatewayError).code).toBe('invalid_request')
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  test('keys of any name are data', () => {
    const args = '{"__proto__":{"a":1}}'
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as JsonValue
    const { tools, turns } = requestOf({
      input: [user('hi'), call('c1', '__proto__', args), output('c1')],
      tools: [fn('__proto__', { parameters: schema })],
    })
    expect(JSON.stringify(turns[1]?.parts[0])).toContain('"input":{"__proto__":{"a":1}}')
    expect(JSON.stringify(tools.definitions[0]?.schema)).toBe(JSON.stringify(schema))
    expect(tools.definitions[0]?.name).toBe('__proto__')
  })
})
