/** Changes to a request body, as data: a relay applies them to the bytes, so that everything else stays as it came. */

import { isObject, type JsonObject, type JsonValue, unescapeKey } from '../lib/json.ts'

/** `path` is an RFC 6901 pointer. `set` replaces the value or adds the key; the object that holds it exists. */
export type BodyEdit =
  | { readonly op: 'set'; readonly path: string; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: string }

/**
 * Applies edits to a parsed body; the input is left alone, what is not on an edited path is shared. A path whose parent is
 * missing is skipped. Array elements are replaced, never removed.
 */
export function applyEdits(body: JsonObject, edits: readonly BodyEdit[]): JsonObject {
  let edited: JsonValue = body
  for (const edit of edits) {
    const keys = edit.path.split('/').slice(1).map(unescapeKey)
    edited = applyAt(edited, keys, edit)
  }
  return isObject(edited) ? edited : body
}

function applyAt(value: JsonValue, keys: readonly string[], edit: BodyEdit): JsonValue {
  const [key, ...rest] = keys
  if (key === undefined) return edit.op === 'set' ? edit.value : value
  if (Array.isArray(value)) {
    const index = Number(key)
    const current = value[index]
    if (current === undefined || (rest.length === 0 && edit.op === 'remove')) return value
    return value.with(index, applyAt(current, rest, edit))
  }
  if (!isObject(value)) return value
  const entries = Object.entries(value)
  if (rest.length === 0 && edit.op === 'remove') return Object.fromEntries(entries.filter(([name]) => name !== key))
  const current = Object.hasOwn(value, key) ? value[key] : undefined
  if (current === undefined) {
    return rest.length === 0 && edit.op === 'set' ? Object.fromEntries([...entries, [key, edit.value]]) : value
  }
  return Object.fromEntries(entries.map(([name, child]) => [name, name === key ? applyAt(current, rest, edit) : child]))
}
