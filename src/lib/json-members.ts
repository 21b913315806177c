/** Applies edits to an object's members in one pass, skipping all other members; for large bodies. */

import { ascii, type ByteText, concat, joinBytes, NO_BYTES } from './byte-text.ts'
import type { BodyEdit } from './edit-tree.ts'
import { unescapeKey } from './json.ts'
import { asciiJson, editJson, type Member, replacement } from './json-text.ts'

/** An edit of a whole member, or edits inside its value. */
type MemberEdit = { readonly whole: BodyEdit } | { readonly within: BodyEdit[] }

/**
 * Returns the edited text of an object, in pieces to be written one after the other. Together, they are equivalent to the
 * result of `editJson`. `members`: the members of `text`, without duplicates. Returns null if an edit of a whole member is not
 * the only edit of that member, or if an edit goes inside a member that is missing or is neither an object nor a list.
 */
export function editMembers(
  text: ByteText,
  members: readonly Member[],
  edits: readonly BodyEdit[],
): readonly ByteText[] | null {
  const wanted = byMember(edits)
  if (wanted === null) return null
  for (const [key, edit] of wanted) {
    if ('whole' in edit) continue
    const entered = members.find(member => member.key === key)
    if (entered === undefined || !opensAt(text, entered.valueStart)) return null
  }
  const open = text.indexOf('{') + 1
  const isRemoved = ({ key }: Member) => wholeOf(wanted, key)?.op === 'remove'
  const kept = members.filter(member => !isRemoved(member))
  const pieces = [text.slice(0, open), addedTo(members, wanted, kept.length > 0)]
  const first = members[0]
  const last = members.at(-1)
  if (first === undefined || last === undefined) return [...pieces, text.slice(open)]
  if (kept.length === 0) return [...pieces, text.slice(open, first.keyStart), text.slice(last.valueEnd)]
  // Each stretch of unchanged text becomes one piece.
  let from = open
  for (const [index, member] of members.entries()) {
    const edit = wanted.get(member.key)
    if (edit === undefined) continue
    if (!isRemoved(member)) {
      pieces.push(text.slice(from, member.valueStart), valueFor(text, member, edit))
      from = member.valueEnd
      continue
    }
    const next = members[index + 1]
    const isLastKept = kept.at(-1) === members[index - 1]
    pieces.push(text.slice(from, isLastKept ? members[index - 1]?.valueEnd : member.keyStart))
    from = isLastKept ? last.valueEnd : (next?.keyStart ?? member.valueEnd)
    if (isLastKept) break
  }
  pieces.push(text.slice(from))
  return pieces
}

function opensAt(text: ByteText, at: number): boolean {
  return text.startsWith('{', at) || text.startsWith('[', at)
}

function byMember(edits: readonly BodyEdit[]): Map<string, MemberEdit> | null {
  const wanted = new Map<string, MemberEdit>()
  for (const edit of edits) {
    const end = edit.path.indexOf('/', 1)
    const key = unescapeKey(edit.path.slice(1, end < 0 ? undefined : end))
    const known = wanted.get(key)
    if (end < 0) {
      if (known !== undefined) return null
      wanted.set(key, { whole: edit })
      continue
    }
    const inner = { ...edit, path: edit.path.slice(end) }
    if (known === undefined) wanted.set(key, { within: [inner] })
    else if ('within' in known) known.within.push(inner)
    else return null
  }
  return wanted
}

function wholeOf(wanted: ReadonlyMap<string, MemberEdit>, key: string): BodyEdit | null {
  const edit = wanted.get(key)
  return edit !== undefined && 'whole' in edit ? edit.whole : null
}

function valueFor(text: ByteText, { valueStart, valueEnd }: Member, edit: MemberEdit): ByteText {
  if ('within' in edit) return editJson(text.slice(valueStart, valueEnd), edit.within)
  return edit.whole.op === 'remove' ? NO_BYTES : replacement(text, valueStart, edit.whole)
}

/**
 * Returns the text of the members to add, which precede the object's other members. The last one comes first, because
 * `editJson` inserts each new member before those it inserted earlier.
 */
function addedTo(members: readonly Member[], wanted: ReadonlyMap<string, MemberEdit>, areOthers: boolean): ByteText {
  const added: ByteText[] = []
  for (const key of wanted.keys()) {
    const edit = wholeOf(wanted, key)
    if (edit?.op === 'set' && !members.some(member => member.key === key)) {
      added.unshift(concat(asciiJson(key), ascii(':'), asciiJson(edit.value)))
    }
  }
  if (added.length === 0) return NO_BYTES
  return concat(joinBytes(added, ','), areOthers ? ascii(',') : NO_BYTES)
}
