/** The body that goes upstream in its own format: the client's text with edits, and the catalogue's rules on top. */

import type { Endpoint, UpstreamTarget } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { editsBetween } from '../lib/json-diff.ts'
import { type BodyEdit, editJson } from '../lib/json-text.ts'
import { applyRules } from '../translate/rules.ts'

/** What a body is made from: `text` is a latin1 string of UTF-8 bytes. */
export interface NamedBody {
  readonly text: string
  readonly requestedName: string
}

/** The body for a target. Every byte stays as it was written, apart from the model, `edits` and what a rule changes. */
export function bodyFor(
  { text, requestedName }: NamedBody,
  target: UpstreamTarget,
  endpoint: Endpoint,
  edits: readonly BodyEdit[] = [],
): Buffer {
  const named: BodyEdit[] = requestedName === target.model ? [] : [{ op: 'set', path: '/model', value: target.model }]
  return Buffer.from(applyRulesToText(editJson(text, [...named, ...edits]), target, endpoint), 'latin1')
}

function applyRulesToText(text: string, target: UpstreamTarget, endpoint: Endpoint): string {
  if (target.rules.length === 0) return text
  const before = JSON.parse(Buffer.from(text, 'latin1').toString('utf8')) as JsonObject
  const after = structuredClone(before)
  applyRules(after, target.rules, endpoint)
  return editJson(text, editsBetween(before, after))
}
