/** Finds mistakes in a file's text: invalid YAML, and YAML that people would read differently from the parser. */

import { isAlias, isPair, isScalar, type Pair, Scalar, visit, type YAMLError } from 'yaml'
import type { Finding } from './findings.ts'
import { placeOf, type SyntaxTree } from './syntax-tree.ts'
import { findUnseen } from './unseen.ts'

/** Maximum number of repeated keys to report. Each is a separate mistake; of all other errors, only the first is reported. */
const REPEATED_KEYS_MAX = 20

/** The mistakes in a file's text, most important first; none if the text is unambiguous YAML. */
export function findTextErrors(path: string, text: string, tree: SyntaxTree): Finding[] {
  const at = (offset: number, message: string, fix: string): Finding => ({
    ...placeOf(path, tree, offset),
    code: 'yaml-syntax',
    message,
    fix,
  })
  const first = unreadable(text, at) ?? unfinishedMerge(text, at)
  if (first !== null) return [first]
  const errors = [...tree.document.errors, ...tree.document.warnings]
  const repeated = errors.filter(error => error.code === 'DUPLICATE_KEY').slice(0, REPEATED_KEYS_MAX)
  const other = errors.find(error => error.code !== 'DUPLICATE_KEY')
  const keyAt = (offset: number) => /^[^:\s]*/.exec(text.slice(offset, offset + 100))?.[0] ?? ''
  const found = repeated.map(error =>
    at(error.pos[0], `the key "${keyAt(error.pos[0])}" is repeated`, 'keep one of the two'),
  )
  if (other !== undefined) {
    const { message, fix } = readYamlError(other)
    found.push(at(placeOfError(other, tree), message, fix))
  }
  return found.length > 0 ? found : findOtherReadings(tree, text, at)
}

type At = (offset: number, message: string, fix: string) => Finding

const SPACE = /^\p{Zs}$/u

function unreadable(text: string, at: At): Finding | null {
  const found = findUnseen(text)
  if (found === null) return null
  const { character, index } = found
  const name = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
  if (character === '\r') return at(index, `${name} ends a line for some programs only`, 'write a plain line break')
  return SPACE.test(character)
    ? at(index, `${name} looks like a space but is not`, 'write a plain space')
    : at(index, `${name} is an invisible character`, 'remove it')
}

function unfinishedMerge(text: string, at: At): Finding | null {
  const match = /^(<{7} |={7}$|>{7} )/m.exec(text)
  return match && at(match.index, 'an unresolved merge conflict', 'keep one side, and remove the markers')
}

export interface Wording {
  readonly message: string
  readonly fix: string
}

const INDENT: Wording = { message: 'a line with the wrong indentation', fix: 'indent it like its neighbours' }

/** Deepest nesting allowed. No catalogue nests even ten levels deep. */
export const DEPTH_MAX = 64
export const TOO_DEEP: Wording = { message: `nested deeper than ${DEPTH_MAX} levels`, fix: 'reduce the nesting' }

/**
 * Our wording for the parser's errors, looked up by the error's code and, where one code covers several mistakes, its message.
 * The first match counts.
 */
const WORDINGS: readonly (readonly [code: string, words: RegExp, wording: Wording])[] = [
  ['TAB_AS_INDENT', /^/, { message: 'a tab for indentation', fix: 'indent with spaces' }],
  [
    'MULTILINE_IMPLICIT_KEY',
    /^/,
    {
      message: 'a key without a colon, or a colon without a space after it',
      fix: 'write `key: value`, indented like its neighbours',
    },
  ],
  [
    'BLOCK_AS_IMPLICIT_KEY',
    /^/,
    {
      message: 'a colon within a value, or a line with the wrong indentation',
      fix: 'put texts with a colon in quotes, and indent keys like their neighbours',
    },
  ],
  [
    'MULTIPLE_DOCS',
    /^/,
    {
      message: 'a second YAML document begins here',
      fix: 'keep one document, with no `---` or `...` after its start',
    },
  ],
  ['TAG_RESOLVE_FAILED', /^/, { message: 'a tag', fix: 'write the value itself: nothing is filled in from elsewhere' }],
  ['NON_STRING_KEY', /^/, { message: 'a key that is not text', fix: 'write `key: value`' }],
  ['BAD_INDENT', /with a \}/, { message: 'a `{` before this is not closed', fix: 'close it with `}`' }],
  ['BAD_INDENT', /with a \]/, { message: 'a `[` before this is not closed', fix: 'close it with `]`' }],
  ['BAD_INDENT', /^/, INDENT],
  ['MISSING_CHAR', /quote/, { message: 'a quote that is not closed', fix: 'close it' }],
  ['MISSING_CHAR', /without -/, INDENT],
  ['UNEXPECTED_TOKEN', /without -/, INDENT],
  ['UNEXPECTED_TOKEN', /flow-map-end/, { message: 'a `}` that closes nothing', fix: 'remove it' }],
  ['UNEXPECTED_TOKEN', /flow-seq-end/, { message: 'a `]` that closes nothing', fix: 'remove it' }],
  ['UNEXPECTED_TOKEN', /Unexpected ,/, { message: 'a comma with nothing before it', fix: 'remove it' }],
  [
    'UNEXPECTED_TOKEN',
    /at node end/,
    {
      message: 'unexpected text after a value',
      fix: 'write a comma between the two, or put the whole text in quotes',
    },
  ],
  ['BAD_SCALAR_START', /^/, { message: 'an unquoted value cannot begin with this character', fix: 'put it in quotes' }],
]

function readYamlError({ code, message }: YAMLError): Wording {
  if (message.includes('call stack')) return TOO_DEEP
  const known = WORDINGS.find(([theirs, words]) => theirs === code && words.test(message))
  return known?.[2] ?? { message: plain(message), fix: 'correct the YAML at this place' }
}

/** Locates an error. For an unclosed quote, that is the start of the quote; the parser reports the end of the file. */
function placeOfError({ code, pos, message }: YAMLError, { document }: SyntaxTree): number {
  if (code !== 'MISSING_CHAR' || !message.includes('quote')) return pos[0]
  let begin = pos[0]
  visit(document, {
    Scalar(_key, { type, range }) {
      const isQuoted = type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE
      if (isQuoted && range && range[1] >= pos[0]) begin = range[0]
    },
  })
  return begin
}

/** Reports valid YAML that other YAML readers, or people, would understand differently. */
function findOtherReadings({ document }: SyntaxTree, text: string, at: At): Finding[] {
  const directive = /^%.*$/m.exec(text)
  if (directive !== null && directive.index < (document.contents?.range?.[0] ?? 0))
    return [at(directive.index, 'a directive changes how the file is read', 'remove the line')]
  if (!/(^|[\s[{,:])[&*][^\s,\]}]|<</m.test(text)) return []
  const anchors = new Map<string, number>()
  const found: Finding[] = []
  visit(document, {
    Pair(_key, pair) {
      if (isMerge(pair)) found.push(at(offsetOf(pair.key), '`<<` merges nothing here', 'write the values out'))
    },
    Node(_key, node) {
      if (isAlias(node)) {
        const end = anchors.get(node.source)
        const offset = offsetOf(node)
        if (end === undefined)
          found.push(
            at(offset, `*${node.source} repeats a value that does not exist`, 'write it out, or put it in quotes'),
          )
        else if (end > offset) found.push(at(offset, `*${node.source} contains itself`, 'write the values out'))
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node.range?.[1] ?? 0)
    },
  })
  return found
}

function isMerge(pair: unknown): pair is Pair {
  return isPair(pair) && isScalar(pair.key) && pair.key.value === '<<'
}

function offsetOf(node: unknown): number {
  return (node as { range?: readonly number[] | null } | null)?.range?.[0] ?? 0
}

function plain(message: string): string {
  return message.replace(/\s+/g, ' ').replace(/[.;:]+$/, '')
}
