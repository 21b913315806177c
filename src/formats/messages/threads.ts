/**
 * Refuses message threads, whose history the provider stores, where they are not supported: the client must send the whole
 * conversation instead.
 */

import { GatewayError } from '../../errors.ts'
import { type JsonObject, objectOrNull } from '../../lib/json.ts'

/** Refuses `thread` with the details that make official SDKs fall back to sending the whole conversation. */
export function refuseThread(body: JsonObject): void {
  const thread = objectOrNull(body.thread)
  if (thread === null) return
  if (thread.type === 'continue') {
    throw new GatewayError('thread_not_found', { details: { error_code: 'thread_not_found' } })
  }
  throw new GatewayError('thread_unsupported', {
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  })
}
