/** Writes a conversation as a responses request. */

import type { WritableRequest, WriteFacts, WrittenRequest } from '../../conversation/format.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { JsonObject } from '../../lib/json.ts'
import { writeInput } from './write-input.ts'
import { writeTools } from './write-tools.ts'

/**
 * Writes the standard body. The dialect later adds reasoning and JSON output. Throws GatewayError `invalid_request` if there
 * are stop sequences: the format does not support them, so the reply could run past its intended end.
 */
export function writeRequest(request: WritableRequest, { model, dialect }: WriteFacts): WrittenRequest {
  const { tools, sampling, clientErrors, stopSequences } = request
  if (stopSequences.length > 0)
    refuse(clientErrors.stopField, 'this model does not accept stop sequences; leave the field out')
  const { instructions, input, places } = writeInput(request.turns, { dialect, tools })
  const body: JsonObject = {
    model,
    ...(instructions !== '' && { instructions }),
    input,
    ...writeTools(tools, dialect),
    ...(request.outputTokensMax !== null && { max_output_tokens: request.outputTokensMax }),
    ...(sampling.temperature !== null && { temperature: sampling.temperature }),
    ...(sampling.topP !== null && { top_p: sampling.topP }),
    ...(request.verbosity !== null && { text: { verbosity: request.verbosity } }),
    ...(request.endUser !== null && { safety_identifier: request.endUser }),
    ...(request.cacheKey !== null && { prompt_cache_key: request.cacheKey }),
    ...(dialect.reasoning.sealed && { include: ['reasoning.encrypted_content'] }),
    store: false,
    ...(request.streamed && { stream: true }),
  }
  return { body, places }
}
