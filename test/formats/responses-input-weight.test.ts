/** Which parts of a responses request count towards its input tokens. */

import { expect, test } from 'vitest'
import { noInput } from '../../src/conversation/input-weight.ts'
import { weighInput } from '../../src/formats/responses/input-weight.ts'
import type { JsonObject } from '../../src/lib/json.ts'

const weightOf = (body: object) => weighInput(body as JsonObject)
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAMAAAAECAYAAACnfQsTAAAADElEQVR42mNgIBcAAAA0AAGfqfF4AAAAAElFTkSuQmCC'
const PDF = Buffer.from('/Type /Page /Type /Page').toString('base64')
const of = (...input: unknown[]) => weightOf({ input })

// biome-ignore format: one case per line
test.each<[string, ReturnType<typeof weightOf>, object]>([
  ['a text', weightOf({ input: 'hi' }), { turns: 1, texts: ['hi'] }],
  ['instructions', weightOf({ instructions: 'i', input: 'hi' }), { turns: 2, texts: ['i', 'hi'] }],
  ['a message', of({ role: 'user', content: 'a' }, { role: 'user', content: [{ type: 'input_text', text: 'b' }, 'c'] }), { turns: 2, texts: ['a', 'b', 'c'] }],
  ['a refusal', of({ role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }), { turns: 1, texts: ['no'] }],
  ['reasoning', of({ type: 'reasoning', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'gAAAA' }), { turns: 1, texts: ['s'] }],
  ['a call and its output', of({ type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' }, { type: 'function_call_output', call_id: 'c', output: 'ok' }), { turns: 2, texts: ['f', '{"a":1}', 'ok'] }],
  ['a custom call', of({ type: 'custom_tool_call', call_id: 'c', name: 'p', input: 'raw' }), { turns: 1, texts: ['p', 'raw'] }],
  ['a tool search', of({ type: 'tool_search_call', call_id: 'c', arguments: { q: 1 } }), { turns: 1, texts: ['{"q":1}'] }],
  ['a shell', of({ type: 'shell_call', call_id: 'c', action: { commands: ['ls'] } }, { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'a', stderr: '' }] }), { turns: 2, texts: ['{"commands":["ls"]}', 'a', ''] }],
  ['an image', of({ role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${PNG}` }] }), { turns: 1, images: [{ width: 3, height: 4 }] }],
  ['an image URL', of({ role: 'user', content: [{ type: 'input_image', image_url: 'https://a/b.png' }] }), { turns: 1, images: [null] }],
  ['an image in an output', of({ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: 'https://a/b.png' }] }), { turns: 1, images: [null] }],
  ['a document', of({ role: 'user', content: [{ type: 'input_file', file_data: `data:application/pdf;base64,${PDF}` }] }), { turns: 1, documentPages: 2 }],
  ['a document in bare base64', of({ role: 'user', content: [{ type: 'input_file', file_data: PDF }] }), { turns: 1, documentPages: 2 }],
  ['a document by URL', of({ role: 'user', content: [{ type: 'input_file', file_url: 'https://a/b.pdf' }] }), { turns: 1, documentPages: 1 }],
  ['a text file', of({ role: 'user', content: [{ type: 'input_file', file_data: 'data:text/plain;base64,aGk=' }] }), { turns: 1, texts: ['hi'] }],
  ['tools', weightOf({ tools: [{ type: 'function', name: 'f' }, { type: 'namespace', name: 'n', tools: [{ name: 'a' }, { name: 'b' }] }] }), { tools: 3, texts: ['{"type":"function","name":"f"}', '{"type":"namespace","name":"n","tools":[{"name":"a"},{"name":"b"}]}'] }],
  ['tools in items', of({ type: 'additional_tools', tools: [{ type: 'custom', name: 'x' }] }), { turns: 1, tools: 1, texts: ['{"type":"custom","name":"x"}'] }],
  ['the schema of the reply', weightOf({ text: { format: { type: 'json_schema', schema: { type: 'object' } } } }), { texts: ['{"type":"json_schema","schema":{"type":"object"}}'] }],
  ['a text format', weightOf({ text: { format: { type: 'text' } } }), {}],
  ['nothing readable', weightOf({ input: [null, 7, 'x'], tools: {}, instructions: 7 }), { turns: 3 }],
])('%s', (_what, weight, expected) => {
  expect(weight).toEqual({ ...noInput(), ...expected })
})
