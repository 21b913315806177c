/** Adapts `tool_choice`, in all three formats, when tools are left out. */

import { arrayOrEmpty, isObject, type JsonValue, objectOrNull } from '../../lib/json.ts'

type IsGone = (tool: JsonValue | undefined) => boolean

/** Whether the choice only allows tools that are left out. */
export function forces(choice: JsonValue | undefined, isGone: IsGone): boolean {
  if (!isObject(choice)) return false
  if (choice.type !== 'allowed_tools') return isGone(choice)
  const allowed = arrayOrEmpty((objectOrNull(choice.allowed_tools) ?? choice).tools)
  return allowed.length > 0 && allowed.every(isGone)
}

/** Returns the choice without the tools that are left out; null if the choice need not change. */
export function filteredChoice(choice: JsonValue | undefined, isGone: IsGone): JsonValue | null {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return null
  const nested = objectOrNull(choice.allowed_tools)
  const holder = nested ?? choice
  const allowed = arrayOrEmpty(holder.tools)
  const kept = allowed.filter(tool => !isGone(tool))
  if (kept.length === allowed.length) return null
  return nested === null ? { ...choice, tools: kept } : { ...choice, allowed_tools: { ...nested, tools: kept } }
}
