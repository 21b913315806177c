/** Options of the verbs; a wrong one is the caller's mistake and not a fault of the program. */

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { UsageError } from '../project.ts'

export function parseOptions<Options extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: Options,
  positionals: readonly string[] = [],
) {
  const parsed = (() => {
    try {
      return parseArgs({ args: [...args], options, allowPositionals: positionals.length > 0, strict: true })
    } catch (error) {
      throw new UsageError(error instanceof Error ? error.message : String(error))
    }
  })()
  const given = parsed.positionals.filter(word => word !== '').length
  const missing = positionals[given]
  if (missing !== undefined) throw new UsageError(`${missing} is missing`)
  if (parsed.positionals.length > positionals.length) {
    throw new UsageError(`${parsed.positionals[positionals.length]} is one word too many`)
  }
  return parsed
}
