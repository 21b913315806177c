/**
 * Removes this gateway's envelopes from the history in same-format calls. Envelopes are signed tokens that the gateway put into
 * earlier, converted replies (see `conversation/envelope.ts`); providers cannot read them.
 */

import { CarriedItems, unresolvedItems } from '../../conversation/carried-items.ts'
import { isEnvelope } from '../../conversation/envelope.ts'
import { isObject, type JsonObject, type JsonValue, textOrNull } from '../../lib/json.ts'
import { mapList, withoutMembers } from '../copy.ts'
import type { DialectFacts } from '../types.ts'
import { isReasoning, itemOf } from './items.ts'

/**
 * Drops reasoning with envelopes, which other providers produced, and removes ids with envelopes. Replaces each reference to an
 * item that is stored in such an id (see `conversation/carried-items.ts`) with the item itself. References to ids that the
 * provider issued stay.
 */
export function withoutEnvelopes(items: readonly JsonValue[], facts: DialectFacts): JsonValue[] {
  if (facts.formatPath === 'converted') return items as JsonValue[]
  return mapList(resolved(items, facts), item => {
    // Only ids and reasoning can contain envelopes.
    if (itemOf(item)?.id === undefined && !isReasoning(item)) return item
    if (!isObject(item) || isReference(item)) return item
    const hasEnvelopeId = isEnvelopeId(item.id)
    if (isReasoning(item) && (hasEnvelopeId || isEnvelope(textOrNull(item.encrypted_content) ?? ''))) return undefined
    return hasEnvelopeId ? withoutMembers(item, ['id']) : item
  })
}

/**
 * For same-format calls: drops reasoning items without `encrypted_content` if the provider encrypts its reasoning. The provider
 * would look for such an item by its id and, unless it had stored the item, refuse the call (404 "Item with id … not found",
 * OpenAI's Responses API, read 2026-11).
 */
export function withoutBareIds(items: readonly JsonValue[], { formatPath, dialect }: DialectFacts): JsonValue[] {
  if (formatPath === 'converted' || !dialect.reasoning.sealed) return items as JsonValue[]
  return mapList(items, item => (isReasoning(item) && textOrNull(item.encrypted_content) === null ? undefined : item))
}

function resolved(items: readonly JsonValue[], { openEnvelope, place }: DialectFacts): readonly JsonValue[] {
  // Only ids of references are opened: any item that a reference needs is stored in one of these ids.
  if (!items.some(item => isReference(item) && isEnvelopeId(item.id))) return items
  const carried = new CarriedItems(
    items.filter(isReference).map(item => item.id),
    openEnvelope,
  )
  return items.flatMap((item, index): readonly JsonValue[] => {
    if (!isReference(item)) return [item]
    return carried.resolve(item.id) ?? (isEnvelopeId(item.id) ? unresolvedItems(item.id, place(index)) : [item])
  })
}

function isReference(item: JsonValue): item is JsonObject & { id: string } {
  const given = itemOf(item)
  if (typeof given?.id !== 'string') return false
  return given.type === 'item_reference' || (given.type === undefined && given.role === undefined)
}

/** Whether an id consists of a type prefix and an envelope. */
function isEnvelopeId(id: JsonValue | undefined): boolean {
  return typeof id === 'string' && isEnvelope(id.slice(id.indexOf('_') + 1))
}
