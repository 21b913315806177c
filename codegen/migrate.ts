/**
 * Replaces outdated dialect words (keys and values under `dialect`) in a catalogue file. Leaves the rest of the text byte for
 * byte as it was, comments included.
 */

import { isDeepStrictEqual } from 'node:util'
import { isAlias, isMap, isScalar, isSeq, type Pair, stringify, type YAMLMap } from 'yaml'
import { type Comment, commentsOf, missingFrom } from './comments.ts'
import { applyEdits, type Edit, rangeOf } from './edit.ts'
import type { Finding } from './findings.ts'
import { anchorOf, commentLines, Group, layOut, type Member } from './group.ts'
import { ENDPOINTS_KEY, isGone, isGroup, OLD_ENDPOINTS_KEY, successorsOf } from './old-words.ts'
import { parseSource } from './parse.ts'
import type { SourceText } from './source.ts'
import { parseTree, placeOf, type SyntaxTree } from './syntax-tree.ts'

export interface FoundWord {
  readonly file: string
  readonly line: number
  readonly column: number
  /** Path of the old key, such as `tools.strict` under `dialect`; for an outdated key outside `dialect`, only its name. */
  readonly word: string
  /**
   * The new path, or several, joined by commas. Empty if the word was dropped without a loss; null if a person has to decide.
   */
  readonly successor: string | null
}

export interface Migration {
  readonly text: string
  readonly words: readonly FoundWord[]
  /** Reasons why the file could not be migrated; empty if it could. */
  readonly findings: readonly Finding[]
}

type Note = (node: unknown, word: string, successor: string | null) => void

/**
 * Replaces outdated words in the file. Leaves the file unchanged if it is not valid YAML, or if aliases (`*`) would make the
 * result mean something different. Idempotent.
 */
export function migrateText({ path: file, text }: Pick<SourceText, 'path' | 'text'>): Migration {
  const { value, findings } = parseSource(file, text)
  if (value === undefined) return { text, words: [], findings }
  const rewritten = rewrite(file, text)
  if (rewritten.text === text) return { ...rewritten, findings: [] }
  // The result must mean the same as if all aliases had been expanded before the migration.
  const plain = rewrite(file, stringify(value, { aliasDuplicateObjects: false }))
  const isMeant = isDeepStrictEqual(parseSource(file, rewritten.text).value, parseSource(file, plain.text).value)
  if (isMeant) return { ...rewritten, findings: [] }
  return { text, words: [], findings: [tangled(rewritten.words[0] as FoundWord)] }
}

function tangled({ file, line, column }: FoundWord): Finding {
  return {
    ...{ file, line, column, code: 'old-word' },
    message: 'cannot rewrite old words from here on: `*` repeats a value that now has to be written in two ways',
    fix: 'write out the repeated values, then run it again',
  }
}

function rewrite(file: string, text: string): Pick<Migration, 'text' | 'words'> {
  const tree = parseTree(text)
  const comments = commentsOf(text)
  const words: FoundWord[] = []
  const edits: Edit[] = []
  const note: Note = (node, word, successor) => {
    words.push({ ...placeOf(file, tree, rangeOf(node)[0]), word, successor })
  }
  for (const { holder, path } of holdersOf(tree.document.contents)) {
    const dialect = holder.get('dialect', true)
    if (isMap(dialect)) edits.push(...migrateDialect({ text, tree, comments, dialect, note }))
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

/** Keys below which no further mappings are searched: the values in rules are data, and dialects do not nest. */
const CLOSED = new Set(['rules', 'dialect'])

/** Finds every mapping that can have a dialect, rules or endpoints. */
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

interface Source {
  readonly text: string
  readonly tree: SyntaxTree
  readonly comments: readonly Comment[]
  readonly dialect: YAMLMap
  readonly note: Note
}

function migrateDialect(source: Source): Edit[] {
  const { text, dialect } = source
  const words: Placing = { ...source, fresh: new Group(dialect.flow !== true) }
  let isChanged = false
  for (const pair of dialect.items) {
    const name = nameOf(pair)
    if (isGroup(name) && isMap(pair.value)) {
      const { flow, comment, commentBefore, items } = pair.value
      const member = memberOf(text, pair)
      const group = words.fresh.open(
        name,
        { ...member, above: [...member.above, ...commentLines(commentBefore)] },
        flow !== true,
        flow === true ? [] : commentLines(comment),
      )
      group.anchor = anchorOf(pair.value)
      for (const inner of items) isChanged = placeWord(words, inner, [name, nameOf(inner)]) || isChanged
    } else isChanged = placeWord(words, pair, [name]) || isChanged
  }
  if (!isChanged) return []
  const [from, end] = rangeOf(dialect)
  const to = from + text.slice(from, end).trimEnd().length
  const column = from - (text.lastIndexOf('\n', from - 1) + 1)
  const written = () => layOut(words.fresh, column).join(text.includes('\r\n') ? '\r\n' : '\n')
  words.fresh.addAbove(missingFrom(written(), within(source, from, to)).map(comment => comment.text))
  return [{ from, to, text: written() }]
}

interface Placing extends Source {
  readonly fresh: Group
}

/** Adds a word to the new dialect, under its current path and with its current value. Returns true if either changed. */
function placeWord(words: Placing, pair: Pair, path: readonly string[]): boolean {
  const { text, dialect, fresh, note } = words
  const word = path.join('.')
  const value = plainValue(pair.value, words.tree)
  const successors = successorsOf(word, value)
  const isStated = successors?.some(([goal]) => goal !== word && dialect.hasIn(goal.split('.'))) === true
  if (successors === null || isStated) {
    if (isStated || isGone(word)) note(pair.key, word, null)
    fresh.add(path, memberOf(text, pair))
    return false
  }
  note(pair.key, word, successors.map(([goal]) => goal).join(', '))
  for (const [index, [goal, data]] of successors.entries()) {
    const { above, behind, value: passage } = memberOf(text, pair)
    const inside = data === value ? [] : commentsInside(words, pair.value)
    const around = index === 0 ? { above: [...above, ...inside], behind } : { above: [], behind: '' }
    const anchor = index === 0 ? anchorOf(pair.value) : ''
    fresh.add(goal.split('.'), { ...around, value: data === value ? passage : { data, anchor } })
  }
  return true
}

function commentsInside(source: Source, node: unknown): string[] {
  if (!isMap(node) && !isSeq(node)) return []
  return [...commentLines(node.commentBefore), ...within(source, ...rangeOf(node)).map(comment => comment.text)]
}

function within({ comments }: Source, from: number, to: number): Comment[] {
  return comments.filter(({ offset }) => from <= offset && offset < to)
}

function memberOf(text: string, { key, value }: Pair): Member {
  const { commentBefore, spaceBefore } = key as { commentBefore?: string | null; spaceBefore?: boolean }
  const { comment } = (value ?? {}) as { comment?: string | null }
  const isLong =
    isScalar(value) &&
    text
      .slice(...rangeOf(value))
      .trimEnd()
      .includes('\n')
  const isBlock = (isMap(value) || isSeq(value)) && value.flow !== true
  const behind = isBlock || comment === undefined || comment === null ? '' : ` #${comment}`
  return {
    above: [...(spaceBefore === true ? [''] : []), ...commentLines(commentBefore)],
    behind,
    value: isLong ? { data: value.value, anchor: anchorOf(value) } : { node: value, text },
  }
}

function plainValue(node: unknown, tree: SyntaxTree): unknown {
  if (isAlias(node)) return plainValue(node.resolve(tree.document), tree)
  if (isScalar(node)) return node.value
  return isSeq(node) || isMap(node) ? (node.toJSON() as unknown) : undefined
}

function nameOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : ''
}
