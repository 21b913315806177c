/** Rewrites old words in the text of a catalogue file. Whatever is not about them keeps its bytes, comments included. */

import { isMap, isScalar, isSeq, type Pair, type YAMLMap } from 'yaml'
import { applyEdits, type Edit, rangeOf } from './edit.ts'
import { commentLines, Group, layOut, type Member } from './group.ts'
import { ENDPOINTS_KEY, isGone, isGroup, OLD_ENDPOINTS_KEY, successorsOf } from './old-words.ts'
import { parseSource } from './parse.ts'
import type { SourceText } from './source.ts'
import { parseTree, placeOf } from './syntax-tree.ts'

export interface FoundWord {
  readonly file: string
  readonly line: number
  readonly column: number
  /** As it stands below the `dialect`. */
  readonly word: string
  /** Where it stands now; empty: it says nothing any more. null: it was left, as somebody has to decide. */
  readonly successor: string | null
}

export interface Migration {
  readonly text: string
  readonly words: readonly FoundWord[]
}

type Note = (node: unknown, word: string, successor: string | null) => void

/** The file in the words of today. What is not valid YAML comes back as it is. The same text again changes nothing. */
export function migrateText({ path: file, text }: Pick<SourceText, 'path' | 'text'>): Migration {
  if (parseSource(file, text).value === undefined) return { text, words: [] }
  const tree = parseTree(text)
  const words: FoundWord[] = []
  const edits: Edit[] = []
  const note: Note = (node, word, successor) => {
    words.push({ ...placeOf(file, tree, rangeOf(node)[0]), word, successor })
  }
  for (const { holder, path } of holdersOf(tree.document.contents)) {
    const dialect = holder.get('dialect', true)
    if (isMap(dialect)) edits.push(...migrateDialect(text, dialect, note))
    const rules = holder.get('rules', true)
    const isField = path.at(-3) === 'extras' && path.at(-2) === 'fields'
    for (const owner of [...(isSeq(rules) ? rules.items : []), ...(isField ? [holder] : [])]) {
      edits.push(...migrateEndpoints(owner, note))
    }
  }
  return { text: applyEdits(text, edits), words }
}

interface Holder {
  readonly holder: YAMLMap
  readonly path: readonly string[]
}

/** Values of rules are data: nothing in them is a word of the catalogue. */
const CLOSED = new Set(['rules', 'dialect'])

/** Every mapping that may have a dialect, rules or endpoints. */
function holdersOf(node: unknown, path: readonly string[] = []): Holder[] {
  if (isSeq(node)) return node.items.flatMap(item => holdersOf(item, path))
  if (!isMap(node)) return []
  const below = node.items.flatMap(pair => {
    const name = nameOf(pair)
    return CLOSED.has(name) ? [] : holdersOf(pair.value, [...path, name])
  })
  return [{ holder: node, path }, ...below]
}

function migrateEndpoints(owner: unknown, note: Note): Edit[] {
  if (!isMap(owner) || owner.has(ENDPOINTS_KEY)) return []
  const pair = owner.items.find(each => nameOf(each) === OLD_ENDPOINTS_KEY)
  if (pair === undefined) return []
  note(pair.key, OLD_ENDPOINTS_KEY, ENDPOINTS_KEY)
  const [from, to] = rangeOf(pair.key)
  return [{ from, to, text: ENDPOINTS_KEY }]
}

function migrateDialect(text: string, dialect: YAMLMap, note: Note): Edit[] {
  const words: Placing = { text, dialect, note, fresh: new Group(dialect.flow !== true) }
  let isChanged = false
  for (const pair of dialect.items) {
    const name = nameOf(pair)
    if (isGroup(name) && isMap(pair.value)) {
      const { flow, comment, commentBefore, items } = pair.value
      const member = memberOf(text, pair)
      words.fresh.open(
        name,
        { ...member, above: [...member.above, ...commentLines(commentBefore)] },
        flow !== true,
        flow === true ? [] : commentLines(comment),
      )
      for (const inner of items) isChanged = placeWord(words, inner, [name, nameOf(inner)]) || isChanged
    } else isChanged = placeWord(words, pair, [name]) || isChanged
  }
  if (!isChanged) return []
  const [from, end] = rangeOf(dialect)
  const to = from + text.slice(from, end).trimEnd().length
  const column = from - (text.lastIndexOf('\n', from - 1) + 1)
  return [{ from, to, text: layOut(words.fresh, column).join(text.includes('\r\n') ? '\r\n' : '\n') }]
}

interface Placing {
  readonly text: string
  readonly dialect: YAMLMap
  readonly fresh: Group
  readonly note: Note
}

/** Puts one word where it stands today, and says whether that is elsewhere or otherwise. */
function placeWord({ text, dialect, fresh, note }: Placing, pair: Pair, path: readonly string[]): boolean {
  const word = path.join('.')
  const value = plainValue(pair.value)
  const successors = successorsOf(word, value)
  const isSaid = successors?.some(([goal]) => goal !== word && dialect.hasIn(goal.split('.'))) === true
  if (successors === null || isSaid) {
    if (isSaid || isGone(word)) note(pair.key, word, null)
    fresh.add(path, memberOf(text, pair))
    return false
  }
  note(pair.key, word, successors.map(([goal]) => goal).join(', '))
  for (const [index, [goal, said]] of successors.entries()) {
    const { above, behind, value: passage } = memberOf(text, pair)
    const around = index === 0 ? { above, behind } : { above: [], behind: '' }
    fresh.add(goal.split('.'), { ...around, value: said === value ? passage : { said } })
  }
  return true
}

function memberOf(text: string, { key, value }: Pair): Member {
  const { commentBefore, spaceBefore } = key as { commentBefore?: string | null; spaceBefore?: boolean }
  const { comment } = (value ?? {}) as { comment?: string | null }
  const isBlock = (isMap(value) || isSeq(value)) && value.flow !== true
  const behind = isBlock || comment === undefined || comment === null ? '' : ` #${comment}`
  return {
    above: [...(spaceBefore === true ? [''] : []), ...commentLines(commentBefore)],
    behind,
    value: { node: value, text },
  }
}

function plainValue(node: unknown): unknown {
  if (isScalar(node)) return node.value
  return isSeq(node) || isMap(node) ? (node.toJSON() as unknown) : undefined
}

function nameOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : ''
}
