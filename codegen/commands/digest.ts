/** CLI command `digest`: says whether the generated tables match the current YAML. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownCompiler } from '../compile.ts'
import type { Output } from '../output.ts'
import { GENERATED_FOLDER, type Project, readProject } from '../project.ts'
import { parseOptions } from './options.ts'

/** Prints the digests of the YAML and of the tables. Returns 1 if they differ or the YAML has errors. */
export async function digest(project: Project, args: readonly string[], output: Output): Promise<number> {
  const { values } = parseOptions(args, { json: { type: 'boolean' } })
  const yaml = ownCompiler().compile(await readProject(project)).tables?.settings.digest ?? null
  const tables = digestOfTables(join(project.root, GENERATED_FOLDER, 'settings.ts'))
  const agree = yaml !== null && yaml === tables
  if (values.json === true) output.out(JSON.stringify({ yaml, tables, agree }))
  else output.out(`yaml   ${yaml ?? 'has errors; see check'}\ntables ${tables ?? 'are missing'}`)
  return agree ? 0 : 1
}

function digestOfTables(path: string): string | null {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return /\bdigest:\s*'([0-9a-f]{64})'/.exec(text)?.[1] ?? null
}
