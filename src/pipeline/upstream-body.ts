/** The body that goes upstream in its own format: the client's text with edits, and the catalogue's rules on top. */

import type { Endpoint, UpstreamTarget } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { editsBetween } from '../lib/json-diff.ts'
import { asciiJson, type BodyEdit, editJson, type Member } from '../lib/json-text.ts'
import { applyRules } from '../translate/rules.ts'

/** What a body is made from: `text` is a latin1 string of UTF-8 bytes. */
export interface NamedBody {
  readonly text: string
  readonly requestedName: string
  /** Where the value of `model` stands in `text`, where that is known. */
  readonly modelAt?: Pick<Member, 'valueStart' | 'valueEnd'>
}

/** The body for a target. Every byte stays as it was written, apart from the model, `edits` and what a rule changes. */
export function bodyFor(
  { text, requestedName, modelAt }: NamedBody,
  target: UpstreamTarget,
  endpoint: Endpoint,
  edits: readonly BodyEdit[] = [],
): Buffer {
  const isNamed = requestedName === target.model
  if (edits.length === 0 && target.rules.length === 0 && modelAt !== undefined) {
    return isNamed ? Buffer.from(text, 'latin1') : spliced(text, modelAt, target.model)
  }
  const named: BodyEdit[] = isNamed ? [] : [{ op: 'set', path: '/model', value: target.model }]
  return Buffer.from(applyRulesToText(editJson(text, [...named, ...edits]), target, endpoint), 'latin1')
}

/** Writes the pieces next to each other: a text put together first would be copied twice. */
function spliced(
  text: string,
  { valueStart, valueEnd }: Pick<Member, 'valueStart' | 'valueEnd'>,
  model: string,
): Buffer {
  const name = asciiJson(model)
  const bytes = Buffer.allocUnsafe(text.length - (valueEnd - valueStart) + name.length)
  let at = bytes.write(text.slice(0, valueStart), 0, 'latin1')
  at += bytes.write(name, at, 'latin1')
  bytes.write(text.slice(valueEnd), at, 'latin1')
  return bytes
}

function applyRulesToText(text: string, target: UpstreamTarget, endpoint: Endpoint): string {
  if (target.rules.length === 0) return text
  const before = JSON.parse(Buffer.from(text, 'latin1').toString('utf8')) as JsonObject
  const after = structuredClone(before)
  applyRules(after, target.rules, endpoint)
  return editJson(text, editsBetween(before, after))
}
