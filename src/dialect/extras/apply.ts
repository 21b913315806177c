/**
 * Applies the changes of an extras plan to a request, both parsed and as text. Unchanged members keep their text byte for byte.
 */

import { ascii, type ByteText, concat, joinBytes } from '../../lib/byte-text.ts'
import { arrayOrEmpty, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { asciiJson, elementsOf, type Member } from '../../lib/json-text.ts'
import type { MemberChange } from './plan.ts'

/** Returns the changed body. Unchanged parts are shared. */
export function changeObject(body: JsonObject, changes: readonly MemberChange[]): JsonObject {
  const changed = new Map(changes.map(change => [change.member, change]))
  const kept = Object.entries(body).filter(([name]) => changed.get(name)?.op !== 'remove')
  return Object.fromEntries(kept.map(([name, value]) => [name, changedValue(value, changed.get(name))]))
}

function changedValue(value: JsonValue | undefined, change: MemberChange | undefined): JsonValue | undefined {
  if (change?.op === 'set') return change.value
  return change?.op === 'keep' ? arrayOrEmpty(value).filter((_, index) => change.indices.includes(index)) : value
}

export interface MemberText {
  readonly text: ByteText
  /** The members of the object in `text`, without duplicates. */
  readonly members: readonly Member[]
}

/** Returns the changed text and the new positions of its members. */
export function changeText({ text, members }: MemberText, changes: readonly MemberChange[]): MemberText {
  const changed = new Map(changes.map(change => [change.member, change]))
  const placed: Member[] = []
  let written = ascii('{')
  for (const member of members) {
    const change = changed.get(member.key)
    if (change?.op === 'remove') continue
    if (placed.length > 0) written = concat(written, ascii(','))
    const keyStart = written.length
    written = concat(written, text.slice(member.keyStart, member.valueStart))
    const valueStart = written.length
    written = concat(written, valueText(text, member, change))
    placed.push({ key: member.key, keyStart, valueStart, valueEnd: written.length })
  }
  return { text: concat(written, ascii('}')), members: placed }
}

function valueText(text: ByteText, { valueStart, valueEnd }: Member, change: MemberChange | undefined): ByteText {
  if (change?.op === 'set') return asciiJson(change.value)
  if (change?.op !== 'keep') return text.slice(valueStart, valueEnd)
  const elements = elementsOf(text, valueStart)
  const kept = change.indices.map(index => elements[index]).filter(element => element !== undefined)
  const written = kept.map(({ start, end }) => text.slice(start, end))
  return concat(ascii('['), joinBytes(written, ','), ascii(']'))
}
