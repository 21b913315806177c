/** Reads converted streams with the official SDKs, through a stubbed `fetch`. */

import Anthropic from '@anthropic-ai/sdk'
import AnthropicOlder from 'anthropic-sdk-0'
import OpenAI from 'openai'

function answer(body: string, contentType: string): typeof fetch {
  return async () => new Response(body, { status: 200, headers: { 'content-type': contentType } })
}

const STREAM = 'text/event-stream'
const PARAMS = { model: 'client-model', max_tokens: 16, messages: [{ role: 'user' as const, content: 'hi' }] }

/** Returns the message that the stream helper of @anthropic-ai/sdk 1.x accumulates. Rejects as the SDK does. */
export async function readMessagesStream(sse: string): Promise<Anthropic.Message> {
  const client = new Anthropic({ apiKey: 'k', maxRetries: 0, fetch: answer(sse, STREAM) })
  return client.messages.stream(PARAMS).finalMessage()
}

/** The same with SDK version 0.x, which some coding agents still use. */
export async function readMessagesStreamOlder(sse: string): Promise<unknown> {
  const client = new AnthropicOlder({ apiKey: 'k', maxRetries: 0, fetch: answer(sse, STREAM) })
  return client.messages.stream(PARAMS).finalMessage()
}

/** Returns the completion that the openai SDK's stream helper accumulates. Rejects as the SDK does. */
export async function readChatStream(sse: string): Promise<OpenAI.ChatCompletion> {
  const client = new OpenAI({ apiKey: 'k', maxRetries: 0, fetch: answer(sse, STREAM) })
  return client.chat.completions.stream({ model: 'client-model', messages: PARAMS.messages }).finalChatCompletion()
}
