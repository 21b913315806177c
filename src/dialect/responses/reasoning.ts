/** Writes the reasoning settings of a responses request, and adapts the reasoning in its history. */

import { isEffortLevel } from '../../conversation/reasoning-request.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { mapList, withMember, withoutMembers } from '../copy.ts'
import type { ReasoningPlan } from '../reasoning-plan.ts'
import type { DialectFacts, FormatPath } from '../types.ts'
import type { DialectReasoning } from '../words.ts'
import { isCall, isMessage, isReasoning } from './items.ts'

/**
 * Sets the effort from the reasoning plan. In converted calls whose client wants to see reasoning, also requests a summary;
 * clients of this format request one themselves.
 */
export function withReasoning(body: JsonObject, facts: DialectFacts, { fields, reasons }: ReasoningPlan): JsonObject {
  const given = objectOrNull(body.reasoning)
  const own = given ?? {}
  const { effort } = fields
  let asked = own
  if (effort !== undefined) asked = withMember(own, 'effort', effort)
  // Unknown levels may be newer than this code, so the upstream decides.
  else if (facts.dialect.reasoning.levels === null || isEffortLevel(own.effort)) asked = withoutMembers(own, ['effort'])
  const tells = facts.formatPath === 'converted' && facts.reasoning.shown === true && reasons
  if (tells && facts.dialect.reasoning.parameter !== null) asked = withMember(asked, 'summary', 'auto')
  if (asked === own) return body
  return Object.keys(asked).length === 0 ? withoutMembers(body, ['reasoning']) : withMember(body, 'reasoning', asked)
}

/**
 * Adapts the reasoning items in the history to what the upstream accepts: encrypted reasoning, readable text (which it may
 * require before each tool call), or none.
 */
export function withEcho(items: readonly JsonValue[], facts: DialectReasoning, formatPath: FormatPath): JsonValue[] {
  if (facts.field === 'item_content' && facts.echo !== 'never') return withTexts(items, facts)
  if (formatPath === 'same') return items as JsonValue[]
  return mapList(items, item => {
    if (!isReasoning(item)) return item
    return facts.sealed && textOrNull(item.encrypted_content) !== null ? item : undefined
  })
}

/**
 * Writes reasoning as text. If the upstream requires it before every tool call, each call without reasoning gets a copy of its
 * turn's reasoning, or a placeholder if the turn has none.
 */
function withTexts(items: readonly JsonValue[], { echo, echoPlaceholder }: DialectReasoning): JsonValue[] {
  const written: JsonValue[] = []
  let turnReasoning: JsonObject | null = null
  for (const item of items) {
    if (isReasoning(item)) {
      turnReasoning = withContent(item)
      if (turnReasoning !== null) written.push(turnReasoning)
      continue
    }
    if (isCall(item) && echo === 'always' && !isReasoning(written.at(-1))) {
      written.push(
        turnReasoning === null ? reasoningItem(echoPlaceholder ?? '') : withoutMembers(turnReasoning, ['id']),
      )
    }
    if (!isCall(item) && !isAnswer(item)) turnReasoning = null
    written.push(item)
  }
  const isSame = written.length === items.length && written.every((item, index) => item === items[index])
  return isSame ? (items as JsonValue[]) : written
}

function isAnswer(item: JsonValue): boolean {
  return isMessage(item) && item.role === 'assistant'
}

/** Moves an item's summary into its content. Null if the item has no text. */
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
