/** Items of a reply whose client refers to items by id: which of them, and the ids that carry them. */

import { carryingId, type Mark, selfCarryingId } from '../../conversation/carried-items.ts'
import type { JsonObject } from '../../lib/json.ts'
import { begunReasoning, reasoningItem } from './write-items.ts'

/** Calls of functions come back whole. */
export function isReferable({ type }: JsonObject): boolean {
  return type !== 'function_call'
}

/**
 * In a stream an id is told before what it stands for is known, so one more item carries the others in its id: reasoning of
 * which there is nothing to show. Reasoning may be missing from a conversation, so it is left out where not all of it fits.
 */
export function carrierOf(items: readonly JsonObject[], mark: Mark): { begun: JsonObject; done: JsonObject } | null {
  const referable = items.filter(isReferable)
  if (referable.length === 0) return null
  const needed = referable.filter(({ type }) => type !== 'reasoning')
  const id = carryingId('rs_', referable, mark) ?? (needed.length === 0 ? null : carryingId('rs_', needed, mark))
  return id === null ? null : { begun: begunReasoning(id), done: reasoningItem(id, [], null) }
}

/** The id by which an item of a whole reply carries itself; its own one where it need not, or would be too long. */
export function ownIdOf(item: JsonObject, mark: Mark): string {
  const own = typeof item.id === 'string' ? item.id : ''
  const prefix = /^[a-z]+_/.exec(own)?.[0] ?? ''
  return (isReferable(item) ? selfCarryingId(prefix, item, mark) : null) ?? own
}
