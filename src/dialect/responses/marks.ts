/** Removes, before the provider sees the history, what this gateway added to earlier, converted replies. */

import { CarriedItems, unresolvedItems } from '../../conversation/carried-items.ts'
import { isMark } from '../../conversation/seal.ts'
import { isObject, type JsonObject, type JsonValue, textOrNull } from '../../lib/json.ts'
import { mapList, withoutMembers } from '../copy.ts'
import type { DialectFacts } from '../types.ts'
import { isReasoning, itemOf } from './items.ts'

/**
 * Drops reasoning of other providers' models, removes ids that carry items, and replaces references to carried items with the
 * items. References that the provider issued stay.
 */
export function withoutMarks(items: readonly JsonValue[], facts: DialectFacts): JsonValue[] {
  if (facts.road === 'converted') return items as JsonValue[]
  return mapList(resolved(items, facts), item => {
    // Only ids and reasoning can contain this gateway's marks.
    if (itemOf(item)?.id === undefined && !isReasoning(item)) return item
    if (!isObject(item) || isReference(item)) return item
    const isMarked = isMarkedId(item.id)
    if (isReasoning(item) && (isMarked || isMark(textOrNull(item.encrypted_content) ?? ''))) return undefined
    return isMarked ? withoutMembers(item, ['id']) : item
  })
}

/**
 * Drops reasoning without a seal from same-format calls if the provider seals its reasoning. The provider would look for such an
 * item by its id and, unless it had stored the item, refuse the call (404 "Item with id … not found", OpenAI's Responses API,
 * read 2026-11).
 */
export function withoutBareIds(items: readonly JsonValue[], { road, dialect }: DialectFacts): JsonValue[] {
  if (road === 'converted' || !dialect.reasoning.sealed) return items as JsonValue[]
  return mapList(items, item => (isReasoning(item) && textOrNull(item.encrypted_content) === null ? undefined : item))
}

function resolved(items: readonly JsonValue[], { openMark, place }: DialectFacts): readonly JsonValue[] {
  // Only the ids of references are opened: an item that a reference needs is carried by one of these ids.
  if (!items.some(item => isReference(item) && isMarkedId(item.id))) return items
  const carried = new CarriedItems(
    items.filter(isReference).map(item => item.id),
    openMark,
  )
  return items.flatMap((item, index): readonly JsonValue[] => {
    if (!isReference(item)) return [item]
    return carried.resolve(item.id) ?? (isMarkedId(item.id) ? unresolvedItems(item.id, place(index)) : [item])
  })
}

function isReference(item: JsonValue): item is JsonObject & { id: string } {
  const given = itemOf(item)
  if (typeof given?.id !== 'string') return false
  return given.type === 'item_reference' || (given.type === undefined && given.role === undefined)
}

/** Whether an id consists of a type prefix and a mark. */
function isMarkedId(id: JsonValue | undefined): boolean {
  return typeof id === 'string' && isMark(id.slice(id.indexOf('_') + 1))
}
