/** `POST /v1/responses/input_tokens`: the counterpart of `count_tokens` for the responses format. */

import { countInput } from '../pipeline/count-tokens.ts'
import { EXAMPLE_GREETING, type FreeEndpoint } from './endpoint.ts'

export const INPUT_TOKENS: FreeEndpoint = {
  method: 'POST',
  path: '/v1/responses/input_tokens',
  authentication: 'key',
  purpose: 'Input tokens of a responses request; free',
  operationId: 'countResponseInput',
  operation: {
    summary: 'Estimate the input tokens of a Responses request',
    description: 'Free, even with an empty balance.',
    request: 'InputTokensRequest',
    reply: 'InputTokensReply',
    billed: false,
    endpoint: 'responses',
    example: { input: EXAMPLE_GREETING },
  },
  async answer({ catalogue, limits }, raw) {
    const { inputTokens, headers } = await countInput(catalogue, raw, { limits, format: 'responses' })
    return { headers, body: { object: 'response.input_tokens', input_tokens: inputTokens } }
  },
}
