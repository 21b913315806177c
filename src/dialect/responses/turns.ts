/** Adapts a Responses request's instructions, item roles and item order to what the upstream accepts. */

import type { JsonObject, JsonValue } from '../../lib/json.ts'
import { mapList, withMember } from '../copy.ts'
import type { Dialect } from '../words.ts'
import { isMessage, isSystem } from './items.ts'

type Turns = Dialect['turns']

/**
 * Replaces the role `developer` if the host does not know it. Hosts that know `developer` accept `system`, too, so that role
 * stays.
 */
export function withRoles(items: readonly JsonValue[], { systemRole }: Turns): JsonValue[] {
  if (systemRole !== 'system') return items as JsonValue[]
  return mapList(items, item =>
    isMessage(item) && item.role === 'developer' ? withMember(item, 'role', 'system') : item,
  )
}

/**
 * Adds `text` to the instructions. Appends it to the `instructions` field if that contains text or if instructions cannot be
 * items of the input; otherwise inserts a message after the leading instructions.
 */
export function withInstruction(body: JsonObject, text: string, { systemRole }: Turns): JsonObject {
  const { instructions, input } = body
  const isField = typeof instructions === 'string' && instructions !== ''
  if (isField || systemRole === 'instructions' || !Array.isArray(input)) {
    const extended: JsonValue = Array.isArray(instructions)
      ? [...instructions, message('developer', text)]
      : [isField ? instructions : '', text].filter(Boolean).join('\n\n')
    return withMember(body, 'instructions', extended)
  }
  const role = systemRole === 'developer' ? 'developer' : 'system'
  return withMember(body, 'input', input.toSpliced(firstTurn(input), 0, message(role, text)))
}

function message(role: string, text: string): JsonObject {
  return { type: 'message', role, content: [{ type: 'input_text', text }] }
}

/** Returns the index of the first item that is not a leading instruction. */
function firstTurn(items: readonly JsonValue[]): number {
  const first = items.findIndex(item => !isSystem(item))
  return first < 0 ? items.length : first
}

/**
 * If the host does not accept instructions between turns, moves them to the front or makes them user messages. Adds a user turn
 * after a final assistant message if the model would not continue it by itself.
 */
export function placed(items: readonly JsonValue[], { midSystem, prefill }: Turns): JsonValue[] {
  const turns = midSystem === 'keep' ? (items as JsonValue[]) : placeSystem(items, midSystem)
  const last = turns.at(-1)
  const asksToGoOn = prefill === 'user_turn' && isMessage(last) && last.role === 'assistant'
  return asksToGoOn ? [...turns, message('user', 'Continue.')] : turns
}

function placeSystem(items: readonly JsonValue[], midSystem: 'hoist' | 'user_text'): JsonValue[] {
  const first = firstTurn(items)
  const rest = items.slice(first)
  if (!rest.some(isSystem)) return items as JsonValue[]
  if (midSystem === 'user_text') {
    return mapList(items, (item, index) => (index > first && isSystem(item) ? withMember(item, 'role', 'user') : item))
  }
  return [...items.slice(0, first), ...rest.filter(isSystem), ...rest.filter(item => !isSystem(item))]
}
