/** Writes a conversation as a chat request. */

import type { WritableRequest, WriteFacts, WrittenRequest } from '../../conversation/format.ts'
import type { JsonObject } from '../../lib/json.ts'
import { writeTools } from './write-tools.ts'
import { writeTurns } from './write-turns.ts'

/** Writes the standard body. The dialect later adds reasoning, JSON output and usage settings. */
export function writeRequest(request: WritableRequest, { model, dialect }: WriteFacts): WrittenRequest {
  const { turns, tools, sampling, stopSequences, outputTokensMax, endUser } = request
  const { temperature, topP, topK } = sampling
  const { messages, places } = writeTurns(turns, dialect)
  const body: JsonObject = {
    model,
    messages,
    ...(outputTokensMax !== null && { max_tokens: outputTokensMax }),
    ...writeTools(tools),
    ...(temperature !== null && { temperature: Math.max(temperature, 0) }),
    ...(topP !== null && { top_p: topP }),
    ...(topK !== null && { top_k: topK }),
    ...(stopSequences.length > 0 && { stop: [...stopSequences] }),
    ...(endUser !== null && { user: endUser }),
    ...(request.streamed && { stream: true }),
  }
  return { body, places }
}
