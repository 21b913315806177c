/** `catalogue …`: the code generator's verbs, so that an operator needs to know one command only. */

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { UsageError } from './arguments.ts'

const CODEGEN = fileURLToPath(new URL('../../codegen/main.ts', import.meta.url))

/** Ours to the generator's. */
const VERBS: Readonly<Record<string, string>> = { check: 'check', list: 'list', add: 'add', diff: 'price-diff' }

/** Runs the verb with the rest of the command line; resolves with its exit status. Throws UsageError. */
export function runCatalogue(words: readonly string[]): Promise<number> {
  const [verb = '', ...rest] = words
  const generatorVerb = ['help', '--help', '-h'].includes(verb)
    ? 'help'
    : Object.hasOwn(VERBS, verb)
      ? VERBS[verb]
      : undefined
  if (generatorVerb === undefined) throw new UsageError(`Usage: catalogue ${Object.keys(VERBS).join('|')} …`)
  if (!existsSync(CODEGEN)) throw new UsageError('The catalogue sources are not part of this installation.')
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CODEGEN, generatorVerb, ...rest], { stdio: 'inherit' })
    child.on('error', reject)
    child.on('exit', status => resolve(status ?? 1))
  })
}
