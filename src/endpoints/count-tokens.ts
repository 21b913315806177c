/** `POST /v1/messages/count_tokens`: runs no model, is free, and is not logged as usage. */

import { countInput } from '../pipeline/count-tokens.ts'
import { EXAMPLE_GREETING, type FreeEndpoint } from './endpoint.ts'

export const COUNT_TOKENS: FreeEndpoint = {
  method: 'POST',
  path: '/v1/messages/count_tokens',
  authentication: 'key',
  purpose: 'Input tokens of a messages request; free',
  operationId: 'countTokens',
  operation: {
    summary: 'Estimate input tokens',
    description: 'Free, even with an empty balance.',
    request: 'CountRequest',
    reply: 'CountReply',
    billed: false,
    endpoint: 'messages',
    example: { messages: [{ role: 'user', content: EXAMPLE_GREETING }] },
  },
  async answer({ catalogue, limits }, raw) {
    const { inputTokens, headers } = await countInput(catalogue, raw, { limits, format: 'messages' })
    return { headers, body: { input_tokens: inputTokens } }
  },
}
