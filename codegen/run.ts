/** Dispatches the verbs of the catalogue's command line. */

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createCompiler } from './compile.ts'
import { type Finding, type FindingFormat, formatFindings, isError, sortFindings } from './findings.ts'
import { compareFiles, writeFiles } from './generate.ts'
import { renderFiles } from './render.ts'
import { readCatalogue } from './source.ts'

export interface Output {
  out(text: string): void
  err(text: string): void
}

const root = join(import.meta.dirname, '..')
const USAGE = `usage: node codegen/main.ts <verb>
  generate                       turn catalogue/ into src/generated/
  check [--format text|github|json]   validate and compare with what is committed`

/** Returns the exit status: 0, or 1 when something must be mended, or 2 for a wrong call. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const [verb, ...rest] = argv
  try {
    if (verb === 'generate') return await generate(output)
    if (verb === 'check') return await check(rest, output)
  } catch (error) {
    if (!(error instanceof TypeError && 'code' in error)) throw error
    output.err(error.message)
    return 2
  }
  output.err(USAGE)
  return 2
}

async function generate(output: Output): Promise<number> {
  const compiler = createCompiler()
  const { tables, findings } = compiler.compile(readCatalogue(join(root, 'catalogue'), 'catalogue'))
  if (findings.length > 0) output.err(formatFindings(findings, 'text'))
  if (tables === null) {
    output.err(summary(findings))
    return 1
  }
  const touched = writeFiles(join(root, 'src/generated'), await renderFiles(tables, compiler.schemas))
  const written = touched.length === 0 ? 'nothing changed' : `wrote ${touched.join(', ')}`
  output.out(`${tables.entries.length} entries, ${tables.upstreams.length} upstreams: ${written}`)
  return 0
}

async function check(rest: readonly string[], output: Output): Promise<number> {
  const { values } = parseArgs({ args: [...rest], options: { format: { type: 'string', default: 'text' } } })
  const format = values.format as FindingFormat
  if (!['text', 'github', 'json'].includes(format)) {
    output.err('--format must be text, github or json')
    return 2
  }
  const compiler = createCompiler()
  const compiled = compiler.compile(readCatalogue(join(root, 'catalogue'), 'catalogue'))
  const { tables } = compiled
  const stale =
    tables === null
      ? []
      : compareFiles(join(root, 'src/generated'), 'src/generated', await renderFiles(tables, compiler.schemas))
  const findings = sortFindings([...compiled.findings, ...stale])
  if (format === 'json' || findings.length > 0) output.out(formatFindings(findings, format))
  const failed = findings.some(isError)
  if (format === 'text') output.err(failed ? summary(findings) : `${tables?.entries.length ?? 0} entries are in order`)
  return failed ? 1 : 0
}

function summary(findings: readonly Finding[]): string {
  const errors = findings.filter(isError).length
  const warnings = findings.length - errors
  return `${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`
}
