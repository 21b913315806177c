/** `migrate-words`: replaces dialect words that were renamed or dropped, in place, in all YAML files of the catalogue. */

import { join } from 'node:path'
import { type Finding, formatFindings } from '../findings.ts'
import { replaceFile } from '../generate.ts'
import { type FoundWord, migrateText } from '../migrate.ts'
import type { Output } from '../output.ts'
import { type Project, readProject } from '../project.ts'
import { parseOptions } from './options.ts'

/** Rewrites the files, or only reports with `--check`. Returns the exit status: 1 if something is left to do. */
export async function migrateWords(project: Project, args: readonly string[], output: Output): Promise<number> {
  const { values } = parseOptions(args, { check: { type: 'boolean' }, json: { type: 'boolean' } })
  const words: FoundWord[] = []
  const files: string[] = []
  const findings: Finding[] = []
  for (const source of await readProject(project)) {
    if (!source.path.endsWith('.yaml')) continue
    const migration = migrateText(source)
    words.push(...migration.words)
    findings.push(...migration.findings)
    if (migration.text === source.text) continue
    files.push(source.path)
    if (values.check !== true) replaceFile(join(project.root, source.path), migration.text)
  }
  const left = words.filter(({ successor }) => successor === null)
  if (values.json === true) output.out(JSON.stringify({ words, files, written: values.check !== true, findings }))
  else {
    for (const word of words) output.out(lineOf(word))
    if (findings.length > 0) output.out(formatFindings(findings, 'text'))
    const isDone = words.length === 0 && findings.length === 0
    const summaryLine = summary({ files, check: values.check === true, left: left.length, found: words.length })
    output.out(isDone ? 'there are no old words' : summaryLine)
  }
  return left.length + findings.length > 0 || (values.check === true && files.length > 0) ? 1 : 0
}

function lineOf({ file, line, column, word, successor }: FoundWord): string {
  const now =
    successor === null ? 'kept: has no replacement, decide what to do' : successor === '' ? 'removed' : successor
  return `${file}:${line}:${column}: ${word} → ${now}`
}

interface Summary {
  readonly files: readonly string[]
  readonly check: boolean
  readonly left: number
  readonly found: number
}

function summary({ files, check, left, found }: Summary): string {
  const rewritten = `${found - left} ${found - left === 1 ? 'word' : 'words'} in ${files.length} ${files.length === 1 ? 'file' : 'files'}`
  const rest = left === 0 ? '' : `, ${left} left`
  return check ? `would rewrite ${rewritten}${rest}` : `rewrote ${rewritten}${rest}; run \`make generate\``
}
