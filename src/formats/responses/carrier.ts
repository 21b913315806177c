/** Puts items of a reply inside ids, for clients that later refer to an item by id instead of sending it back. */

import { carryingId, selfCarryingId, type WrapJson } from '../../conversation/carried-items.ts'
import type { ByteText } from '../../lib/byte-text.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'

/** A finished, serialized item. */
export interface WrittenItem {
  readonly type: JsonValue | undefined
  readonly json: ByteText
}

/** Whether clients may refer to an item by id. Function calls are always sent back in full. */
function isReferable({ type }: { readonly type?: JsonValue | undefined }): boolean {
  return type !== 'function_call'
}

/**
 * Returns an id that contains a stream's items, as far as clients may refer to them. An empty reasoning item at the end of the
 * stream gets this id, because the stream has to send each item's own id before the item is complete. If not all items fit,
 * reasoning items are left out, because a conversation works without them. Null if there is nothing to carry, or if the rest
 * does not fit either.
 */
export function carrierIdOf(items: readonly WrittenItem[], wrapJson: WrapJson): string | null {
  const referable = items.filter(isReferable)
  if (referable.length === 0) return null
  const needed = referable.filter(({ type }) => type !== 'reasoning')
  const idOf = (carried: readonly WrittenItem[]) =>
    carryingId(
      'rs_',
      carried.map(({ json }) => json),
      wrapJson,
    )
  return idOf(referable) ?? (needed.length === 0 ? null : idOf(needed))
}

/**
 * Returns an id that contains an item of a non-streamed reply; the item's own id if clients never refer to the item, or if the
 * new id would be too long.
 */
export function ownIdOf(item: JsonObject, wrapJson: WrapJson): string {
  const own = typeof item.id === 'string' ? item.id : ''
  const prefix = /^[a-z]+_/.exec(own)?.[0] ?? ''
  return (isReferable(item) ? selfCarryingId(prefix, item, wrapJson) : null) ?? own
}
