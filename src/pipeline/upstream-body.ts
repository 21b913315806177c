/** The body that goes upstream in its own format: the client's text with edits, and the catalogue's rules on top. */

import type { Endpoint, UpstreamTarget } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { type BodyEdit, editJson } from '../lib/json-text.ts'
import { applyRules } from '../translate/rules.ts'

/**
 * `text` is a latin1 string of UTF-8 bytes. Every byte that is not edited stays as it was written, apart from the members
 * that a rule changes.
 */
export function upstreamBody(
  text: string,
  edits: readonly BodyEdit[],
  target: UpstreamTarget,
  endpoint: Endpoint,
): Buffer {
  const edited = editJson(text, edits)
  if (target.rules.length === 0) return Buffer.from(edited, 'latin1')
  const body = JSON.parse(Buffer.from(edited, 'latin1').toString('utf8')) as JsonObject
  const ruled = structuredClone(body)
  applyRules(ruled, target.rules, endpoint)
  return Buffer.from(editJson(edited, changesBetween(body, ruled)), 'latin1')
}

/** Edits of the members that differ. */
function changesBetween(before: JsonObject, after: JsonObject): BodyEdit[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key): BodyEdit[] => {
    const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (!Object.hasOwn(after, key)) return [{ op: 'remove', path }]
    const isSame = Object.hasOwn(before, key) && JSON.stringify(before[key]) === JSON.stringify(after[key])
    return isSame ? [] : [{ op: 'set', path, value: after[key] }]
  })
}
