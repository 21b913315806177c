/** `serve`: runs until a signal, then stops in order. A second signal stops at once. */

import { environmentConfig } from '../app/foundation.ts'
import { type RunningServer, serve } from '../app/serve.ts'
import type { Command } from './arguments.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** What a shell reports of a program that a second signal ended. */
const EXIT_INTERRUPTED = 130

/** Resolves with a signal's arrival, also one that comes while the server still starts. */
function firstSignal(): Promise<void> {
  return new Promise(resolve => {
    let arrived = false
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (arrived) process.exit(EXIT_INTERRUPTED)
        arrived = true
        resolve()
      })
    }
  })
}

/** Exit status 0 after an orderly stop. */
export async function runServe(environment: NodeJS.ProcessEnv, command: Command): Promise<number> {
  const config = environmentConfig(environment)
  const signalled = firstSignal()
  const running: RunningServer = await serve(config, text => {
    if (!command.json) process.stdout.write(`${text}\n`)
  })
  if (command.json) process.stdout.write(`${JSON.stringify({ ready: true, url: running.gateway.url })}\n`)
  await signalled
  await running.stop()
  return 0
}
