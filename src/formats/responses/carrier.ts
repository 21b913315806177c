/** Puts items of a reply inside ids, for clients that later refer to an item by id instead of sending it back. */

import { carryingId, selfCarryingId, type WrapJson } from '../../conversation/carried-items.ts'
import type { ByteText } from '../../lib/byte-text.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'

/** A finished, serialized item. */
export interface WrittenItem {
  readonly type: JsonValue | undefined
  readonly json: ByteText
}

/**
 * What an id leaves out if not everything fits: nothing; reasoning, because a conversation works without it; calls of functions
 * too, because most clients send those in full.
 */
const LEFT_OUT = [[], ['reasoning'], ['reasoning', 'function_call']]

/**
 * Returns an id that contains a stream's items. An empty reasoning item at the end of the stream gets this id, because the stream
 * has to send each item's own id before the item is complete. Null if there is nothing to carry, or if the texts alone are too
 * long.
 */
export function carrierIdOf(items: readonly WrittenItem[], wrapJson: WrapJson): string | null {
  let tried = 0
  for (const types of LEFT_OUT) {
    const carried = items.filter(({ type }) => !types.some(other => other === type)).map(({ json }) => json)
    if (carried.length === 0) return null
    if (carried.length === tried) continue
    tried = carried.length
    const id = carryingId('rs_', carried, wrapJson)
    if (id !== null) return id
  }
  return null
}

/** Returns an id that contains an item of a non-streamed reply; the item's own id if the new one would be too long. */
export function ownIdOf(item: JsonObject, wrapJson: WrapJson): string {
  const own = typeof item.id === 'string' ? item.id : ''
  const prefix = /^[a-z]+_/.exec(own)?.[0] ?? ''
  return selfCarryingId(prefix, item, wrapJson) ?? own
}
