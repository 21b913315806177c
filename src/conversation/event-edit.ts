/** Edits events in pass-through streams. All other bytes stay unchanged. */

import { type ByteText, concat } from '../lib/byte-text.ts'
import type { BodyEdit } from '../lib/edit-tree.ts'
import { editJson } from '../lib/json-text.ts'

/** Sets one value in several places (JSON pointers) of the object after `data:`. The event must have a single data line. */
export function replaceData(raw: ByteText, places: readonly string[], value: string): ByteText {
  return editData(
    raw,
    places.map((path): BodyEdit => ({ op: 'set', path, value })),
  )
}

/** Edits the JSON object after `data:`. The event must have a single data line. */
export function editData(raw: ByteText, edits: readonly BodyEdit[]): ByteText {
  if (edits.length === 0) return raw
  const open = raw.indexOf('{', raw.indexOf('data:'))
  const close = raw.lastIndexOf('}') + 1
  return concat(raw.slice(0, open), editJson(raw.slice(open, close), edits), raw.slice(close))
}
