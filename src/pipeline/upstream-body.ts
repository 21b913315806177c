/** The body that goes upstream in its own format: the client's text with edits, and the catalogue's rules on top. */

import type { Endpoint, UpstreamTarget } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { type BodyEdit, editJson } from '../lib/json-text.ts'
import { applyRules } from '../translate/rules.ts'

/** `text` is a latin1 string of UTF-8 bytes. Without rules every byte that is not edited stays as it was written. */
export function upstreamBody(
  text: string,
  edits: readonly BodyEdit[],
  target: UpstreamTarget,
  endpoint: Endpoint,
): Buffer {
  const edited = Buffer.from(editJson(text, edits), 'latin1')
  if (target.rules.length === 0) return edited
  const body = JSON.parse(edited.toString('utf8')) as JsonObject
  applyRules(body, target.rules, endpoint)
  return Buffer.from(JSON.stringify(body))
}
