/** Minimal successful provider replies in the Messages format, and a request that suits Messages and chat completions alike. */

import { type Answer, end, json, sse, write } from './scripted-upstream.ts'

export const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'upstream-name',
  content: [{ type: 'text', text: 'Xin chào' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 10, output_tokens: 7 },
}

export function messagesEvent(data: { readonly type: string; readonly [key: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
}

export function textDelta(text: string): string {
  return messagesEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
}

/** The start of a Messages stream: 10 input tokens. */
export const MESSAGES_START = [
  messagesEvent({
    type: 'message_start',
    message: { id: 'm', model: 'upstream-name', content: [], usage: { input_tokens: 10, output_tokens: 1 } },
  }),
  messagesEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
] as const

/** The end of the stream that `MESSAGES_START` begins: 25 output tokens. */
export const MESSAGES_END = [
  messagesEvent({ type: 'content_block_stop', index: 0 }),
  messagesEvent({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 25 } }),
  messagesEvent({ type: 'message_stop' }),
] as const

export const MESSAGES_STREAM = [...MESSAGES_START, textDelta('Xin chào'), ...MESSAGES_END].join('')

export const goodMessage: Answer = json(200, MESSAGE)
export const goodMessagesStream: Answer = [sse(), write(MESSAGES_STREAM), end()]

export function chatCall(model: string, extra: object = {}): string {
  return JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'a secret prompt' }], ...extra })
}
