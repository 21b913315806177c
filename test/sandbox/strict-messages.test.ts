import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { PATHS, PICTURES, post, smallBody, startTestSandbox } from './support.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterAll(() => sandbox.close())

const image = (media_type: string, bytes: Buffer) => ({
  type: 'image',
  source: { type: 'base64', media_type, data: bytes.toString('base64') },
})
const prompt = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const turns = (...contents: unknown[]) => ({
  messages: contents.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
})
const use = (id: string) => ({ type: 'tool_use', id, name: 't', input: {} })
const result = (id: string, more = {}) => ({ type: 'tool_result', tool_use_id: id, content: 'ok', ...more })
const tool = (name: string, more = {}) => ({ name, input_schema: { type: 'object', properties: {} }, ...more })
const thinking = (signature: string) => ({ type: 'thinking', thinking: 'I think.', signature })

/** A signature as long and as random as a real one. */
const sealed = (beginning: string) => beginning + createHash('sha512').update('x').digest('base64')

const REFUSED: [name: string, more: object, message: string][] = [
  ['no max_tokens', { max_tokens: undefined }, 'max_tokens: Field required'],
  ['max_tokens as text', { max_tokens: '5' }, 'max_tokens: Input should be a valid integer'],
  ['too large max_tokens', { max_tokens: 64_001 }, 'max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for thinker'],
  ['no messages', { messages: undefined }, 'messages: Field required'],
  ['an empty list of messages', { messages: [] }, 'messages: at least one message is required'],
  ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, "messages.0.role: Input should be 'user' or 'assistant'"],
  ['an assistant first', { messages: [{ role: 'assistant', content: 'x' }] }, 'messages: first message must use the "user" role'],
  ['no content', { messages: [{ role: 'user' }] }, 'messages.0.content: Field required'],
  ['empty user content', prompt(''), 'messages.0: all messages must have non-empty content except for the optional final assistant message'],
  ['an empty text block', prompt([{ type: 'text', text: '' }]), 'messages: text content blocks must be non-empty'],
  ['a blank text block alone', prompt([{ type: 'text', text: ' \n' }]), 'messages: text content blocks must contain non-whitespace text'],
  ['a block of the other format', prompt([{ type: 'image_url', image_url: { url: 'x' } }]), "messages.0.content.0: Input tag 'image_url' found using 'type' does not match any of the expected tags: 'document', 'image', 'redacted_thinking', 'search_result', 'server_tool_use', 'text', 'thinking', 'tool_result', 'tool_use'"],
  ['a field of the other format', { reasoning_effort: 'low' }, 'reasoning_effort: Extra inputs are not permitted'],
  ['tool calls of the other format', { messages: [{ role: 'user', content: 'x' }, { role: 'assistant', content: 'y', tool_calls: [] }] }, 'messages.1.tool_calls: Extra inputs are not permitted'],
  ['a tool of the other format', { tools: [{ type: 'function', function: { name: 'a' } }] }, "tools.0: Input tag 'function' found using 'type' does not match any of the expected tags: 'custom', …"],
  ['an email address as the end user', { metadata: { user_id: 'an@example.com' } }, 'metadata.user_id: user_id appears to contain an email address. Please send a uuid or hash value instead.'],
  ['a tool without a schema', { tools: [{ name: 'a' }] }, 'tools.0.custom.input_schema: Field required'],
  ['a tool schema with a choice at its root', { tools: [tool('a', { input_schema: { type: 'object', anyOf: [] } })] }, 'tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level'],
  ['a tool schema without a type', { tools: [{ name: 'a', input_schema: {} }] }, 'tools.0.custom.input_schema.type: Field required'],
  ['a tool name with a dot', { tools: [tool('a.b')] }, "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"],
  ['two tools of one name', { tools: [tool('a'), tool('a')] }, 'tools: Tool names must be unique.'],
  ['a choice as text', { tools: [tool('a')], tool_choice: 'auto' }, 'tool_choice: Input should be a valid dictionary or object to extract fields from'],
  ['a choice without tools', { tool_choice: { type: 'auto' } }, 'tool_choice: may only be specified while providing tools'],
  ['a choice of a tool that is not there', { tools: [tool('a')], tool_choice: { type: 'tool', name: 'b' } }, "tool_choice: Tool 'b' not found in provided tools"],
  ['a parallel flag on none', { tools: [tool('a')], tool_choice: { type: 'none', disable_parallel_tool_use: true } }, 'tool_choice.none.disable_parallel_tool_use: Extra inputs are not permitted'],
  ['a call without a result', turns('x', [use('u1')], 'y'), 'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: u1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.'],
  ['a call at the end', turns('x', [use('u1')]), 'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: u1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.'],
  ['a result after text', turns('x', [use('u1')], [{ type: 'text', text: 'y' }, result('u1')]), 'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: u1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.'],
  ['a result without a call', prompt([result('u9')]), 'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: u9. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.'],
  ['two results of one call', turns('x', [use('u1')], [result('u1'), result('u1')]), 'messages.2.content: each tool_use must have a single result. Found multiple `tool_result` blocks with id: u1'],
  ['a repeated call id', turns('x', [use('u1')], [result('u1')], [use('u1')], [result('u1')]), 'messages: `tool_use` ids must be unique'],
  ['a call id with a colon', turns('x', [use('a:0')], [result('a:0')]), "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"],
  ['a call with text as input', turns('x', [{ ...use('u1'), input: '{}' }], [result('u1')]), 'messages.1.content.0.tool_use.input: Input should be a valid dictionary'],
  ['a call by the user', prompt([use('u1')]), 'messages.0: `tool_use` blocks can only be in `assistant` messages'],
  ['an empty text in a result', turns('x', [use('u1')], [result('u1', { content: [{ type: 'text', text: '' }] })]), 'messages: text content blocks must be non-empty'],
  ['thinking without a budget', { thinking: { type: 'enabled' } }, 'thinking.enabled.budget_tokens: Field required'],
  ['too small a budget', { thinking: { type: 'enabled', budget_tokens: 1023 } }, 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024'],
  ['a budget above max_tokens', { thinking: { type: 'enabled', budget_tokens: 2000 } }, '`max_tokens` must be greater than `thinking.budget_tokens`.'],
  ['a temperature while thinking', { thinking: { type: 'adaptive' }, temperature: 0.5 }, '`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.'],
  ['a forced tool while thinking', { max_tokens: 3000, thinking: { type: 'enabled', budget_tokens: 2000 }, tools: [tool('a')], tool_choice: { type: 'any' } }, 'Thinking may not be enabled when tool_choice forces tool use.'],
  ['a forged signature', turns('x', [thinking('c2ln'), { type: 'text', text: 'y' }], 'z'), 'messages.1.content.0: Invalid `signature` in `thinking` block'],
  ['a seal of another vendor', turns('x', [thinking(sealed('gAAAAAB'))], 'z'), 'messages.1.content.0: Invalid `signature` in `thinking` block'],
  ['a signature that only begins well', turns('x', [thinking(`E${'A'.repeat(99)}`)], 'z'), 'messages.1.content.0: Invalid `signature` in `thinking` block'],
  ['an empty signature', turns('x', [thinking(''), { type: 'text', text: 'y' }], 'z'), 'messages.1.content.0: Invalid `signature` in `thinking` block'],
  ['a tool loop without its thinking', { max_tokens: 3000, thinking: { type: 'enabled', budget_tokens: 2000 }, ...turns('x', [use('u1')], [result('u1')]) }, 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).'],
  ['an unknown effort', { output_config: { effort: 'huge' } }, "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"],
  ['an open output schema', { output_config: { format: { type: 'json_schema', schema: { type: 'object', properties: {} } } } }, "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"],
  ['a temperature above one', { temperature: 1.5 }, 'temperature: range: 0..1'],
  ['a blank stop sequence', { stop_sequences: ['\n'] }, 'stop_sequences: each stop sequence must contain non-whitespace'],
  ['an empty system block', { system: [{ type: 'text', text: '' }] }, 'system: text content blocks must be non-empty'],
  ['a prefill that ends in a space', turns('x', 'The answer: '), 'messages: final assistant content cannot end with trailing whitespace'],
  ['five cache breakpoints', { system: Array(5).fill({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }) }, 'A maximum of 4 blocks with cache_control may be provided. Found 5.'],
  ['an image of an unknown type', prompt([image('image/bmp', PICTURES['image/png']!)]), "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"],
  ['an image of a different type', prompt([image('image/png', PICTURES['image/gif']!)]), 'messages.0.content.0.image.source.base64: The image was specified using the image/png media type, but the image appears to be a image/gif image'],
  ['an image that is not an image', prompt([image('image/png', Buffer.from('hello, this is text'))]), 'Could not process image'],
  ['too long a prompt', prompt('x '.repeat(210_000)), 'prompt is too long: 210008 tokens > 200000 maximum'],
  ['input and output too large together', { max_tokens: 60_000, ...prompt('x '.repeat(150_000)) }, 'input length and `max_tokens` exceed context limit: 150008 + 60000 > 200000, decrease input length or `max_tokens` and try again'],
  ['a misspelt word', prompt('sandbox:eror=429'), 'sandbox:eror is not a known word; known words: error, retry-after, hang, reset, cut, error-event, slow, tokens, tool, text, no-usage, cached, images, refuse, garbage, empty, html'],
  ['a word with a wrong value', prompt('sandbox:error=418'), 'sandbox:error=418 has an invalid value; sandbox:error takes 400, 401, 403, 404, 413, 429, 500, 502, 503, 529 or a name'],
] // biome-ignore format: a table

test.each(REFUSED)('refuses %s in the words of the messages provider', async (_name, more, message) => {
  const response = await post(sandbox, PATHS.messages, { ...smallBody('messages', 'hi'), ...more })
  expect([response.status, await response.json()]).toEqual([
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message },
      request_id: response.headers.get('request-id'),
    },
  ])
})

test.each([
  ['plain', { thinking: { type: 'adaptive' } }, 'adaptive thinking is not supported on this model'],
  ['plain', { output_config: { effort: 'low' } }, 'This model does not support the effort parameter.'],
  ['plain', { tools: [tool('a')] }, 'tools: this model does not support tool use'],
  [
    'plain',
    prompt([image('image/png', PICTURES['image/png']!)]),
    'messages.0.content.0: this model does not support image input',
  ],
  ['sober', { temperature: 1 }, '`temperature` is not supported for this model'],
  [
    'sober',
    turns('x', 'The'),
    'This model does not support assistant message prefill. The conversation must end with a user message.',
  ],
])('model %s refuses what it lacks: %j', async (model, more, message) => {
  const body = { ...smallBody('messages', 'hi'), model, max_tokens: 100, ...more }
  const response = await post(sandbox, PATHS.messages, body)
  expect(await response.json()).toMatchObject({ error: { message } })
})

test('accepts what coding agents send: system turns, betas, server tools, deferred tools, unknown fields', async () => {
  const response = await post(sandbox, `${PATHS.messages}?beta=true`, {
    model: 'thinker',
    max_tokens: 32_000,
    system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }],
    thinking: { type: 'adaptive', display: 'updates' },
    output_config: { effort: 'high' },
    context_management: { edits: [] },
    metadata: { user_id: 'u' },
    some_future_field: { a: 1 },
    tools: [
      tool('a', { defer_loading: true, eager_input_streaming: true }),
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'system', content: [{ type: 'text', text: 'mind this' }] },
      { role: 'assistant', content: [use('u1'), use('u2')] },
      {
        role: 'user',
        content: [
          result('u2', { is_error: true }),
          result('u1', { content: [image('image/webp', PICTURES['image/webp']!)] }),
        ],
      },
      { role: 'system', content: 'and that' },
      { role: 'user', content: [{ type: 'some_future_block' }, { type: 'text', text: 'go on' }] },
    ],
  })
  const reply = (await response.json()) as { content: { text: string }[] }
  expect(response.status).toBe(200)
  expect(reply.content.at(-1)!.text).toContain('The tool t failed with: ok\nThe tool t returned: [image]')
})

test('a conversation that started elsewhere can continue here: its signatures are accepted', async () => {
  const history = turns('x', [thinking(sealed('EqQBCkgI')), { type: 'text', text: 'y' }], 'z')
  const response = await post(sandbox, PATHS.messages, { ...smallBody('messages', ''), ...history })
  expect([response.status, await response.json()]).toMatchObject([200, { stop_reason: 'end_turn' }])
})

test('threads are declined, so that clients continue without them', async () => {
  const response = await post(sandbox, PATHS.messages, smallBody('messages', 'hi', { thread: { type: 'create' } }))
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
  expect([response.status, await response.json()]).toMatchObject([400, { error: { details } }])
})

test.each(Object.entries(PICTURES))('sees the size of %s', async (type, bytes) => {
  const response = await post(sandbox, PATHS.messages, {
    ...smallBody('messages', ''),
    ...prompt([image(type, bytes)]),
  })
  const reply = (await response.json()) as { content: { text: string }[] }
  expect(reply.content[0]!.text).toContain(`1 image: ${type}, ${type === 'image/webp' ? '16×9' : '3×2'} pixels`)
})
