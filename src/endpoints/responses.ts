/** `POST /v1/responses`. */

import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import { httpCodeOf } from '../formats/responses/failure.ts'
import { chatCall } from './chat-call.ts'
import { EXAMPLE_GREETING, type ModelEndpoint } from './endpoint.ts'

export const RESPONSES: ModelEndpoint = {
  ...ENDPOINT_FACTS.responses,
  name: 'responses',
  method: 'POST',
  authentication: 'key',
  purpose: 'Responses format',
  operationId: 'createResponse',
  operation: {
    summary: 'Answer in the Responses format',
    description: 'Every chat model can be called here, whatever its native format: the gateway converts.',
    request: 'ResponsesRequest',
    reply: 'ResponsesReply',
    streams: true,
    billed: true,
    endpoint: 'responses',
    example: { input: EXAMPLE_GREETING },
  },
  traced: { operation: 'chat', output: null },
  namedEvents: false,
  codeOf: httpCodeOf,
  kind: chatCall('responses'),
}
