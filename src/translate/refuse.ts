/** How a translator refuses a request: always a 400 that names the place and says what to do. */

import { GatewayError } from '../errors.ts'
import { type JsonObject, objectOrNull, textOrNull } from '../lib/json.ts'
import type { DialectReasoning } from './dialect.ts'
import type { ReasoningWish } from './reasoning-wish.ts'

/** Throws GatewayError(`invalid_request`). `place` is the path of the value in the client's own notation, or '' for none. */
export function refuse(place: string, problem: string): never {
  throw new GatewayError('invalid_request', { message: place === '' ? problem : `${place}: ${problem}` })
}

/**
 * Refuses a feature with the token by which coding agents know what to leave out when they ask again; the explanation is
 * for people.
 */
export function refuseCapability(token: string, explanation: string): never {
  throw new GatewayError('invalid_request', { message: `capability_rejected: ${token} (${explanation})` })
}

/**
 * Refuses the reasoning parameters of a messages request that a model does not take, for operators who would rather have
 * clients adapt than have a wish left out.
 */
export function refuseReasoning(
  messages: JsonObject,
  wish: ReasoningWish,
  { parameter, levels }: DialectReasoning,
): void {
  if (wish.effort !== null && levels.length === 0) {
    refuseCapability('effort_unsupported', 'This model does not support the effort parameter.')
  }
  const type = textOrNull(objectOrNull(messages.thinking)?.type)
  const adaptiveRefused = type === 'adaptive' && parameter === 'budget'
  if (type !== null && type !== 'disabled' && (parameter === 'none' || adaptiveRefused)) {
    refuseCapability(`thinking_type:${type}`, `${type} thinking is not supported on this model`)
  }
}
