/** The CLI commands `generate` and `check`: write the generated files, or check that they are up to date. */

import { createCompiler, ownCompiler } from '../compile.ts'
import { type Finding, type FindingFormat, formatFindings, isError, sortFindings, UsageError } from '../findings.ts'
import { compareFiles, writeFiles } from '../generate.ts'
import type { Output } from '../output.ts'
import { type Project, readProject, todayOf } from '../project.ts'
import { readSchemas } from '../schemas.ts'
import { parseOptions } from './options.ts'

/** Writes the generated files. If the catalogue has an error, returns 1 and writes nothing. */
export async function generate(project: Project, args: readonly string[], output: Output): Promise<number> {
  const { values } = parseOptions(args, { json: { type: 'boolean' } })
  const compiler = ownCompiler()
  const { resolved, findings } = compiler.compile(await readProject(project))
  if (resolved === null) {
    output.out(formatFindings(findings, values.json === true ? 'json' : 'text'))
    output.err(summary(findings))
    return 1
  }
  if (findings.length > 0) output.err(formatFindings(findings, 'text'))
  const [{ renderFiles }, { writeCachedTypes }] = await Promise.all([import('../render.ts'), import('../types.ts')])
  const touched = writeFiles(project.root, await renderFiles(resolved, compiler.schemas, writeCachedTypes))
  const { tables } = resolved
  const counts = { entries: tables.entries.length, upstreams: tables.upstreams.length }
  if (values.json === true) output.out(JSON.stringify({ ...counts, written: touched }))
  else {
    const written = touched.length === 0 ? 'nothing changed' : `wrote ${touched.join(', ')}`
    output.out(`${counts.entries} entries, ${counts.upstreams} upstreams: ${written}`)
  }
  return 0
}

const FORMATS: readonly FindingFormat[] = ['text', 'github', 'json']

/** Prints all findings, including one for each generated file that is out of date. Returns 1 if any finding is an error. */
export async function check(project: Project, args: readonly string[], output: Output): Promise<number> {
  const { values } = parseOptions(args, { format: { type: 'string' }, json: { type: 'boolean' } })
  const format = FORMATS.find(each => each === (values.json === true ? 'json' : (values.format ?? 'text')))
  if (format === undefined) throw new UsageError(`--format must be one of ${FORMATS.join(', ')}`)
  // Compile without caches: a wrong result cached by an earlier run must not hide an error.
  const compiler = createCompiler(readSchemas())
  const options = { lenient: false, today: todayOf(project) }
  const { resolved, findings: found } = compiler.compile(await readProject(project), options)
  const { renderFiles } = await import('../render.ts')
  const stale = resolved === null ? [] : compareFiles(project.root, await renderFiles(resolved, compiler.schemas))
  const findings = sortFindings([...found, ...stale])
  if (format === 'json' || findings.length > 0) output.out(formatFindings(findings, format))
  const failed = findings.some(isError)
  if (format === 'text')
    output.err(failed ? summary(findings) : `${resolved?.tables.entries.length ?? 0} entries, no errors`)
  return failed ? 1 : 0
}

function summary(findings: readonly Finding[]): string {
  const errors = findings.filter(isError).length
  const warnings = findings.length - errors
  return `${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`
}
