/** Makes the edits for a non-streamed response that passes through. */

import type { UsageReport } from '../../conversation/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { BodyEdit } from '../../lib/json-text.ts'
import { namesInResponse } from './client-names.ts'
import type { ResponsesRelayOptions } from './relay.ts'
import { writeUsage } from './usage.ts'

type WholeFacts = Pick<ResponsesRelayOptions, 'clientModel' | 'names'>

/** Returns the edits for a response; empty if it needs none. */
export function relayEdits(
  response: JsonObject,
  { state, usage }: UsageReport,
  { clientModel, names }: WholeFacts,
): BodyEdit[] {
  const isNamed = response.model === undefined || response.model === clientModel
  return [
    ...(isNamed ? [] : [{ op: 'set', path: '/model', value: clientModel } as const]),
    // Clients only look for figures in `usage`, so figures found elsewhere are copied to it.
    ...(state === 'missing' || isObject(response.usage)
      ? []
      : [{ op: 'set', path: '/usage', value: writeUsage(usage) } as const]),
    ...(names === null ? [] : namesInResponse(response, '', names)),
  ]
}
