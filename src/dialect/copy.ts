/** Changes objects and lists by copying. Unchanged parts are shared with the originals, which are never modified. */

import { isObject, type JsonObject, type JsonValue, setMember } from '../lib/json.ts'

/** Sets a member. An existing member keeps its position; if the value is the same, the object itself is returned. */
export function withMember(object: JsonObject, key: string, value: JsonValue): JsonObject {
  return Object.hasOwn(object, key) && object[key] === value ? object : { ...object, [key]: value }
}

/** Renames a member and sets its value. The member keeps its position. */
export function withMemberRenamed(object: JsonObject, from: string, to: string, value: JsonValue): JsonObject {
  if (from === to) return withMember(object, to, value)
  const changed: JsonObject = {}
  for (const key of Object.keys(object)) {
    if (key === from) setMember(changed, to, value)
    else if (key !== to) setMember(changed, key, object[key])
  }
  return changed
}

export function withoutMembers(object: JsonObject, keys: readonly string[]): JsonObject {
  let isThere = false
  for (const key of keys) isThere ||= Object.hasOwn(object, key)
  if (!isThere) return object
  const left: JsonObject = {}
  for (const key of Object.keys(object)) if (!keys.includes(key)) setMember(left, key, object[key])
  return left
}

/** Returns an object with the members of all objects. Of members with the same name, the last one stays. */
export function combined(objects: readonly JsonObject[]): JsonObject {
  const all: JsonObject = {}
  for (const object of objects) for (const key of Object.keys(object)) setMember(all, key, object[key])
  return all
}

/** Maps a list and drops elements that become undefined. Returns the list itself if nothing changes. */
export function mapList(
  list: readonly JsonValue[],
  change: (value: JsonValue, index: number, list: readonly JsonValue[]) => JsonValue | undefined,
): JsonValue[] {
  let changed: JsonValue[] | null = null
  for (let index = 0; index < list.length; index++) {
    const value = list[index] as JsonValue
    const next = change(value, index, list)
    if (next !== value && changed === null) changed = list.slice(0, index)
    if (changed !== null && next !== undefined) changed.push(next)
  }
  // The cast is safe, because nobody modifies a list that was passed in.
  return changed ?? (list as JsonValue[])
}

/** Maps the elements of the list at `object[key]`. Any other value there stays as it is. */
export function withEach(object: JsonObject, key: string, change: (value: JsonValue) => JsonValue): JsonObject {
  const list = object[key]
  return Array.isArray(list) ? withMember(object, key, mapList(list, change)) : object
}

/** Removes the values at a path, in which the step `*` stands for every member. */
export function without(value: JsonValue | undefined, [step, ...rest]: readonly string[]): JsonValue | undefined {
  if (step === undefined) return undefined
  if (Array.isArray(value)) {
    // List elements are never removed, because the indexes of the others would shift.
    if (rest.length === 0) return value
    return mapList(value, (inner, index) => (step === '*' || step === String(index) ? without(inner, rest) : inner))
  }
  if (!isObject(value)) return value
  let changed: JsonObject = value
  for (const key of step === '*' ? Object.keys(value) : [step]) {
    if (!Object.hasOwn(value, key)) continue
    const inner = without(value[key], rest)
    if (inner === undefined) changed = withoutMembers(changed, [key])
    else changed = withMember(changed, key, inner)
  }
  return changed
}
