/** Carries items inside ids, for clients that refer to items by id instead of sending them. */

import { carryingId, type Mark, selfCarryingId } from '../../conversation/carried-items.ts'
import type { ByteText } from '../../lib/byte-text.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'
import { begunReasoning, reasoningItem } from './write-items.ts'

/** A finished item, serialized. */
export interface WrittenItem {
  readonly type: JsonValue | undefined
  readonly json: ByteText
}

/** Whether clients may refer to the item by id. Function calls are always sent back in full. */
function isReferable({ type }: { readonly type?: JsonValue | undefined }): boolean {
  return type !== 'function_call'
}

/**
 * In a stream, an id is sent before its item is complete, so it cannot carry the item. Instead, one more item at the end,
 * reasoning without text, carries the others in its id. If they do not all fit, it carries no reasoning, because a
 * conversation works without it.
 */
export function carrierOf(items: readonly WrittenItem[], mark: Mark): { begun: JsonObject; done: JsonObject } | null {
  const referable = items.filter(isReferable)
  if (referable.length === 0) return null
  const needed = referable.filter(({ type }) => type !== 'reasoning')
  const idOf = (carried: readonly WrittenItem[]) =>
    carryingId(
      'rs_',
      carried.map(({ json }) => json),
      mark,
    )
  const id = idOf(referable) ?? (needed.length === 0 ? null : idOf(needed))
  return id === null ? null : { begun: begunReasoning(id), done: reasoningItem(id, [], null) }
}

/** The id that carries the item in a whole reply; its original id if that is not needed, or if it would be too long. */
export function ownIdOf(item: JsonObject, mark: Mark): string {
  const own = typeof item.id === 'string' ? item.id : ''
  const prefix = /^[a-z]+_/.exec(own)?.[0] ?? ''
  return (isReferable(item) ? selfCarryingId(prefix, item, mark) : null) ?? own
}
