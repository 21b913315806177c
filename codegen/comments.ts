/** Finds the comments in a YAML text. */

import { Lexer } from 'yaml'

export interface Comment {
  readonly offset: number
  /** The comment as written, including the `#`. */
  readonly text: string
}

/**
 * Tokens with which the lexer marks a position; they stand for no characters of the text. The last of them comes before a scalar.
 */
const MARKS = new Set(['\x02', '\x18', '\x1f'])
const SCALAR = '\x1f'

/** All comments of a text, in order of appearance. */
export function commentsOf(text: string): Comment[] {
  const comments: Comment[] = []
  let offset = 0
  let before = ''
  for (const token of new Lexer().lex(text)) {
    if (token.startsWith('#') && before !== SCALAR) comments.push({ offset, text: token.trimEnd() })
    if (!MARKS.has(token)) offset += token.length
    before = token
  }
  return comments
}

/** Those of the comments that a text lacks; a comment given twice must appear twice. */
export function missingFrom(text: string, comments: readonly Comment[]): Comment[] {
  const kept = commentsOf(text).map(comment => comment.text)
  return comments.filter(comment => {
    const at = kept.indexOf(comment.text)
    if (at >= 0) kept.splice(at, 1)
    return at < 0
  })
}
