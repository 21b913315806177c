/**
 * How Responses request bodies are adapted to an upstream's dialect. Some cases hold for same-format and converted calls alike,
 * others only for same-format calls.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DialectFacts as Words } from '../../codegen/generated/types.ts'
import { carryingId } from '../../src/conversation/carried-items.ts'
import { type FormatPath, NOTHING_TO_UNDO } from '../../src/dialect/types.ts'
import { GatewayError } from '../../src/errors.ts'
import { encodeText } from '../../src/lib/byte-text.ts'
import type { JsonObject, JsonValue } from '../../src/lib/json.ts'
import { anyJson } from '../support/any-json.ts'
import {
  adapt,
  assistant,
  call,
  converted,
  DEEPSEEK,
  file,
  fn,
  image,
  OPENAI,
  output,
  pdf,
  same,
  signer,
  system,
  text,
  tools,
  user,
} from './responses-support.ts'

/** What a model is told if no tool can be forced. */
const ASKED = { instructions: 'Reply with a call of one of your tools, not with text.' }

/** Case name, the upstream's dialect words, body before and body after. Each case holds for same-format and converted calls. */
// biome-ignore format: one case per line
const BOTH: [string, Words, object, object][] = [
  ['a cap is lowered to the model’s limit', {}, { max_output_tokens: 5000 }, { max_output_tokens: 1000 }],
  ['a cap is raised to the host’s minimum', { output: { cap_min: 16 } }, { max_output_tokens: 3 }, { max_output_tokens: 16 }],
  ['sampling parameters are removed where none are accepted', { sampling: { parameters: null } }, { temperature: 1, top_p: 1, top_logprobs: 2, user: 'u' }, { user: 'u' }],
  ['the temperature is clamped', { sampling: { temperature_max: 1 } }, { temperature: 1.5, top_p: 0.5 }, { temperature: 1, top_p: 0.5 }],
  ['of two parameters, the temperature stays', { sampling: { parameters: 'temperature_xor_top_p' } }, { temperature: 0.5, top_p: 0.5 }, { temperature: 0.5 }],
  ['top_k is removed', {}, { top_k: 5 }, {}],
  ['sampling parameters are removed while the model reasons', { ...DEEPSEEK, sampling: { parameters: 'all_unless_thinking' } }, { temperature: 0.5 }, {}],
  ['an effort becomes the nearest level', OPENAI, { reasoning: { effort: 'max' } }, { reasoning: { effort: 'high' } }],
  ['an effort that is accepted stays', OPENAI, { reasoning: { effort: 'low' } }, { reasoning: { effort: 'low' } }],
  ['an effort is removed where none is accepted', {}, { reasoning: { effort: 'low' } }, {}],
  ['an effort is removed if there are tools', { reasoning: { ...OPENAI.reasoning, beside_tools: 'refused' } }, { reasoning: { effort: 'low' }, tools }, { tools }],
  ['an effort stays without tools', { reasoning: { ...OPENAI.reasoning, beside_tools: 'refused' } }, { reasoning: { effort: 'low' } }, { reasoning: { effort: 'low' } }],
  ['with tools, the effort is explicitly none', { reasoning: { ...OPENAI.reasoning, beside_tools: 'explicit_none' } }, { tools }, { tools, reasoning: { effort: 'none' } }],
  ['reasoning is off', OPENAI, { reasoning: { effort: 'none' } }, { reasoning: { effort: 'none' } }],
  ['reasoning can be off if another format has a switch', DEEPSEEK, { reasoning: { effort: 'none' } }, { reasoning: { effort: 'none' } }],
  ['reasoning gets the lowest effort where it cannot be off', { reasoning: { parameter: 'reasoning_effort', levels: ['low', 'high'], disable: 'refused' } }, { reasoning: { effort: 'none' } }, { reasoning: { effort: 'low' } }],
  ['a tool cannot be forced', { tools: { forced: 'refused' } }, { tools, tool_choice: 'required' }, { tools, tool_choice: 'auto', ...ASKED }],
  ['a named tool cannot be forced', { tools: { forced: 'refused' } }, { tools, tool_choice: { type: 'function', name: 'f' } }, { tools, tool_choice: 'auto', instructions: 'Reply with a call of the tool f, not with text.' }],
  ['a set of tools cannot be forced', { tools: { forced: 'refused' } }, { tools, tool_choice: { type: 'allowed_tools', mode: 'required', tools: [] } }, { tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] }, ...ASKED }],
  ['only a named tool can be forced', { tools: { forced: 'named_only' } }, { tools, tool_choice: 'required' }, { tools, tool_choice: { type: 'function', name: 'f' } }],
  ['of several tools none is named', { tools: { forced: 'named_only' } }, { tools: [...tools, ...tools], tool_choice: 'required' }, { tools: [...tools, ...tools], tool_choice: 'auto', ...ASKED }],
  ['a forced tool switches reasoning off', { ...DEEPSEEK, tools: { forced: 'not_with_thinking' } }, { tools, tool_choice: 'required' }, { tools, tool_choice: 'required', reasoning: { effort: 'none' } }],
  ['a tool is not forced if reasoning cannot be switched off', { reasoning: { parameter: null, by_default: true }, tools: { forced: 'not_with_thinking' } }, { tools, tool_choice: 'required' }, { tools, tool_choice: 'auto', ...ASKED }],
  ['the parallel flag is removed', { tools: { parallel_flag: false } }, { tools, parallel_tool_calls: false }, { tools }],
  ['strict is removed', { tools: { strict: 'drop' } }, { tools: [fn('f', { strict: true })] }, { tools: [fn('f')] }],
  ['the meta schema is removed', { tools: { schema: 'no_meta_schema' } }, { tools: [fn('f', { strict: false, parameters: { $schema: 'x', type: 'object', properties: {} } })] }, { tools }],
  ['the end user is removed', { end_user: { field: null } }, { user: 'u', safety_identifier: 's' }, {}],
  ['an end user that is too long is hashed', { end_user: { length_max: 8 } }, { safety_identifier: 'x'.repeat(9) }, { safety_identifier: expect.stringMatching(/^[0-9a-f]{8}$/) }],
  ['developer messages become system messages', { turns: { system_role: 'system' } }, { input: [system('a'), user('hi')] }, { input: [system('a', 'system'), user('hi')] }],
  ['later instructions stay', OPENAI, { input: [user('hi'), system('a'), user('x')] }, { input: [user('hi'), system('a'), user('x')] }],
  ['later instructions move up', { turns: { ...OPENAI.turns, mid_system: 'hoist' } }, { input: [system('a'), user('hi'), system('b'), assistant('x')] }, { input: [system('a'), system('b'), user('hi'), assistant('x')] }],
  ['later instructions become user text', { turns: { ...OPENAI.turns, mid_system: 'user_text' } }, { input: [system('a'), user('hi'), system('b')] }, { input: [system('a'), user('hi'), { ...system('b'), role: 'user' }] }],
  ['a trailing answer is followed by a user turn', { turns: { ...OPENAI.turns, prefill: 'user_turn' } }, { input: [user('a'), assistant('x')] }, { input: [user('a'), assistant('x'), user([text('Continue.')])] }],
  ['documents become notes', { content: { documents: 'placeholder' } }, { input: [user([pdf, text('?')])] }, { input: [user([text('[document a.x omitted: this model does not accept documents]'), text('?')])] }],
  ['text documents become text', { content: { documents: 'placeholder' } }, { input: [user([file('data:text/plain;base64,aGk=')])] }, { input: [user([text('a.x\n\nhi')])] }],
  ['images in results move to the next user message', {}, { input: [call('c'), output('c', [text('see'), image]), user('?')] }, { input: [call('c'), output('c', 'see\n[image: see the next user message]'), user([text('Attached to the result of tool call c:'), image, text('?')])] }],
  ['images in results get a message of their own', {}, { input: [call('c'), call('d'), output('c', [image]), output('d'), assistant('x')] }, { input: [call('c'), call('d'), output('c', '[image: see the next user message]'), output('d'), user([text('Attached to the result of tool call c:'), image]), assistant('x')] }],
  ['images in the last results, too', {}, { input: [call('c'), output('c', [image])] }, { input: [call('c'), output('c', '[image: see the next user message]'), user([text('Attached to the result of tool call c:'), image])] }],
  ['images in results become notes', { tools: { result_images: 'placeholder' } }, { input: [call('c'), output('c', [text('see'), pdf])] }, { input: [call('c'), output('c', 'see\n[document: omitted]')] }],
  ['images in results stay', OPENAI, { input: [call('c'), output('c', [image])] }, { input: [call('c'), output('c', [image])] }],
  ['call ids that are too long', {}, { input: [call('x'.repeat(70)), output('x'.repeat(70))] }, { input: [call(expect.stringMatching(/^x{47}_/) as never), output(expect.stringMatching(/^x{47}_/) as never)] }],
  ['call ids in the host’s form', { tools: { call_id: 'alphanumeric_9' } }, { input: [call('call_1'), output('call_1')] }, { input: [call(expect.stringMatching(/^[0-9a-f]{9}$/) as never), output(expect.stringMatching(/^[0-9a-f]{9}$/) as never)] }],
  ['reasoning is put before every call', DEEPSEEK, { input: [user('hi'), { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'why' }] }, call('a'), call('b'), output('a'), output('b'), call('c'), output('c')] }, { input: [user('hi'), { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'why' }] }, call('a'), { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'why' }] }, call('b'), output('a'), output('b'), { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: '' }] }, call('c'), output('c')] }],
  ['reasoning that is text stays', DEEPSEEK, { input: [{ type: 'reasoning', content: [{ type: 'reasoning_text', text: 'why' }] }, assistant('x'), call('a'), output('a')] }, { input: [{ type: 'reasoning', content: [{ type: 'reasoning_text', text: 'why' }] }, assistant('x'), { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'why' }] }, call('a'), output('a')] }],
  ['unknown reasoning becomes the host’s placeholder', { ...DEEPSEEK, reasoning: { ...DEEPSEEK.reasoning, echo_placeholder: '…' } }, { input: [call('a'), output('a')] }, { input: [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: '…' }] }, call('a'), output('a')] }],
  ['reasoning is sent where it is known', { ...DEEPSEEK, reasoning: { ...DEEPSEEK.reasoning, echo: 'if_present' } }, { input: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'why' }] }, call('a'), output('a'), call('b'), output('b')] }, { input: [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'why' }] }, call('a'), output('a'), call('b'), output('b')] }],
]

describe('for same-format and converted calls', () => {
  test.each(BOTH)('%s', (_what, words, before, after) => {
    expect(same(before, words)).toEqual(after)
    expect(converted(before, words)).toEqual(after)
  })

  test('a body that fits stays as it is, in every part', () => {
    const body = {
      model: 'm',
      instructions: 'i',
      input: [
        user('hi'),
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
        call('c'),
        output('c'),
      ],
      tools,
      tool_choice: 'required',
      reasoning: { effort: 'high', summary: 'auto', context: 'x' },
      include: ['reasoning.encrypted_content'],
      store: true,
      previous_response_id: 'resp_1',
      temperature: 1,
      unknown: { __proto__: null },
    }
    const { body: sent, reply } = adapt(body, OPENAI, 'same')
    expect(sent).toBe(body)
    expect(reply).toBe(NOTHING_TO_UNDO)
    expect(converted(body)).toEqual(body)
  })

  test('the output cap from the wallet applies if there is no other', () => {
    expect(same({}, OPENAI, { outputTokensAfforded: 500 })).toEqual({ max_output_tokens: 500 })
    expect(converted({}, OPENAI, { outputTokensAfforded: 5000 })).toEqual({ max_output_tokens: 1000 })
    expect(same({ max_output_tokens: 5 }, OPENAI, { outputTokensAfforded: 500 })).toEqual({ max_output_tokens: 5 })
  })

  test.each<[FormatPath]>([['same'], ['converted']])('images that the model does not accept: %s', path => {
    const body = { input: [user('x'), user([image]), call('c'), output('c', [image])] }
    const words: Words = { ...OPENAI, content: { images_unsupported: 'placeholder' } }
    const note = text('[image omitted: this model does not accept images]')
    expect(adapt(body, words, path, { hasVision: false }).body).toEqual({
      input: [user('x'), user([note]), call('c'), output('c', [note])],
    })
    expect(() => adapt(body, OPENAI, path, { hasVision: false })).toThrow(
      new GatewayError('invalid_request', {
        message: 'capability_rejected: image_block (input[1]: this model does not accept images)',
      }),
    )
    const byUrl = { input: [user([{ type: 'input_image', image_url: 'https://a/b.png' }])] }
    expect(adapt(byUrl, OPENAI, path).body).toBe(byUrl)
    expect(() => adapt(byUrl, { content: { image_url: 'reject' } }, path)).toThrow(
      new GatewayError('invalid_request', {
        message: 'input[0]: this model does not accept image URLs; send the image as base64',
      }),
    )
    expect(() => adapt({ input: [user([pdf])] }, { content: { documents: 'reject' } }, path)).toThrow(
      new GatewayError('invalid_request', {
        message: 'capability_rejected: document_block (input[0]: this model does not accept documents)',
      }),
    )
  })

  test.each<[FormatPath]>([['same'], ['converted']])(
    'names of tools that are too long, wherever they stand: %s',
    path => {
      const long = 'x'.repeat(70)
      const body = {
        input: [
          { type: 'additional_tools', role: 'developer', tools: [{ type: 'custom', name: long }] },
          call('c', long),
          output('c'),
          { type: 'custom_tool_call', call_id: 'd', name: 'y'.repeat(70), input: '' },
        ],
        tools: [fn(long, { strict: false }), { type: 'namespace', name: long, tools: [fn(long, { strict: false })] }],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: long }] },
      }
      const { body: sent, reply } = adapt(body, OPENAI, path)
      const name = reply.names!.upstream(long)
      expect(name).toMatch(/^x{55}_[0-9a-f]{8}$/)
      expect(reply.names!.client(name)).toBe(long)
      const others = reply.names!.upstream('y'.repeat(70))
      expect(sent).toEqual({
        input: [
          { type: 'additional_tools', role: 'developer', tools: [{ type: 'custom', name }] },
          call('c', name),
          output('c'),
          { type: 'custom_tool_call', call_id: 'd', name: others, input: '' },
        ],
        tools: [fn(name, { strict: false }), { type: 'namespace', name: long, tools: [fn(name, { strict: false })] }],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name }] },
      })
    },
  )

  test('no shape of a body causes a failure', () => {
    const key = fc.constantFrom(
      'type',
      'role',
      'content',
      'id',
      'call_id',
      'name',
      'tools',
      'output',
      '__proto__',
      'effort',
      'summary',
      'encrypted_content',
    )
    const word = fc.constantFrom(
      'message',
      'function_call',
      'function_call_output',
      'reasoning',
      'item_reference',
      'namespace',
      'function',
      'user',
      'developer',
      'assistant',
      'input_image',
      'input_file',
      'x',
      'low',
    )
    const value = anyJson(key, word)
    const top = fc.constantFrom(
      'input',
      'instructions',
      'tools',
      'tool_choice',
      'reasoning',
      'user',
      'temperature',
      'max_output_tokens',
    )
    const words = fc.constantFrom<Words>(OPENAI, DEEPSEEK, {
      content: { documents: 'reject' },
      turns: { mid_system: 'hoist' },
    })
    fc.assert(
      fc.property(
        fc.dictionary(top, value, { maxKeys: 5 }),
        words,
        fc.constantFrom<FormatPath>('same', 'converted'),
        (fields, facts, path) => {
          const body = JSON.parse(JSON.stringify(fields)) as JsonObject
          try {
            adapt(body, facts, path, { structure: null })
          } catch (error) {
            expect(error).toBeInstanceOf(GatewayError)
          }
        },
      ),
      { numRuns: 400 },
    )
  })
})

describe('for same-format calls', () => {
  // biome-ignore format: one case per line
  test.each<[string, Words, object, object]>([
    ['an invalid cap is left for the host to refuse', OPENAI, { max_output_tokens: -5 }, { max_output_tokens: -5 }],
    ['a future level is left for the host to judge', OPENAI, { reasoning: { effort: 'ultra' } }, { reasoning: { effort: 'ultra' } }],
    ['other reasoning settings stay', OPENAI, { reasoning: { effort: 'max', summary: 'auto', mode: 'x' } }, { reasoning: { effort: 'high', summary: 'auto', mode: 'x' } }],
    ['a schema that is not strict is left for the host to refuse', OPENAI, { tools: [fn('f', { strict: true })] }, { tools: [fn('f', { strict: true })] }],
    ['a format that the host supports stays', OPENAI, { text: { format: { type: 'json_schema', name: 'n', schema: {} } } }, { text: { format: { type: 'json_schema', name: 'n', schema: {} } } }],
    ['a schema is described in the prompt', { structured_output: { method: 'prompt' }, turns: { system_role: 'instructions' } }, { instructions: 'i', text: { format: { type: 'json_schema', name: 'n', schema: {} } }, input: 'hi' }, { instructions: expect.stringMatching(/^i\n\nReply with one JSON object/), input: 'hi' }],
    ['a schema becomes JSON mode and a description', { structured_output: { method: 'json_object' } }, { text: { format: { type: 'json_schema', name: 'n', schema: {} }, verbosity: 'low' }, input: [system('s', 'system'), user('hi')] }, { text: { format: { type: 'json_object' }, verbosity: 'low' }, input: [system('s', 'system'), system(expect.stringMatching(/^Reply with/) as never, 'system'), user('hi')] }],
    ['JSON mode that the host supports stays', { structured_output: { method: 'json_object' } }, { text: { format: { type: 'json_object' } } }, { text: { format: { type: 'json_object' } } }],
  ])('%s', (_what, words, before, after) => {
    expect(same(before, words)).toEqual(after)
  })

  test('envelopes of this gateway never reach the provider', () => {
    const envelope = signer.wrap({ origin: 'o', seal: {} })
    const summary = [{ type: 'summary_text', text: 's' }]
    const kept = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'kept' }] }
    const id = carryingId('msg_', [encodeText(JSON.stringify(kept))], signer.wrapJson)!
    const own = { type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'gAAAA' }
    const reference = { type: 'item_reference', id: 'msg_theirs' }
    const input = [
      user('hi'),
      { type: 'reasoning', id: 'rs_2', summary, encrypted_content: envelope },
      { type: 'reasoning', id: 'rs_3', summary, encrypted_content: `${envelope.slice(0, -4)}AAAA` },
      own,
      { type: 'item_reference', id },
      { id },
      { ...kept, id },
      reference,
    ]
    expect(same({ input })).toEqual({ input: [user('hi'), own, kept, kept, reference] })
  })

  test('an id that carries other items is replaced with them', () => {
    const kept = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'kept' }] }
    const id = carryingId('rs_', [encodeText(JSON.stringify(kept))], signer.wrapJson)!
    const refer = (to: string) => ({ type: 'item_reference', id: to })
    expect(same({ input: [user('hi'), refer('msg_1'), refer(id), refer('msg_2')] })).toEqual({
      input: [user('hi'), kept, refer('msg_2')],
    })
    expect(same({ input: [user('hi'), { type: 'reasoning', id, summary: [] }, assistant('x')] })).toEqual({
      input: [user('hi'), assistant('x')],
    })
  })

  test('reasoning without a seal stays if responses are stored', () => {
    const body = { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }, assistant('x')] }
    expect(same(body)).toBe(body)
  })

  test('and is dropped if nothing is stored, because a provider that seals cannot find it by id', () => {
    const bare: JsonValue = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'a' }] }
    const sealed: JsonValue = { ...bare, id: 'rs_2', encrypted_content: 'gAAAA' }
    const body = { store: false, input: [bare, sealed, assistant('x')] }
    expect(same(body)).toEqual({ store: false, input: [sealed, assistant('x')] })
    const unsealing = { ...body, input: [sealed, assistant('x')] }
    expect(same(unsealing)).toBe(unsealing)
    expect(adapt(body, { reasoning: { sealed: false } }, 'same').body).toBe(body)
  })
})
