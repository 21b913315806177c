/** What turned one JSON value into another, as edits: so that a change made on parsed data can be made on the bytes. */

import { isObject, type JsonObject, type JsonValue } from './json.ts'
import type { BodyEdit } from './json-text.ts'

function pointerOf(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function collect(before: JsonValue | undefined, after: JsonValue, path: string, edits: BodyEdit[]): void {
  if (isObject(before) && isObject(after)) {
    for (const key of Object.keys(before)) {
      if (!Object.hasOwn(after, key) || after[key] === undefined)
        edits.push({ op: 'remove', path: pointerOf(path, key) })
    }
    for (const [key, value] of Object.entries(after)) {
      if (value !== undefined)
        collect(Object.hasOwn(before, key) ? before[key] : undefined, value, pointerOf(path, key), edits)
    }
    return
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    after.forEach((value, index) => {
      collect(before[index], value, pointerOf(path, index), edits)
    })
    return
  }
  if (before !== after) edits.push({ op: 'set', path, value: after })
}

/** Edits that turn `before` into `after`, as deep as they can stand; an array that changed its length is set as a whole. */
export function editsBetween(before: JsonObject, after: JsonObject): BodyEdit[] {
  const edits: BodyEdit[] = []
  collect(before, after, '', edits)
  return edits
}
