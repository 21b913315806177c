/** Carries items inside ids, for clients that refer to items by id instead of sending them. */

import { carryingId, type Mark, selfCarryingId } from '../../conversation/carried-items.ts'
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
 * Returns an id that carries the items of a stream, for an additional reasoning item without text. The items' own ids cannot
 * carry them, because a stream sends each id before its item is complete. If the items do not all fit, reasoning is left out,
 * because a conversation works without it. Null if there is nothing to carry, or if it does not fit even without reasoning.
 */
export function carrierIdOf(items: readonly WrittenItem[], mark: Mark): string | null {
  const referable = items.filter(isReferable)
  if (referable.length === 0) return null
  const needed = referable.filter(({ type }) => type !== 'reasoning')
  const idOf = (carried: readonly WrittenItem[]) =>
    carryingId(
      'rs_',
      carried.map(({ json }) => json),
      mark,
    )
  return idOf(referable) ?? (needed.length === 0 ? null : idOf(needed))
}

/**
 * Returns an id that carries an item of a non-streamed reply, or the item's original id if clients never refer to the item or if
 * the carrying id would be too long.
 */
export function ownIdOf(item: JsonObject, mark: Mark): string {
  const own = typeof item.id === 'string' ? item.id : ''
  const prefix = /^[a-z]+_/.exec(own)?.[0] ?? ''
  return (isReferable(item) ? selfCarryingId(prefix, item, mark) : null) ?? own
}
