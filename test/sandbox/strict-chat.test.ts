import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { PATHS, PICTURES, post, smallBody, startTestSandbox } from './support.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterAll(() => sandbox.close())

type Refusal = [name: string, more: object, error: { message: string; param?: string | null; code?: string | null }]

const user = { role: 'user', content: 'hi' }
const prompt = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const tool = (name: string, parameters: unknown = { type: 'object', properties: {} }, more = {}) => ({
  type: 'function',
  function: { name, parameters, ...more },
})
const calling = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map(id => ({ id, type: 'function', function: { name: 't', arguments: '{}' } })),
})
const answer = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' })
const url = (address: string) => ({ type: 'image_url', image_url: { url: address } })

const CHAT: Refusal[] = [
  ['no messages', { messages: undefined }, { message: "Missing required parameter: 'messages'.", code: 'missing_required_parameter' }],
  ['messages as text', { messages: 'hi' }, { message: "Invalid type for 'messages': expected an array of objects, but got a string instead.", code: 'invalid_type' }],
  ['an empty list of messages', { messages: [] }, { message: "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.", code: 'empty_array' }],
  ['an unknown role', { messages: [{ role: 'human', content: 'x' }] }, { message: "Invalid value: 'human'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", param: 'messages[0].role' }],
  ['user content null', prompt(null), { message: "Invalid value for 'content': expected a string, got null." }],
  ['assistant content null without calls', { messages: [user, { role: 'assistant', content: null }, user] }, { message: "Invalid value for 'content': expected a string, got null.", param: 'messages[1].content' }],
  ['content as an empty list', prompt([]), { message: "Invalid 'messages[0].content': empty array. Expected an array with minimum length 1, but got an empty array instead." }],
  ['a block of the other format', prompt([{ type: 'tool_result', tool_use_id: 'x' }]), { message: "Invalid value: 'tool_result'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'." }],
  ['a cache breakpoint', prompt([{ type: 'text', text: 'x', cache_control: {} }]), { message: "Unknown parameter: 'messages[0].content[0].cache_control'.", code: 'unknown_parameter' }],
  ['a field of the other format', { system: 'x' }, { message: "Unknown parameter: 'system'.", param: 'system' }],
  ['a tool of the other format', { tools: [{ name: 'a', input_schema: {} }] }, { message: "Missing required parameter: 'tools[0].type'." }],
  ['an empty list of tools', { tools: [] }, { message: "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead." }],
  ['a tool name of 65 letters', { tools: [tool('a'.repeat(65))] }, { message: "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 65 instead." }],
  ['a tool name with a dot', { tools: [tool('a.b')] }, { message: "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'." }],
  ['a tool schema without properties', { tools: [tool('a', { type: 'object' })] }, { message: "Invalid schema for function 'a': In context=(), object schema missing properties.", code: 'invalid_function_parameters' }],
  ['a tool schema that is not an object schema', { tools: [tool('a', { type: 'string' })] }, { message: "Invalid schema for function 'a': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"string\"'." }],
  ['a tool schema with a choice at its root', { tools: [tool('a', { type: 'object', properties: {}, anyOf: [{}] })] }, { message: "Invalid schema for function 'a': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level." }],
  ['a strict schema that is open', { tools: [tool('a', { type: 'object', properties: {} }, { strict: true })] }, { message: "Invalid schema for function 'a': In context=(), 'additionalProperties' is required to be supplied and to be false." }],
  ['a choice without tools', { tool_choice: 'auto' }, { message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified." }],
  ['a parallel flag without tools', { parallel_tool_calls: false }, { message: "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified." }],
  ['a choice in the notation of the other format', { tools: [tool('a')], tool_choice: 'any' }, { message: "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'." }],
  ['calls without answers', { messages: [user, calling('c1', 'c2'), answer('c1'), user] }, { message: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: c2", param: 'messages.[1].role' }],
  ['calls at the end', { messages: [user, calling('c1')] }, { message: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: c1" }],
  ['an answer without a call', { messages: [user, answer('c9')] }, { message: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", param: 'messages.[1].role' }],
  ['a result after another message', { messages: [user, calling('c1'), answer('c1'), user, answer('c1')] }, { message: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'." }],
  ['an empty list of calls', { messages: [user, { role: 'assistant', content: 'x', tool_calls: [] }] }, { message: "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead." }],
  ['arguments as an object', { messages: [user, { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 't', arguments: {} } }] }, answer('c')] }, { message: "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead." }],
  ['a call id of 65 letters', { messages: [user, calling('c'.repeat(65)), answer('c'.repeat(65))] }, { message: "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead." }],
  ['an image by the assistant', { messages: [user, { role: 'assistant', content: [url('https://example.com/a.png')] }] }, { message: "Image URLs are only allowed for messages with role 'user', but this message with role 'assistant' contains an image URL." }],
  ['an image that is not base64', prompt([url('data:image/png;base64,???')]), { message: 'Invalid base64 image_url.', code: 'invalid_base64' }],
  ['an image that is not an image', prompt([url(`data:image/png;base64,${Buffer.from('hello, this is text').toString('base64')}`)]), { message: "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp']." }],
  ['both token limits', { max_tokens: 5, max_completion_tokens: 5 }, { message: "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported." }],
  ['no tokens', { max_tokens: 0 }, { message: "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.", code: 'integer_below_min_value' }],
  ['too many tokens', { max_completion_tokens: 64_001 }, { message: 'max_completion_tokens is too large: 64001. This model supports at most 64000 completion tokens, whereas you provided 64001.' }],
  ['a temperature above two', { temperature: 2.5 }, { message: "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead." }],
  ['five stop sequences', { stop: ['a', 'b', 'c', 'd', 'e'] }, { message: "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 instead." }],
  ['stream options without a stream', { stream_options: { include_usage: true } }, { message: "The 'stream_options' parameter is only allowed when 'stream' is enabled." }],
  ['an unknown effort', { reasoning_effort: 'huge' }, { message: "Invalid value: 'huge'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'." }],
  ['a schema without a name', { response_format: { type: 'json_schema', json_schema: { schema: {} } } }, { message: "Missing required parameter: 'response_format.json_schema.name'." }],
  ['a JSON object without the word', { response_format: { type: 'json_object' } }, { message: "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'." }],
  ['too long a prompt', prompt('x '.repeat(210_000)), { message: "This model's maximum context length is 200000 tokens. However, you requested 210008 tokens. Please reduce the length of the messages or completion.", code: 'context_length_exceeded' }],
  ['an unsupported feature: reasoning', { model: 'plain', reasoning_effort: 'low' }, { message: 'Unrecognized request argument supplied: reasoning_effort' }],
  ['an unsupported feature: vision', { model: 'plain', ...prompt([url('https://example.com/a.png')]) }, { message: 'Invalid content type. image_url is only supported by certain models.' }],
  ['an unsupported feature: tools', { model: 'plain', tools: [tool('a')] }, { message: 'tools is not supported in this model.' }],
  ['an unsupported feature: max_tokens', { model: 'picky', max_tokens: 5 }, { message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", code: 'unsupported_parameter' }],
  ['an unsupported feature: the developer role', { model: 'picky', messages: [{ role: 'developer', content: 'x' }, user] }, { message: "Invalid value: 'developer'. Supported values are: 'system', 'assistant', 'user', 'function', and 'tool'." }],
] // biome-ignore format: a table

const RESPONSES: Refusal[] = [
  ['no input', { input: undefined }, { message: "Missing required parameter: 'input'." }],
  ['a field of the other formats', { messages: [] }, { message: "Unknown parameter: 'messages'." }],
  ['the old place of the output format', { response_format: {} }, { message: "Unsupported parameter: 'response_format'. In the Responses API, this parameter has moved to 'text.format'." }],
  ['too few tokens', { max_output_tokens: 5 }, { message: "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 5 instead." }],
  ['a tool of the chat format', { tools: [tool('a')] }, { message: "Unknown parameter: 'tools[0].function'." }],
  ['an output without a call', { input: [{ type: 'function_call_output', call_id: 'c9', output: 'x' }] }, { message: 'No tool call found for function call output with call_id c9.' }],
  ['a call without an output', { input: [user, { type: 'function_call', call_id: 'c1', name: 't', arguments: '{}' }] }, { message: 'No tool output found for function call c1.' }],
  ['a part of the chat format', { input: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] }, { message: "Invalid value: 'text'. Supported values are: 'input_text', 'input_image', 'output_text', 'refusal', 'input_file', 'computer_screenshot', and 'summary_text'." }],
  ['the role tool', { input: [{ role: 'tool', content: 'x' }] }, { message: "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'." }],
  ['an image that is not an image', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] }] }, { message: 'The image data you provided does not represent a valid image. Please check your input and try again.' }],
] // biome-ignore format: a table

const IMAGES: Refusal[] = [
  ['no prompt', { prompt: '' }, { message: "Missing required parameter: 'prompt'." }],
  ['a size in words', { size: 'big' }, { message: "Invalid value: 'big'. Supported values are: '1024x1024', '1024x1536', '1536x1024', and 'auto'." }],
  ['no images', { n: 0 }, { message: "Invalid 'n': integer below minimum value. Expected a value >= 1, but got 0 instead." }],
  ['eleven images', { n: 11 }, { message: "Invalid 'n': integer above maximum value. Expected a value <= 10, but got 11 instead." }],
  ['n as text', { n: '2' }, { message: "Invalid type for 'n': expected an integer, but got a string instead." }],
  ['a format that it cannot write', { output_format: 'gif' }, { message: "Invalid value: 'gif'. Supported values are: 'png', 'jpeg', and 'webp'." }],
] // biome-ignore format: a table

const SPEECH: Refusal[] = [
  ['no input', { input: undefined }, { message: "Missing required parameter: 'input'." }],
  ['blank input', { input: '  ' }, { message: "Invalid 'input': string too short." }],
  ['no voice', { voice: undefined }, { message: "Missing required parameter: 'voice'." }],
  ['an unknown voice', { voice: 'nobody' }, { message: "Invalid value: 'nobody'. Supported values are: 'nova', and 'echo'." }],
  ['too long an input', { input: 'a'.repeat(4_097) }, { message: "Invalid 'input': string too long. Expected a string with maximum length 4096, but got a string with length 4097 instead." }],
  ['too fast a speed', { speed: 5 }, { message: "Invalid 'speed': expected a value between 0.25 and 4, but got 5 instead." }],
] // biome-ignore format: a table

describe.each([
  ['chat completions', PATHS.chat, smallBody('chat', 'hi'), CHAT],
  ['responses', PATHS.responses, smallBody('responses', 'hi'), RESPONSES],
  ['images', PATHS.images, { model: 'painter', prompt: 'x' }, IMAGES],
  ['speech', PATHS.speech, { model: 'speaker', input: 'x', voice: 'nova' }, SPEECH],
])('%s', (_format, path, good, refusals) => {
  test.each(refusals)("refuses %s in the provider's words", async (_name, more, error) => {
    const response = await post(sandbox, path, { ...good, ...more })
    expect(response.status).toBe(400)
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
    const body = (await response.json()) as { error: object }
    expect(Object.keys(body.error)).toEqual(['message', 'type', 'param', 'code'])
    expect(body.error).toMatchObject({ type: 'invalid_request_error', ...error })
  })

  test('accepts the body that the refused bodies are derived from', async () => {
    expect((await post(sandbox, path, good)).status).toBe(200)
  })
})

test('accepts what chat clients send: developer turns, empty texts with calls, tool results in parts, unknown fields', async () => {
  const response = await post(sandbox, PATHS.chat, {
    model: 'thinker',
    store: false,
    some_future_field: 1,
    prompt_cache_key: 'k',
    tools: [tool('t', {})],
    parallel_tool_calls: true,
    messages: [
      { role: 'developer', content: 'x' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hi' },
          url(`data:image/png;base64,${PICTURES['image/png']!.toString('base64')}`),
        ],
      },
      { ...calling('c1', 'c2'), content: '', reasoning_content: 'mm' },
      { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
      answer('c1'),
    ],
  })
  const reply = (await response.json()) as { choices: { message: { content: string } }[] }
  expect(reply.choices[0]!.message.content).toContain('The tool t returned: two\nThe tool t returned: ok')
})

test('edits refuse a text file, a missing image, and a truncated form', async () => {
  const send = async (form: FormData) => {
    const response = await fetch(sandbox.url + PATHS.edits, {
      method: 'POST',
      headers: { authorization: 'x' },
      body: form,
    })
    return ((await response.json()) as { error: { message: string } }).error.message
  }
  const form = new FormData()
  form.set('model', 'painter')
  form.set('prompt', 'x')
  expect(await send(form)).toBe("Missing required parameter: 'image'.")
  form.set('image', new Blob(['hello']), 'fake.png')
  expect(await send(form)).toBe(
    "Invalid file 'image[0]': unsupported mimetype ('application/octet-stream'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.",
  )
  const broken = await post(sandbox, PATHS.edits, '--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nx', {
    'content-type': 'multipart/form-data; boundary=b',
  })
  expect([broken.status, await broken.json()]).toMatchObject([
    400,
    { error: { message: 'Could not parse multipart form' } },
  ])
})
