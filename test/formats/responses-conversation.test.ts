/** Reading Responses requests: turns, the order of items, reasoning and references. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { carryingId } from '../../src/conversation/carried-items.ts'
import type { Seal } from '../../src/conversation/envelope.ts'
import { pairResults } from '../../src/conversation/pairing.ts'
import { encodeText } from '../../src/lib/byte-text.ts'
import {
  assistant,
  call,
  envelope,
  fn,
  output,
  refusal,
  requestOf,
  signer,
  told,
  toldItems,
  user,
} from './responses-request-support.ts'

// biome-ignore format: one case per line
const CONVERSATIONS: [string, object, string[]][] = [
  ['a text', { input: 'hi' }, ['user: hi']],
  ['instructions before the input', { instructions: 'be brief', input: 'hi' }, ['system: be brief', 'user: hi']],
  ['instructions as items', { instructions: [{ role: 'developer', content: 'one' }, { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'two' }] }], input: 'hi' }, ['system: one', 'system: two', 'user: hi']],
  ['developer messages of a coding agent', { instructions: 'i', input: [{ role: 'developer', content: 'd1' }, { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'd2' }] }, user('<environment_context/>')] }, ['system: i', 'system: d1', 'system: d2', 'user: <environment_context/>']],
  ['parts of a user message', { input: [user([{ type: 'input_text', text: 'a' }, { type: 'input_text', text: '' }, 'b'])] }, ['user: a | b']],
  ['empty messages', { input: [user(''), user([]), { role: 'assistant', content: [] }, user('hi')] }, ['user: hi']],
  ['an answer in several messages', { input: [user('hi'), { ...assistant('let me look'), phase: 'commentary' }, { ...assistant('done'), phase: 'final_answer' }, user('thanks')] }, ['user: hi', 'assistant: let me look | gap | done', 'user: thanks']],
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
  ['what the provider ran', { input: [user('hi'), assistant('I search'), { type: 'web_search_call', id: 'ws_1', status: 'completed', action: {} }, { type: 'mcp_list_tools', tools: [] }, { type: 'computer_call', call_id: 'x' }, assistant('found')] }, ['user: hi', 'assistant: I search | gap | found']],
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
      input: [user('hi'), assistant('a'), call('c1'), output('c1'), user('b')],
    })
    expect(turns.map(turn => turn.place)).toEqual(['instructions', 'input[0]', 'input[1]', 'input[3]', 'input[4]'])
  })
})

// biome-ignore format: one case per line
const ORDERS: [string, object[], string[]][] = [
  ['consecutive output is one turn', [user('hi'), assistant('a'), call('c1'), call('c2', 'g'), output('c1', '1'), output('c2', '2')], ['user: hi', 'assistant: a | call c1 f {} | call c2 g {}', 'user: result c1 "1" | result c2 "2"']],
  ['rounds of calls stay apart', [user('hi'), call('c1'), output('c1', '1'), call('c2'), output('c2', '2')], ['user: hi', 'assistant: call c1 f {}', 'user: result c1 "1"', 'assistant: call c2 f {}', 'user: result c2 "2"']],
  ['outputs in another order', [user('hi'), call('c1'), call('c2'), output('c2', '2'), output('c1', '1')], ['user: hi', 'assistant: call c1 f {} | call c2 f {}', 'user: result c1 "1" | result c2 "2"']],
  ['messages between a call and its output', [user('hi'), call('c1'), { role: 'developer', content: 'd' }, user('u'), output('c1')], ['user: hi', 'assistant: call c1 f {}', 'user: result c1 "ok"', 'system: d', 'user: u']],
  ['an answer between a call and its output', [user('hi'), call('c1'), user('u'), assistant('a'), output('c1')], ['user: hi', 'assistant: call c1 f {}', 'user: result c1 "ok"', 'user: u', 'assistant: a']],
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
      fc.constantFrom(user('u'), assistant('s'), { role: 'developer', content: 'd' }),
    )
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 12 }), input => {
        const { turns, clientErrors } = requestOf({ input })
        const paired = pairResults(turns, clientErrors)
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
  const reasoning = (rest: object) => toldItems(user('hi'), item(rest), assistant('a'))[1]
  const summary = [
    { type: 'summary_text', text: 'one' },
    { type: 'summary_text', text: 'two' },
  ]

  // biome-ignore format: one case per line
  test.each<[string, object, string]>([
    ['a summary', { summary, content: null }, 'assistant: reasoning ["one","two"] | a'],
    ['raw text', { summary: [], content: [{ type: 'reasoning_text', text: 'raw' }] }, 'assistant: reasoning ["raw"] | a'],
    ['our own envelope', { summary, encrypted_content: envelope(ours) }, `assistant: reasoning ["one","two"] ${JSON.stringify(ours)} | a`],
    ['our own envelope alone', { summary: [], encrypted_content: envelope(ours) }, `assistant: reasoning [] ${JSON.stringify(ours)} | a`],
    ['our envelope of another origin', { summary, encrypted_content: envelope(ours, 'elsewhere') }, 'assistant: reasoning ["one","two"] | a'],
    ['a seal of another service', { summary, encrypted_content: 'gAAAAAB' }, 'assistant: reasoning ["one","two"] | a'],
    ['a seal of another service alone', { summary: [], encrypted_content: 'gAAAAAB' }, 'assistant: a'],
    ['nothing', {}, 'assistant: a'],
  ])('is read from %s', (_what, rest, expected) => {
    expect(reasoning(rest)).toBe(expected)
  })
})

describe('references', () => {
  const refer = (id: string) => ({ type: 'item_reference', id })
  const carried = (item: object) => carryingId('msg_', [encodeText(JSON.stringify(item))], signer.wrapJson)!

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
