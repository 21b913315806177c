/** Serializes a conversation as a request in the messages format. */

import type { WritableRequest, WriteFacts, WrittenRequest } from '../../conversation/format.ts'
import { visibleSequences } from '../../conversation/stop-sequences.ts'
import type { JsonObject } from '../../lib/json.ts'
import { writeTools } from './write-tools.ts'
import { writeTurns } from './write-turns.ts'

/** Highest temperature that the format allows. */
const TEMPERATURE_MAX = 1

/** Writes what all models accept alike. The dialect pass adds thinking, structured output and the mandatory `max_tokens`. */
export function writeRequest(request: WritableRequest, { model }: WriteFacts): WrittenRequest {
  const { turns, tools, sampling, outputTokensMax, endUser } = request
  const { temperature, topP, topK } = sampling
  const { system, messages, places } = writeTurns(turns)
  const stopSequences = visibleSequences(request.stopSequences)
  const body: JsonObject = {
    model,
    ...(outputTokensMax !== null && { max_tokens: outputTokensMax }),
    ...(system.length > 0 && { system }),
    messages,
    ...writeTools(tools),
    ...(temperature !== null && { temperature: Math.min(Math.max(temperature, 0), TEMPERATURE_MAX) }),
    ...(topP !== null && { top_p: topP }),
    ...(topK !== null && { top_k: topK }),
    ...(stopSequences.length > 0 && { stop_sequences: stopSequences }),
    ...(endUser !== null && { metadata: { user_id: endUser } }),
    ...(request.tierIsAuto && { service_tier: 'auto' }),
    ...(request.streamed && { stream: true }),
  }
  return { body, places }
}
