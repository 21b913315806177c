/** Parses a file into a syntax tree with source positions. */

import { type Document, LineCounter, parseDocument } from 'yaml'

export interface SyntaxTree {
  readonly document: Document
  readonly lines: LineCounter
}

export function parseTree(text: string): SyntaxTree {
  const lines = new LineCounter()
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: true, stringKeys: true } as const
  return { document: parseDocument(text, options), lines }
}

/** Converts an offset to a line and a column, both starting at 1. */
export function placeOf(
  file: string,
  tree: SyntaxTree,
  offset: number,
): { file: string; line: number; column: number } {
  const { line, col } = tree.lines.linePos(offset)
  return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
}
