/** Responses requests that are refused, and bodies of random shape. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import type { JsonObject, JsonValue } from '../../src/lib/json.ts'
import { anyJson } from '../support/any-json.ts'
import { call, fn, output, read, refusal, requestOf, user } from './responses-request-support.ts'

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
  ['sound', only(user([{ type: 'input_audio' }])), 'input[0].content[0]: this model does not accept audio; send text, images or files'],
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
  ['a provider-run tool', withTool({ type: 'mcp' }), 'tools[1]: tools of type mcp are run by the provider and are not available with this model; declare a function tool instead'],
  ['a computer', withTool({ type: 'computer_use_preview' }), 'tools[1]: tools of type computer_use_preview are run by the provider and are not available with this model; declare a function tool instead'],
  ['a tool that only some models know', withTool({ type: 'apply_patch' }), 'tools[1]: tools of type apply_patch are run by your client, but this model does not know their definition; declare a function tool instead'],
  ['an unknown tool', withTool({ type: 'hologram' }), 'tools[1]: tools of type hologram are not supported; declare a function tool instead'],
  ['a wrong type of tool in a namespace', withTool({ type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }), 'tools[1].tools[0].type: expected "function" or "custom", not "web_search"'],
  ['a provider-run tool in an item', only(user('hi'), { type: 'additional_tools', tools: [{ type: 'mcp' }] }), 'input[1].tools[0]: tools of type mcp are run by the provider and are not available with this model; declare a function tool instead'],
  ['a choice of a missing tool', { input: 'hi', tools: [fn('f')], tool_choice: { type: 'function', name: 'g' } }, 'tool_choice.name: there is no tool "g" among the tools'],
  ['a choice of a provider-run tool', { input: 'hi', tools: [fn('f')], tool_choice: { type: 'web_search_preview' } }, 'tool_choice: this model cannot be forced to call a tool of type "web_search_preview"; name a function or custom tool'],
  ['a forced choice without tools', { input: 'hi', tools: [{ type: 'web_search' }], tool_choice: 'required' }, 'tool_choice: none of the tools is available with this model'],
  ['a required choice among no tools', { input: 'hi', tools: [fn('f')], tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] } }, 'tool_choice.tools: none of these tools is available with this model'],
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
