/** `POST /v1/messages`. */

import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import { chatCall } from './chat-call.ts'
import { EXAMPLE_GREETING, type ModelEndpoint } from './endpoint.ts'

export const MESSAGES: ModelEndpoint = {
  ...ENDPOINT_FACTS.messages,
  name: 'messages',
  method: 'POST',
  authentication: 'key',
  purpose: 'Messages format',
  operationId: 'createMessage',
  operation: {
    summary: 'Answer in the Messages format (recommended)',
    description: 'Every chat model can be called here, whatever its native format: the gateway converts.',
    request: 'MessagesRequest',
    reply: 'MessagesReply',
    streams: true,
    billed: true,
    endpoint: 'messages',
    example: { max_tokens: 200, messages: [{ role: 'user', content: EXAMPLE_GREETING }] },
  },
  traced: { operation: 'chat', output: null },
  namedEvents: true,
  kind: chatCall('messages'),
}
