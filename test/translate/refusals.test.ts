/**
 * Requests that the gateway itself refuses during conversion: with a 400 that says what to do, or a 404 for the continuation of
 * a message thread, because the gateway stores none.
 */

import { describe, expect, test } from 'vitest'
import type { DialectFacts } from '../../codegen/generated/types.ts'
import { GatewayError } from '../../src/errors.ts'
import type { ModelEntry } from '../../src/generated/types.ts'
import { planSameFormat } from '../../src/translate/same-format.ts'
import type { JsonObject, Translator } from '../../src/translate/translator.ts'
import { chatViaMessages, contextOf, dialectOf, messagesViaChat } from './support.ts'

interface Facts {
  readonly dialect?: DialectFacts
  readonly entry?: Partial<ModelEntry>
}

function refusal(translator: Translator, body: object, { dialect = {}, entry }: Facts = {}): GatewayError {
  const upstream = translator === chatViaMessages ? 'messages' : 'chat_completions'
  const context = contextOf({ upstream, dialect: dialectOf(dialect), ...(entry && { entry }) })
  try {
    translator(body as JsonObject, context)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('the request was not refused')
}

const ask = (content: unknown) => ({ max_tokens: 10, messages: [{ role: 'user', content }] })
const hi = ask('hi')
const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }
const noVision: Facts = { entry: { capabilities: ['tools'] } }

// biome-ignore format: one case per line
const MESSAGES_REFUSALS: [string, object, string, Facts?][] = [
  ['no messages', { max_tokens: 10 }, 'messages: Input should be a valid list'],
  ['an empty conversation', { max_tokens: 10, messages: [] }, 'messages: at least one message is required'],
  ['no max_tokens', { messages: hi.messages }, 'max_tokens: Field required'],
  ['an unknown role', { max_tokens: 10, messages: [{ role: 'tool', content: 'x' }] }, "messages.0.role: Input should be 'user' or 'assistant'"],
  ['a message of a wrong type', { max_tokens: 10, messages: ['hi'] }, 'messages.0: Input should be a valid message'],
  ['content of a wrong type', ask(7), 'messages.0.content: Input should be a valid string or list of content blocks'],
  ['an empty user turn', ask([]), 'messages.0: user messages must have non-empty content'],
  ['a block of an unknown type', ask([{ type: 'video' }]), 'messages.0.content.0: content blocks of type "video" are not supported by this model'],
  ['a text block without text', ask([{ type: 'text' }]), 'messages.0.content.0.text: Input should be a valid string'],
  ['an image by file id', ask([{ type: 'image', source: { type: 'file', file_id: 'f' } }]), 'messages.0.content.0.source: file ids belong to one provider and cannot be used here; send the image as base64'],
  ['an image of another type', ask([{ type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: 'x' } }]), "messages.0.content.0.source: expected a base64 image with a media_type of 'image/jpeg', 'image/png', 'image/gif' or 'image/webp', or a URL"],
  ['a document by URL', ask([{ type: 'document', source: { type: 'url', url: 'https://a/b.pdf' } }]), 'messages.0.content.0.source: documents by URL are not supported by this model; send the document as base64'],
  ['a document by file id', ask([{ type: 'document', source: { type: 'file', file_id: 'f' } }]), 'messages.0.content.0.source: file ids belong to one provider and cannot be used here; send base64 or text'],
  ['an image for a model without vision', ask([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'x' } }]), 'capability_rejected: image_block (messages.0: this model does not accept images)', noVision],
  ['a document where none is accepted', ask([{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'x' } }]), 'capability_rejected: document_block (messages.0: this model does not accept documents)', { dialect: { content: { documents: 'reject' } } }],
  ['an image URL where none is accepted', ask([{ type: 'image', source: { type: 'url', url: 'https://a/b.png' } }]), 'messages.0: this model does not accept image URLs; send the image as base64', { dialect: { content: { image_url: 'reject' } } }],
  ['an image URL that should have been fetched', ask([{ type: 'image', source: { type: 'url', url: 'https://a/b.png' } }]), 'messages.0: this model does not accept image URLs; send the image as base64', { dialect: { content: { image_url: 'inline' } } }],
  ['a call without its result', { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', content: [use] }, { role: 'user', content: 'and?' }] }, 'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.'],
  ['a result without its call', ask([{ type: 'tool_result', tool_use_id: 'toolu_9', content: 'x' }]), 'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.'],
  ['two results for one call', { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', content: [use] }, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }, { type: 'tool_result', tool_use_id: 'toolu_1' }] }] }, 'messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.'],
  ['a tool without a schema', { ...hi, tools: [{ name: 'f' }] }, 'tools.0.input_schema: Field required'],
  ['a tool without a name', { ...hi, tools: [{ input_schema: {} }] }, 'tools.0.name: Field required'],
  ['a provider-run tool', { ...hi, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools.0.type: the tool "web_search_20250305" is run by another provider and not available with this model'],
  ['remote tool servers', { ...hi, mcp_servers: [{ type: 'url', url: 'https://a' }] }, 'mcp_servers: remote tool servers are not available with this model; connect to them from your client'],
  ['an unknown tool choice', { ...hi, tools: [{ name: 'f', input_schema: {} }], tool_choice: { type: 'maybe' } }, "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'"],
  ['an unknown reply format', { ...hi, output_config: { format: { type: 'regex' } } }, 'output_config.format: expected {"type": "json_schema", "schema": {…}}'],
  ['too many stop sequences', { ...hi, stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, 'stop_sequences: this model accepts at most 4 stop sequences'],
  ['stop sequences where none are accepted', { ...hi, stop_sequences: ['a'] }, 'stop_sequences: this model does not accept stop sequences; leave the field out', { dialect: { sampling: { stop_max: 0 } } }],
]

// biome-ignore format: one case per line
const CHAT_REFUSALS: [string, object, string, Facts?][] = [
  ['no messages', {}, 'messages: expected an array with at least one message'],
  ['an empty conversation', { messages: [] }, 'messages: expected an array with at least one message'],
  ['no text', ask(''), 'messages: expected a user message with content'],
  ['only the assistant speaks', { messages: [{ role: 'assistant', content: 'x' }] }, 'messages: expected a user message with content'],
  ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role: expected one of system, developer, user, assistant, tool'],
  ['a message of a wrong type', { messages: [null] }, 'messages[0]: expected a message, e.g. {"role": "user", "content": "…"}'],
  ['content of a wrong type', ask({ a: 1 }), 'messages[0].content: expected a string or an array of content parts'],
  ['a part of an unknown type', ask([{ type: 'video_url' }]), 'messages[0].content[0]: content parts of type "video_url" are not supported by this model'],
  ['audio', ask([{ type: 'input_audio', input_audio: {} }]), 'messages[0].content[0]: this model does not accept audio; send text, images or files'],
  ['earlier audio', { messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', audio: { id: 'a' } }] }, 'messages[1].audio: earlier audio cannot be used with this model; send its transcript'],
  ['requested audio', { ...hi, modalities: ['text', 'audio'] }, 'modalities: this model only replies in text'],
  ['several choices', { ...hi, n: 2 }, 'n: this model returns one choice per call; send n: 1 or leave it out'],
  ['web search', { ...hi, web_search_options: {} }, 'web_search_options: web search is not available with this model on this endpoint'],
  ['a file by id', ask([{ type: 'file', file: { file_id: 'f' } }]), 'messages[0].content[0].file: file ids belong to one provider and cannot be used here; send the content as file_data'],
  ['a file of another type', ask([{ type: 'file', file: { file_data: 'data:application/zip;base64,AA==' } }]), 'messages[0].content[0].file.file_data: files of type "application/zip" are not supported; send a PDF, text or an image'],
  ['an image of another type', ask([{ type: 'image_url', image_url: { url: 'data:image/tiff;base64,AA==' } }]), 'messages[0].content[0].image_url.url: expected a base64 image of type image/png, image/jpeg, image/gif or image/webp'],
  ['an image with an unsupported URL', ask([{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }]), 'messages[0].content[0].image_url.url: expected a data URL or an http(s) URL'],
  ['an image for a model without vision', ask([{ type: 'image_url', image_url: { url: 'https://a/b.png' } }]), 'capability_rejected: image_block (messages[0]: this model does not accept images)', noVision],
  ['an image URL where none is accepted', ask([{ type: 'image_url', image_url: { url: 'https://a/b.png' } }]), 'messages[0]: this model does not accept image URLs; send the image as base64', { dialect: { content: { image_url: 'inline' } } }],
  ['a call without its result', { messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'f' } }] }, { role: 'user', content: 'and?' }] }, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: c1 (messages[1])"],
  ['a result without its call', { messages: [{ role: 'user', content: 'hi' }, { role: 'tool', tool_call_id: 'c1', content: 'x' }] }, "messages[1]: messages with role 'tool' must be a response to a preceding message with 'tool_calls' that has not been answered yet"],
  ['a call of another kind', { messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', tool_calls: [{ id: 'c', type: 'shell', shell: { name: 'x' } }] }] }, 'messages[1].tool_calls[0]: only tool calls of type "function" and "custom" are supported by this model'],
  ['a call of a custom tool without its name', { messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: { input: 'x' } }] }] }, 'messages[1].tool_calls[0].custom.name: expected the name of the tool'],
  ['a call of a custom tool without its input', { messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'x', input: {} } }] }] }, 'messages[1].tool_calls[0].custom.input: expected a string'],
  ['a custom tool without a name', { ...hi, tools: [{ type: 'custom', custom: {} }] }, 'tools[0].custom.name: expected the name of the tool'],
  ['a tool of another kind', { ...hi, tools: [{ type: 'web_search', name: 'x' }] }, 'tools[0].type: only tools of type "function" and "custom" are supported by this model, not "web_search"'],
  ['a tool without a name', { ...hi, tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name: expected the name of the function'],
  ['an unknown tool choice', { ...hi, tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'maybe' }, 'tool_choice: expected "auto", "none", "required" or a function'],
  ['a required choice among no tools', { ...hi, tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'g' } }] } } }, 'tool_choice.allowed_tools: none of these tools is available with this model'],
  ['an unknown reply format', { ...hi, response_format: { type: 'grammar' } }, 'response_format: expected type "text", "json_object" or "json_schema"'],
  ['too many stop sequences', { ...hi, stop: ['a', 'b', 'c'] }, 'stop: this model accepts at most 2 stop sequences', { dialect: { sampling: { stop_max: 2 } } }],
  ['a trailing assistant message that cannot be continued', { messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'a' }] }, 'messages: This model does not support assistant message prefill. The conversation must end with a user message.'],
]

describe('a messages request to a chat upstream', () => {
  test.each(MESSAGES_REFUSALS)('%s', (_, body, message, facts) => {
    const error = refusal(messagesViaChat, body, facts)
    expect({ code: error.code, status: error.status, message: error.message }).toEqual({
      code: 'invalid_request',
      status: 400,
      message,
    })
  })
})

describe('a chat request to a messages upstream', () => {
  test.each(CHAT_REFUSALS)('%s', (_, body, message, facts) => {
    const error = refusal(chatViaMessages, body, facts)
    expect({ code: error.code, status: error.status, message: error.message }).toEqual({
      code: 'invalid_request',
      status: 400,
      message,
    })
  })
})

describe('a message thread', () => {
  const create = { ...hi, thread: { type: 'create' } }
  const goOn = { ...hi, thread: { type: 'continue', previous_message_id: 'msg_1' } }

  function sameFormat(body: object, thread: boolean) {
    const target = { dialect: dialectOf({ turns: { threads: thread } }) }
    const entry = { outputTokensMax: 10, contextTokens: null, capabilities: [] }
    return planSameFormat({ format: 'messages', body: body as JsonObject, entry, target })
  }

  test('that starts in a converted call is refused, so that the SDK continues without it', () => {
    expect(refusal(messagesViaChat, create)).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      details: { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } },
    })
  })

  test('that continues is not found, so that the SDK sends the whole conversation', () => {
    expect(refusal(messagesViaChat, goOn)).toMatchObject({
      status: 404,
      type: 'not_found_error',
      details: { details: { error_code: 'thread_not_found' } },
    })
  })

  test('is refused in the same way if a host of the same format has no threads, and passes if it has', () => {
    expect(() => sameFormat(create, false)).toThrow(
      expect.objectContaining({ code: 'thread_unsupported' }) as GatewayError,
    )
    expect(sameFormat(create, true).edits).toEqual([])
  })
})
