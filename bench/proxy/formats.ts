/** The three chat formats, as a bench speaks them. */

export type Format = 'messages' | 'chat' | 'responses'

export const FORMATS: readonly Format[] = ['messages', 'chat', 'responses']

/** Of gateway and upstream alike. */
export const PATHS: Readonly<Record<Format, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
}

/** What the last event of a stream says. */
export const MARKS: Readonly<Record<Format, string>> = {
  messages: '"message_stop"',
  chat: '[DONE]',
  responses: '"response.completed"',
}
