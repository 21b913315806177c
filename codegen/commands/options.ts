/**
 * Parses the options of CLI commands. Throws UsageError for a wrong option, so that it is reported as the user's mistake rather
 * than a crash.
 */

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { UsageError } from '../findings.ts'

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
    throw new UsageError(`unexpected argument ${parsed.positionals[positionals.length]}`)
  }
  return parsed
}

/** Opens the file named by --usage and passes it to `read`. Turns read errors into UsageError. */
export async function readUsageFile<Result>(
  path: string,
  read: (chunks: AsyncIterable<string>) => Promise<Result>,
): Promise<Result> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() !== true) throw new UsageError(`--usage ${path}: there is no such file`)
  try {
    return await read(createReadStream(path, { encoding: 'utf8' }))
  } catch (error) {
    throw new UsageError(`--usage ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** A replacer that makes JSON.stringify write bigints as text. */
export function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
