/**
 * Builds the body for an upstream that speaks the client's format: edits the client's text, then applies the catalogue's rules.
 */

import { applyRules, mayChange } from '../dialect/rules.ts'
import type { Endpoint, UpstreamTarget } from '../generated/types.ts'
import { type ByteText, characters, decodeText, toBuffer } from '../lib/byte-text.ts'
import type { BodyEdit } from '../lib/edit-tree.ts'
import { parseExactJson } from '../lib/exact-json.ts'
import { type JsonObject, unescapeKey } from '../lib/json.ts'
import { editsBetween } from '../lib/json-diff.ts'
import { editMembers } from '../lib/json-members.ts'
import { editJson, type Member } from '../lib/json-text.ts'
import { inTurn } from '../lib/loop-turns.ts'

/** The client's body, from which the upstream's body is made. */
export interface NamedBody {
  readonly text: ByteText
  /** The bytes received from the client; null if `text` differs from them. */
  readonly raw?: Buffer | null
  /** The members of `text`, if known. No key may occur twice. */
  readonly members?: readonly Member[]
  readonly requestedName: string
}

/** From this size on, rules are applied in several turns of the event loop, so that other calls need not wait. */
const LARGE_BYTES = 256 * 1024

/**
 * Returns the body for a target. Every byte stays as the client wrote it, except for the model's name, the `edits` and the
 * changes that the catalogue's rules make.
 */
export function bodyFor(
  { text, raw, members, requestedName }: NamedBody,
  target: UpstreamTarget,
  endpoint: Endpoint,
  edits: readonly BodyEdit[] = [],
): Buffer | Promise<Buffer> {
  const named: BodyEdit[] = requestedName === target.model ? [] : [{ op: 'set', path: '/model', value: target.model }]
  const all = [...named, ...edits]
  const isRuled = hasRulesFor(target, endpoint, members, all)
  if (!isRuled) {
    if (all.length === 0) return raw ?? toBuffer(text)
    const pieces = members === undefined ? null : editMembers(text, members, all)
    if (pieces !== null) return bytesOf(pieces)
  }
  const edited = editJson(text, all)
  if (!isRuled) return toBuffer(edited)
  if (text.length >= LARGE_BYTES) return applyRulesInTurns(edited, target, endpoint)
  const before = valuesOf(edited)
  return toBuffer(editJson(edited, rulesAsEdits(before, target, endpoint)))
}

/** Whether any of the target's rules can change the body, judging by its members and the edits. */
function hasRulesFor(
  { rules }: UpstreamTarget,
  endpoint: Endpoint,
  members: readonly Member[] | undefined,
  edits: readonly BodyEdit[],
): boolean {
  if (rules.length === 0 || members === undefined) return rules.length > 0
  const edited = edits.map(({ path }) => unescapeKey(path.split('/', 2)[1] ?? ''))
  return mayChange(rules, endpoint, key => edited.includes(key) || members.some(member => member.key === key))
}

/** Passes the body to `make`, synchronously if it is already available. */
export function withBody<Made>(body: Buffer | Promise<Buffer>, make: (body: Buffer) => Made): Made | Promise<Made> {
  return body instanceof Promise ? body.then(make) : make(body)
}

/** Copies the pieces one by one into the buffer: joining them first would copy everything twice. */
function bytesOf(pieces: readonly ByteText[]): Buffer {
  const bytes = Buffer.allocUnsafe(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) at += bytes.write(characters(piece), at, 'latin1')
  return bytes
}

function valuesOf(text: ByteText): JsonObject {
  return parseExactJson(decodeText(text)) as JsonObject
}

/** Applies the target's rules to `before` and returns the changes as edits. */
function rulesAsEdits(before: JsonObject, { rules }: UpstreamTarget, endpoint: Endpoint): BodyEdit[] {
  return editsBetween(before, applyRules(before, rules, endpoint))
}

async function applyRulesInTurns(text: ByteText, target: UpstreamTarget, endpoint: Endpoint): Promise<Buffer> {
  const before = await inTurn(() => valuesOf(text))
  const edits = await inTurn(() => rulesAsEdits(before, target, endpoint))
  return inTurn(() => toBuffer(editJson(text, edits)))
}
