/** Runs one command and prints the result as text or JSON. Returns the exit status. */

import { ConfigError } from '../app/config.ts'
import { environmentConfig, type Foundation, layFoundation } from '../app/foundation.ts'
import { type Command, readCommand, UsageError } from './arguments.ts'
import { runCatalogue } from './catalogue.ts'
import type { Answer } from './commands.ts'
import { helpText, helpTopic } from './help.ts'

const EXIT_FAILED = 1
const EXIT_USAGE = 2

function print(command: Command, answer: Answer): void {
  process.stdout.write(command.json ? `${JSON.stringify(answer.data)}\n` : `${answer.text}\n`)
}

async function runShort(command: Command, environment: NodeJS.ProcessEnv): Promise<number> {
  const { ACTIONS } = await import('./actions.ts')
  const action = ACTIONS[command.spec.name]
  if (action === undefined) throw new UsageError(helpText())
  const foundation: Foundation = await layFoundation(environmentConfig(environment), {
    anySecrets: command.spec.name === 'secrets trust',
  })
  try {
    const answer = await action(foundation, command)
    print(command, answer)
    return answer.failed ? EXIT_FAILED : 0
  } finally {
    await foundation.close()
  }
}

export async function runCommandLine(argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const json = argv.includes('--json')
  try {
    if (argv[0] === 'catalogue') return await runCatalogue(argv.slice(1))
    const command = readCommand(argv)
    if (command === null) {
      process.stdout.write(`${helpText(helpTopic(argv))}\n`)
      return 0
    }
    if (command.spec.name !== 'serve') return await runShort(command, environment)
    // `serve` and the short commands share little, so each loads only its own code.
    const { runServe } = await import('./serve.ts')
    return await runServe(environment, command)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(json ? `${JSON.stringify({ error: message })}\n` : `${message}\n`)
    return error instanceof UsageError || error instanceof ConfigError ? EXIT_USAGE : EXIT_FAILED
  }
}
