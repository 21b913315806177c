/** Replies have every field that the official SDKs' types require, because strict clients in other languages check them. */

import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { PATHS, post, smallBody, startTestSandbox } from './support.ts'

/** The names of the required fields of T. The compiler rejects a list with missing or extra names. */
type Required<T> = { readonly [K in keyof T as string extends K ? never : undefined extends T[K] ? never : K]: true }

const MESSAGE: Required<Anthropic.Message> = {
  id: true,
  type: true,
  role: true,
  model: true,
  content: true,
  container: true,
  diagnostics: true,
  stop_details: true,
  stop_reason: true,
  stop_sequence: true,
  usage: true,
}
const MESSAGE_USAGE: Required<Anthropic.Usage> = {
  input_tokens: true,
  output_tokens: true,
  output_tokens_details: true,
  cache_creation: true,
  cache_creation_input_tokens: true,
  cache_read_input_tokens: true,
  inference_geo: true,
  server_tool_use: true,
  service_tier: true,
  speed: true,
}
const DELTA_USAGE: Required<Anthropic.MessageDeltaUsage> = {
  input_tokens: true,
  output_tokens: true,
  output_tokens_details: true,
  cache_creation_input_tokens: true,
  cache_read_input_tokens: true,
  server_tool_use: true,
}
const DELTA: Required<Anthropic.RawMessageDeltaEvent.Delta> = {
  container: true,
  stop_details: true,
  stop_reason: true,
  stop_sequence: true,
}
// As the provider does, replies leave out `citations` where there are none: AI SDK 5 and 6 refuse null.
const TEXT: Omit<Required<Anthropic.TextBlock>, 'citations'> = { type: true, text: true }
const TOOL_USE: Required<Anthropic.ToolUseBlock> = { type: true, id: true, name: true, caller: true }

const COMPLETION: Required<OpenAI.ChatCompletion> = {
  id: true,
  object: true,
  created: true,
  model: true,
  choices: true,
}
const CHAT_MESSAGE: Required<OpenAI.ChatCompletionMessage> = { role: true, content: true, refusal: true }
const CHAT_USAGE: Required<OpenAI.CompletionUsage> = {
  prompt_tokens: true,
  completion_tokens: true,
  total_tokens: true,
}

const RESPONSE: Omit<Required<OpenAI.Responses.Response>, 'output_text'> = {
  id: true,
  object: true,
  created_at: true,
  model: true,
  output: true,
  error: true,
  incomplete_details: true,
  instructions: true,
  metadata: true,
  parallel_tool_calls: true,
  temperature: true,
  tool_choice: true,
  tools: true,
  top_p: true,
  access_programs: true,
}
const RESPONSE_USAGE: Required<OpenAI.Responses.ResponseUsage> = {
  input_tokens: true,
  input_tokens_details: true,
  output_tokens: true,
  output_tokens_details: true,
  total_tokens: true,
}
const INPUT_DETAILS: Required<OpenAI.Responses.ResponseUsage.InputTokensDetails> = {
  cached_tokens: true,
  cache_write_tokens: true,
}
const OUTPUT_DETAILS: Required<OpenAI.Responses.ResponseUsage.OutputTokensDetails> = { reasoning_tokens: true }

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterAll(() => sandbox.close())

type Fields = Record<string, unknown>

async function replyTo(format: 'messages' | 'chat' | 'responses', text: string, more: object = {}): Promise<Fields> {
  return (await (await post(sandbox, PATHS[format], smallBody(format, text, more))).json()) as Fields
}

async function eventsOf(format: 'messages' | 'responses', text: string): Promise<Fields[]> {
  const body = await (await post(sandbox, PATHS[format], smallBody(format, text, { stream: true }))).text()
  return [...body.matchAll(/^data: (\{.*\})$/gm)].map(match => JSON.parse(match[1]!) as Fields)
}

function expectFields(value: unknown, required: object): void {
  expect(Object.keys(value as object)).toEqual(expect.arrayContaining(Object.keys(required)))
}

test('messages, non-streamed', async () => {
  const tools = [{ name: 'get_weather', input_schema: { type: 'object', properties: {} } }]
  const reply = await replyTo('messages', 'The weather? sandbox:tokens=9', { tools })
  expectFields(reply, MESSAGE)
  expectFields(reply.usage, MESSAGE_USAGE)
  const [text, use] = reply.content as Fields[]
  expectFields(text, TEXT)
  expectFields(use, TOOL_USE)
})

test('messages, streamed', async () => {
  const events = await eventsOf('messages', 'Hello')
  const start = events[0]!.message as Fields
  expectFields(start, MESSAGE)
  expectFields(start.usage, MESSAGE_USAGE)
  const last = events.find(event => event.type === 'message_delta')!
  expectFields(last.delta, DELTA)
  expectFields(last.usage, DELTA_USAGE)
})

test('a refusal states its kind', async () => {
  const details = { type: 'refusal', category: null, explanation: null }
  expect(await replyTo('messages', 'sandbox:refuse')).toMatchObject({ stop_details: details })
})

test('chat completions', async () => {
  const reply = await replyTo('chat', 'Hello')
  expectFields(reply, COMPLETION)
  expectFields((reply.choices as { message: Fields }[])[0]!.message, CHAT_MESSAGE)
  expectFields(reply.usage, CHAT_USAGE)
})

test('responses, non-streamed and at the end of a stream', async () => {
  const ended = (await eventsOf('responses', 'Hello')).at(-1)!.response as Fields
  for (const reply of [await replyTo('responses', 'Hello'), ended]) {
    expectFields(reply, RESPONSE)
    const usage = reply.usage as Fields
    expectFields(usage, RESPONSE_USAGE)
    expectFields(usage.input_tokens_details, INPUT_DETAILS)
    expectFields(usage.output_tokens_details, OUTPUT_DETAILS)
  }
})
