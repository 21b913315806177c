export type Format = 'messages' | 'chat' | 'responses'

export const FORMATS: readonly Format[] = ['messages', 'chat', 'responses']

/** Path of each format, the same at the gateway and at the upstream. */
export const PATHS: Readonly<Record<Format, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
}

/** Text that marks the last event of a stream. */
export const MARKS: Readonly<Record<Format, string>> = {
  messages: '"message_stop"',
  chat: '[DONE]',
  responses: '"response.completed"',
}
