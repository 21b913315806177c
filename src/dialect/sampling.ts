/** Sampling parameters as far as the upstream takes them. */

import type { SamplingRequest } from '../conversation/request.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Dialect } from './words.ts'

export interface SamplingCircumstances {
  /** The model will reason in this call. */
  readonly reasons: boolean
  /** Highest temperature of the upstream's format; the dialect may lower it. */
  readonly temperatureMax: number
}

type SamplingFacts = Pick<Dialect['sampling'], 'parameters' | 'temperatureMax' | 'topK'>

/** Whether sampling parameters go up at all. */
export function takesSampling({ parameters }: Pick<SamplingFacts, 'parameters'>, reasons: boolean): boolean {
  return parameters !== null && !(parameters === 'all_unless_thinking' && reasons)
}

/** `temperature`, `top_p` and `top_k` of a request, converted. */
export function convertSampling(
  { temperature, topP, topK }: SamplingRequest,
  facts: SamplingFacts,
  circumstances: SamplingCircumstances,
): JsonObject {
  if (!takesSampling(facts, circumstances.reasons)) return {}
  const highest = Math.min(facts.temperatureMax, circumstances.temperatureMax)
  const both = facts.parameters !== 'temperature_xor_top_p' || temperature === null
  return {
    ...(temperature !== null && { temperature: Math.min(Math.max(temperature, 0), highest) }),
    ...(topP !== null && both && { top_p: topP }),
    ...(topK !== null && facts.topK && { top_k: topK }),
  }
}
