/** Writes the reasoning settings of a responses request, and adapts the reasoning of earlier turns. */

import { isEffortLevel } from '../../conversation/reasoning-request.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { mapList, withMember, withoutMembers } from '../copy.ts'
import type { ReasoningPlan } from '../reasoning-plan.ts'
import type { DialectFacts, Road } from '../types.ts'
import type { DialectReasoning } from '../words.ts'
import { isCall, isMessage, isReasoning } from './items.ts'

/** Sets the planned effort. Clients of this format request a summary themselves; for others it is added here. */
export function withReasoning(body: JsonObject, facts: DialectFacts, { fields, reasons }: ReasoningPlan): JsonObject {
  const given = objectOrNull(body.reasoning)
  const own = given ?? {}
  const { effort } = fields
  let asked = own
  if (effort !== undefined) asked = withMember(own, 'effort', effort)
  // Unknown, newer levels are left for the upstream to judge.
  else if (facts.dialect.reasoning.levels === null || isEffortLevel(own.effort)) asked = withoutMembers(own, ['effort'])
  const tells = facts.road === 'converted' && facts.reasoning.shown === true && reasons
  if (tells && facts.dialect.reasoning.parameter !== null) asked = withMember(asked, 'summary', 'auto')
  if (asked === own) return body
  return Object.keys(asked).length === 0 ? withoutMembers(body, ['reasoning']) : withMember(body, 'reasoning', asked)
}

/** Reasoning of earlier turns as the host expects it: sealed as it came, as text before each call, or removed. */
export function withEcho(items: readonly JsonValue[], facts: DialectReasoning, road: Road): JsonValue[] {
  if (facts.field === 'item_content' && facts.echo !== 'never') return withTexts(items, facts)
  if (road === 'same') return items as JsonValue[]
  return mapList(items, item => {
    if (!isReasoning(item)) return item
    return facts.sealed && textOrNull(item.encrypted_content) !== null ? item : undefined
  })
}

/** Where every call needs reasoning, the calls of a turn share it; a placeholder stands in for unknown reasoning. */
function withTexts(items: readonly JsonValue[], { echo, echoPlaceholder }: DialectReasoning): JsonValue[] {
  const written: JsonValue[] = []
  /** The reasoning of the current turn. */
  let known: JsonObject | null = null
  for (const item of items) {
    if (isReasoning(item)) {
      known = withContent(item)
      if (known !== null) written.push(known)
      continue
    }
    if (isCall(item) && echo === 'always' && !isReasoning(written.at(-1))) {
      written.push(known === null ? reasoningItem(echoPlaceholder ?? '') : withoutMembers(known, ['id']))
    }
    if (!isCall(item) && !isAnswer(item)) known = null
    written.push(item)
  }
  const isSame = written.length === items.length && written.every((item, index) => item === items[index])
  return isSame ? (items as JsonValue[]) : written
}

function isAnswer(item: JsonValue): boolean {
  return isMessage(item) && item.role === 'assistant'
}

/** Moves the text into the item's content; null for an empty item. */
function withContent(item: JsonObject): JsonObject | null {
  if (arrayOrEmpty(item.content).some(part => textOf(part) !== '')) return item
  const text = arrayOrEmpty(item.summary).map(textOf).join('\n\n')
  return text === '' ? null : { ...withoutMembers(item, ['encrypted_content']), ...reasoningItem(text) }
}

function textOf(part: JsonValue): string {
  return isObject(part) ? (textOrNull(part.text) ?? '') : ''
}

function reasoningItem(text: string): JsonObject {
  return { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text }] }
}
