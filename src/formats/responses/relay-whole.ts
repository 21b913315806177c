/** Edits a non-streamed response of a same-format call on its way to the client. */

import type { UsageReport } from '../../conversation/usage.ts'
import type { BodyEdit } from '../../lib/edit-tree.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { namesInResponse } from './client-names.ts'
import type { ResponsesRelayOptions } from './relay.ts'
import { writeUsage } from './usage.ts'

type WholeFacts = Pick<ResponsesRelayOptions, 'clientModel' | 'names'>

/** Returns the edits that restore the client's model and tool names and add missing usage; empty if nothing has to change. */
export function relayEdits(
  response: JsonObject,
  { state, usage }: UsageReport,
  { clientModel, names }: WholeFacts,
): BodyEdit[] {
  const isNamed = response.model === undefined || response.model === clientModel
  return [
    ...(isNamed ? [] : [{ op: 'set', path: '/model', value: clientModel } as const]),
    // Clients read token counts only from `usage`, so counts that the provider reports elsewhere are copied to it.
    ...(state === 'missing' || isObject(response.usage)
      ? []
      : [{ op: 'set', path: '/usage', value: writeUsage(usage) } as const]),
    ...(names === null ? [] : namesInResponse(response, '', names)),
  ]
}
