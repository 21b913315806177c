/** `serve`: runs until a signal, then stops in order. A second signal stops at once. */

import { environmentConfig } from '../app/foundation.ts'
import { serve } from '../app/serve.ts'
import type { Command } from './arguments.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export async function runServe(environment: NodeJS.ProcessEnv, command: Command): Promise<number> {
  const config = environmentConfig(environment)
  let stopping: Promise<void> | null = null
  let signalled = false
  const running = await serve(config, text => {
    if (!command.json) process.stdout.write(`${text}\n`)
  })
  if (command.json) process.stdout.write(`${JSON.stringify({ ready: true, url: running.gateway.url })}\n`)
  return new Promise(resolve => {
    const stop = () => {
      stopping ??= running.stop().then(() => resolve(0))
    }
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (signalled) process.exit(1)
        signalled = true
        stop()
      })
    }
  })
}
