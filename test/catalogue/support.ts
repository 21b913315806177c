/** A small valid catalogue, and helpers that change copies of it. */

import { join } from 'node:path'
import { ownCompiler } from '../../codegen/compile.ts'
import { readCatalogue, type SourceText } from '../../codegen/source.ts'

export const compiler = ownCompiler()

export function goodTexts(): SourceText[] {
  return readCatalogue(join(import.meta.dirname, 'good'), 'catalogue')
}

/** Returns the valid catalogue with files replaced or added; null removes a file. */
export function withFiles(changes: Readonly<Record<string, string | null>>): SourceText[] {
  const files = new Map(goodTexts().map(({ path, text }) => [path, text]))
  for (const [name, text] of Object.entries(changes)) {
    if (text === null) files.delete(`catalogue/${name}`)
    else files.set(`catalogue/${name}`, text)
  }
  return [...files].map(([path, text]) => ({ path, text })).toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Returns the valid catalogue with a passage in one file replaced. Throws unless the passage occurs exactly once. */
export function withPassage(name: string, passage: string, replacement: string): SourceText[] {
  const source = goodTexts().find(({ path }) => path === `catalogue/${name}`)
  if (source === undefined || source.text.split(passage).length !== 2)
    throw new Error(`this passage must occur exactly once in ${name}: ${passage}`)
  return withFiles({ [name]: source.text.replace(passage, () => replacement) })
}
