/**
 * The project's catalogue plus two providers, added as an operator would: two blocks in `upstreams.yaml` and two new family
 * files.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownCompiler } from '../../codegen/compile.ts'
import { formatFindings, isError } from '../../codegen/findings.ts'
import { readCatalogue, type SourceText } from '../../codegen/source.ts'
import type { Tables } from '../../src/generated/types.ts'

const root = join(import.meta.dirname, '../..')
export const FAMILIES = ['orchard', 'harbour'] as const

/** Reads a file from this folder's `catalogue/`. */
export function added(name: string): string {
  return readFileSync(join(import.meta.dirname, 'catalogue', name), 'utf8')
}

function withEntries(text: string): string {
  const counted = { entries: 4, per_call: 2 }
  return text.replace(/^counts: .*$/m, line =>
    Object.entries(counted).reduce(
      (counts, [key, more]) =>
        counts.replace(new RegExp(`${key}: (\\d+)`), (_, was) => `${key}: ${Number(was) + more}`),
      line,
    ),
  )
}

export function sources(): SourceText[] {
  const files = FAMILIES.map(family => ({
    path: `catalogue/families/${family}.yaml`,
    text: added(`${family}.yaml`),
  }))
  const own = readCatalogue(join(root, 'catalogue'), 'catalogue').map(({ path, text }) => {
    if (path === 'catalogue/upstreams.yaml') return { path, text: `${text}\n${added('upstreams.yaml')}` }
    return { path, text: path === 'catalogue/catalogue.yaml' ? withEntries(text) : text }
  })
  return [...own, ...files].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Compiles the catalogue. Throws one error that lists every finding that is an error. */
export function compileTables(): Tables {
  const { tables, findings } = ownCompiler().compile(sources())
  if (tables === null) throw new Error(formatFindings(findings.filter(isError), 'text'))
  return tables
}
