/**
 * Expresses the difference between two JSON values as edits, so that a change made to parsed data can be applied to its JSON
 * text.
 */

import type { ArrangedItem, BodyEdit } from './edit-tree.ts'
import { isObject, type JsonObject, type JsonValue } from './json.ts'

function pointerOf(path: string, key: string): string {
  return /[~/]/.test(key) ? `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}` : `${path}/${key}`
}

/** If more elements of a list change, one edit arranges them all anew: thousands of edits take longer than what they change. */
const OWN_EDITS_MAX = 100

/**
 * Behind a longer path, a value that differs is replaced as a whole, because each edit repeats its path: a key of megabytes with
 * thousands of edits below it would take gigabytes.
 */
const PATH_LENGTH_MAX = 2_000

/** Whether a member with a key that is too long for a path differs. */
function changesLongKey(before: JsonValue | undefined, after: JsonValue): boolean {
  if (!isObject(before) || !isObject(after)) return false
  const differs = (key: string) => key.length > PATH_LENGTH_MAX && before[key] !== after[key]
  return Object.keys(before).some(differs) || Object.keys(after).some(differs)
}

/** Collects edits, skipping the parts that both values share. */
function collect(before: JsonValue | undefined, after: JsonValue, path: string, edits: BodyEdit[]): void {
  if (before === after) return
  if (path.length > PATH_LENGTH_MAX || (path !== '' && changesLongKey(before, after))) {
    edits.push({ op: 'set', path, value: after })
    return
  }
  if (isObject(before) && isObject(after)) {
    for (const key of Object.keys(before)) {
      if (!Object.hasOwn(after, key) || after[key] === undefined)
        edits.push({ op: 'remove', path: pointerOf(path, key) })
    }
    for (const key of Object.keys(after)) {
      const value = after[key]
      if (value === undefined) continue
      const old = Object.hasOwn(before, key) ? before[key] : undefined
      if (old !== value) collect(old, value, pointerOf(path, key), edits)
    }
    return
  }
  if (!Array.isArray(before) || !Array.isArray(after)) {
    edits.push({ op: 'set', path, value: after })
    return
  }
  if (before.length !== after.length) {
    edits.push({ op: 'arrange', path, items: arranged(before, after) })
    return
  }
  let changed = 0
  for (let index = 0; index < after.length; index++) if (before[index] !== after[index]) changed++
  if (changed > OWN_EDITS_MAX) {
    edits.push({ op: 'arrange', path, items: after.map((value, index) => itemFrom(before, index, value)) })
    return
  }
  for (let index = 0; index < after.length; index++) {
    const value = after[index] as JsonValue
    if (before[index] !== value) collect(before[index], value, `${path}/${index}`, edits)
  }
}

/**
 * Describes `after` as a rearrangement of `before`. Objects and lists that are in both keep their text. A new object is
 * expressed as edits of the element that comes next in `before`, if that is an object that is not in `after`.
 */
function arranged(before: readonly JsonValue[], after: readonly JsonValue[]): ArrangedItem[] {
  const places = new Map(before.map((value, index) => [value, index]))
  const kept = new Set(after)
  let previous = -1
  return after.map((value): ArrangedItem => {
    const from = isContainer(value) ? places.get(value) : undefined
    if (from !== undefined) {
      previous = from
      return { from, edits: [] }
    }
    const candidate = before[previous + 1]
    if (!isObject(candidate) || !isObject(value) || kept.has(candidate)) return { value }
    previous += 1
    return { from: previous, edits: editsBetween(candidate, value) }
  })
}

function itemFrom(before: readonly JsonValue[], from: number, value: JsonValue): ArrangedItem {
  const old = before[from]
  if (old === value) return { from, edits: [] }
  return isObject(old) && isObject(value) && mayShareText(old, value)
    ? { from, edits: editsBetween(old, value) }
    : { value }
}

/** Whether `after` may keep some text of `before`: a member that has not changed, or that is an object or a list. */
function mayShareText(before: JsonObject, after: JsonObject): boolean {
  return Object.keys(after).some(
    key => Object.hasOwn(before, key) && (before[key] === after[key] || isContainer(after[key])),
  )
}

function isContainer(value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null
}

/**
 * Returns edits that turn `before` into `after`. Each edit covers as little of the value as possible. A list whose length has
 * changed is rearranged.
 */
export function editsBetween(before: JsonObject, after: JsonObject): BodyEdit[] {
  const edits: BodyEdit[] = []
  collect(before, after, '', edits)
  return edits
}
