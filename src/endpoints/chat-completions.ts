/** `POST /v1/chat/completions`. */

import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import { chatCall } from './chat-call.ts'
import { EXAMPLE_GREETING, type ModelEndpoint } from './endpoint.ts'

export const CHAT_COMPLETIONS: ModelEndpoint = {
  ...ENDPOINT_FACTS.chat_completions,
  name: 'chat_completions',
  method: 'POST',
  authentication: 'key',
  purpose: 'Chat Completions format',
  operationId: 'createChatCompletion',
  operation: {
    summary: 'Answer in the Chat Completions format',
    description: 'Every chat model can be called here, whatever its native format: the gateway converts.',
    request: 'ChatRequest',
    reply: 'ChatReply',
    streams: true,
    billed: true,
    endpoint: 'chat_completions',
    example: { messages: [{ role: 'user', content: EXAMPLE_GREETING }] },
  },
  traced: { operation: 'chat', output: null },
  namedEvents: false,
  kind: chatCall('chat_completions'),
}
