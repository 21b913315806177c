/**
 * The CLI command `margin`: prints what each entry costs and earns, for typical calls and, with `--usage`, for a usage export.
 */

import { ownCompiler } from '../compile.ts'
import { formatFindings, isError } from '../findings.ts'
import { entryMargins } from '../margin/margins.ts'
import { marginTable } from '../margin/table.ts'
import { usageMargins } from '../margin/usage.ts'
import type { Output } from '../output.ts'
import { type Project, readProject, todayOf } from '../project.ts'
import { bigintAsText, parseOptions, readUsageFile } from './options.ts'

export async function margin(project: Project, args: readonly string[], output: Output): Promise<number> {
  const { values } = parseOptions(args, { usage: { type: 'string' }, json: { type: 'boolean' } })
  const { tables, findings } = ownCompiler().compile(await readProject(project))
  if (tables === null) {
    output.err(formatFindings(findings.filter(isError), 'text'))
    return 1
  }
  const today = todayOf(project)
  const entries = entryMargins(tables, today)
  const usage =
    values.usage === undefined
      ? undefined
      : await readUsageFile(values.usage, chunks => usageMargins(chunks, tables, today))
  if (values.json === true) output.out(JSON.stringify({ date: today, entries, usage: usage ?? null }, bigintAsText, 2))
  else output.out(marginTable(entries, usage))
  return 0
}
