/** Edits of an object's own members, all in one go and without another look at the text: for bodies that are large. */

import { unescapeKey } from './json.ts'
import { asciiJson, type BodyEdit, type Member, replacement } from './json-text.ts'

/**
 * The text of an object with its edits applied, as pieces to be written one behind the other: it says the same as what
 * `editJson` makes of it. `members` are those of `text`, none written twice. Null when an edit goes deeper than the
 * object's own members, or two are of the same member.
 */
export function editMembers(
  text: string,
  members: readonly Member[],
  edits: readonly BodyEdit[],
): readonly string[] | null {
  const wanted = new Map<string, BodyEdit>()
  for (const edit of edits) {
    if (edit.path.indexOf('/', 1) >= 0) return null
    wanted.set(unescapeKey(edit.path.slice(1)), edit)
  }
  if (wanted.size < edits.length) return null
  const open = text.indexOf('{') + 1
  const kept = members.filter(({ key }) => wanted.get(key)?.op !== 'remove')
  const pieces = [text.slice(0, open), addedTo(members, wanted, kept.length > 0)]
  const first = members[0]
  const last = members.at(-1)
  if (first === undefined || last === undefined) return [...pieces, text.slice(open)]
  if (kept.length === 0) return [...pieces, text.slice(open, first.keyStart), text.slice(last.valueEnd)]
  // A stretch of untouched text is one piece.
  let from = open
  for (const [index, member] of members.entries()) {
    const edit = wanted.get(member.key)
    if (edit !== undefined && edit.op !== 'remove') {
      pieces.push(text.slice(from, member.valueStart), replacement(text, member.valueStart, edit))
      from = member.valueEnd
    } else if (edit !== undefined) {
      const next = members[index + 1]
      const isLastKept = kept.at(-1) === members[index - 1]
      pieces.push(text.slice(from, isLastKept ? members[index - 1]?.valueEnd : member.keyStart))
      from = isLastKept ? last.valueEnd : (next?.keyStart ?? member.valueEnd)
      if (isLastKept) break
    }
  }
  pieces.push(text.slice(from))
  return pieces
}

/** New members stand before all others, the one that was added last first. */
function addedTo(members: readonly Member[], wanted: ReadonlyMap<string, BodyEdit>, areOthers: boolean): string {
  const added: string[] = []
  for (const [key, edit] of wanted) {
    if (edit.op === 'set' && !members.some(member => member.key === key)) {
      added.unshift(`${asciiJson(key)}:${asciiJson(edit.value)}`)
    }
  }
  return added.length === 0 ? '' : `${added.join(',')}${areOthers ? ',' : ''}`
}
