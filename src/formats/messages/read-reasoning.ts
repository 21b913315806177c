/** Reads the reasoning settings of a messages request: `thinking` and `output_config.effort`. */

import { readThinking, reasoningRequest } from '../../conversation/reasoning-request.ts'
import type { ReasoningRequest } from '../../conversation/request.ts'
import { type JsonObject, objectOrNull } from '../../lib/json.ts'

export function readReasoning(body: JsonObject): ReasoningRequest {
  const thinking = readThinking(body.thinking)
  const display = objectOrNull(body.thinking)?.display
  return reasoningRequest({
    ...thinking,
    effort: objectOrNull(body.output_config)?.effort,
    shown: thinking.wanted === true ? display !== 'omitted' : null,
  })
}
