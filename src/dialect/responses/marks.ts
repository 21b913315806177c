/** What this gateway put into replies of converted calls, taken out of the history before the provider sees it. */

import { CarriedItems, unresolvedItems } from '../../conversation/carried-items.ts'
import { isMark } from '../../conversation/seal.ts'
import { isObject, type JsonObject, type JsonValue, textOrNull } from '../../lib/json.ts'
import { mapList, withoutMembers } from '../copy.ts'
import type { DialectFacts } from '../types.ts'
import { isReasoning, itemOf } from './items.ts'

/**
 * Reasoning of models elsewhere goes, ids that carry items go from the items that have them, and references to carried
 * items become the items. References of the provider's own are its to resolve.
 */
export function withoutMarks(items: readonly JsonValue[], facts: DialectFacts): JsonValue[] {
  if (facts.road === 'converted') return items as JsonValue[]
  return mapList(resolved(items, facts), item => {
    // What has neither holds nothing of ours.
    if (itemOf(item)?.id === undefined && !isReasoning(item)) return item
    if (!isObject(item) || isReference(item)) return item
    const isMarked = isMarkedId(item.id)
    if (isReasoning(item) && (isMarked || isMark(textOrNull(item.encrypted_content) ?? ''))) return undefined
    return isMarked ? withoutMembers(item, ['id']) : item
  })
}

/**
 * Where nothing is stored, a provider that seals its reasoning knows none by its id alone: what comes without a seal is of
 * another model, and would be refused (404 "Item with id … not found", OpenAI's Responses API, read 2026-11).
 */
export function withoutBareIds(items: readonly JsonValue[], { road, dialect }: DialectFacts): JsonValue[] {
  if (road === 'converted' || !dialect.reasoning.sealed) return items as JsonValue[]
  return mapList(items, item => (isReasoning(item) && textOrNull(item.encrypted_content) === null ? undefined : item))
}

function resolved(items: readonly JsonValue[], { openMark, place }: DialectFacts): readonly JsonValue[] {
  // One carries the others, or itself.
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

/** Behind the prefix that tells the type of the item. */
function isMarkedId(id: JsonValue | undefined): boolean {
  return typeof id === 'string' && isMark(id.slice(id.indexOf('_') + 1))
}
