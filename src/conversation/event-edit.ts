/** Edits events on their way through: what is not edited keeps its bytes. */

import { type BodyEdit, editJson } from '../lib/json-text.ts'

/** Sets one value at places of the JSON object behind `data:` of an event that has one data line. */
export function replaceData(raw: string, places: readonly string[], value: string): string {
  return editData(
    raw,
    places.map((path): BodyEdit => ({ op: 'set', path, value })),
  )
}

/** Edits the JSON object behind `data:` of an event that has one data line. */
export function editData(raw: string, edits: readonly BodyEdit[]): string {
  if (edits.length === 0) return raw
  const open = raw.indexOf('{', raw.indexOf('data:'))
  const close = raw.lastIndexOf('}') + 1
  return raw.slice(0, open) + editJson(raw.slice(open, close), edits) + raw.slice(close)
}
