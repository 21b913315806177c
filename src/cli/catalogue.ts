/**
 * `catalogue …`: runs the code generator's commands, so that operators need only one program. Also checks, for `serve`, whether
 * the YAML matches the tables in use.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { createLog } from '../lib/log.ts'
import { UsageError } from './arguments.ts'
import { helpText } from './help.ts'

const CODEGEN = fileURLToPath(new URL('../../codegen/main.ts', import.meta.url))

/** What the generator calls each command after `catalogue`. */
const COMMANDS: Readonly<Record<string, string>> = {
  check: 'check',
  list: 'list',
  add: 'add',
  diff: 'price-diff',
  'migrate-words': 'migrate-words',
  margin: 'margin',
  digest: 'digest',
  'upstream-check': 'upstream-check',
}

/** Runs the command that the words name; resolves with its exit status. Throws UsageError. */
export async function runCatalogue(words: readonly string[]): Promise<number> {
  const [name = '', ...rest] = words
  if (['help', '--help', '-h'].includes(name)) {
    process.stdout.write(`${helpText('catalogue')}\n`)
    return 0
  }
  const generatorCommand = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (generatorCommand === undefined) throw new UsageError(`Usage: catalogue ${Object.keys(COMMANDS).join('|')} …`)
  if (!existsSync(CODEGEN)) {
    throw new UsageError(
      'This installation has only the tables of the catalogue; run this command in a checkout of the project.',
    )
  }
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CODEGEN, generatorCommand, ...rest], { stdio: 'inherit' })
    child.on('error', reject)
    child.on('exit', status => resolve(status ?? 1))
  })
}

const DIGEST_TIMEOUT_MS = 60_000

interface Digests {
  /** Digest of the YAML; null when it has errors. */
  readonly yaml: string | null
  readonly tables: string | null
  readonly agree: boolean
}

/**
 * Logs a warning when the YAML differs from the loaded tables, because whoever edited it may think that the edit is in use.
 * Always resolves, even where there is no YAML, as in container images. Does not keep the process alive.
 */
export async function warnOfOldTables(logLevel: string): Promise<void> {
  if (!existsSync(CODEGEN)) return
  const digests = await readDigests().catch(() => null)
  if (digests === null || digests.agree) return
  const { yaml, tables } = digests
  createLog(logLevel).warn(
    { yaml, tables },
    yaml === null
      ? 'the YAML in catalogue/ has errors, and the tables in use are older; `catalogue check` lists the errors'
      : 'the YAML in catalogue/ is newer than the tables in use; run `make generate`, then restart, or with WORKERS send SIGHUP',
  )
}

/**
 * Reads the digests on a worker thread, so that clients' calls do not wait. Not in a child process: operators and tests that
 * list the gateway's child processes would take it for a worker.
 */
async function readDigests(): Promise<Digests> {
  const worker = new Worker(CODEGEN, { argv: ['digest', '--json'], stdout: true, stderr: true })
  worker.unref()
  const timer = setTimeout(() => void worker.terminate(), DIGEST_TIMEOUT_MS).unref()
  try {
    const [output] = await Promise.all([text(worker.stdout), once(worker, 'exit')])
    return JSON.parse(output) as Digests
  } finally {
    clearTimeout(timer)
  }
}
