/** Finds comments in YAML. */

import { Lexer } from 'yaml'

export interface Comment {
  readonly offset: number
  /** The comment as written, including the `#`. */
  readonly text: string
}

/** Control tokens of the lexer, which correspond to no characters of the text. SCALAR means that the next token is a scalar. */
const SCALAR = '\x1f'
const CONTROL_TOKENS = new Set(['\x02', '\x18', SCALAR])

/** All comments of a text, in order of appearance. */
export function commentsOf(text: string): Comment[] {
  const comments: Comment[] = []
  let offset = 0
  let before = ''
  for (const token of new Lexer().lex(text)) {
    if (token.startsWith('#') && before !== SCALAR) comments.push({ offset, text: token.trimEnd() })
    if (!CONTROL_TOKENS.has(token)) offset += token.length
    before = token
  }
  return comments
}

/** Returns the comments that are missing from a text. A comment that is listed twice must occur twice. */
export function missingFrom(text: string, comments: readonly Comment[]): Comment[] {
  const kept = commentsOf(text).map(comment => comment.text)
  return comments.filter(comment => {
    const at = kept.indexOf(comment.text)
    if (at >= 0) kept.splice(at, 1)
    return at < 0
  })
}
