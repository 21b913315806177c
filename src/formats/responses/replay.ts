/** A whole response as the events of a stream, so that one reader reads both. */

import type { UpstreamEvent } from '../../conversation/reply.ts'
import { replayed } from '../../conversation/stream-event.ts'
import type { JsonObject } from '../../lib/json.ts'

const ENDS: ReadonlySet<unknown> = new Set(['completed', 'incomplete', 'failed'])

/** The event that ends the response tells all of it. A reply that is no response gives one event with it. */
export function replayResponse(response: JsonObject): readonly UpstreamEvent[] {
  const status = response.status ?? 'completed'
  if (response.error && status === 'completed') return [replayed('error', { type: 'error', error: response.error })]
  if (status !== 'failed' && !Array.isArray(response.output)) return [replayed('', response)]
  const type = ENDS.has(status) ? `response.${String(status)}` : 'response.in_progress'
  return [replayed(type, { type, response })]
}
