/** `serve`: runs until a signal, then stops in order. A second signal breaks off the calls in flight. */

import { environmentConfig } from '../app/foundation.ts'
import { type RunningServer, serve } from '../app/serve.ts'
import type { Command } from './arguments.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** What a shell reports of a program that a signal ended. */
const EXIT_INTERRUPTED = 130

interface Signals {
  /** Resolves at the first signal, also one that comes while the server still starts. */
  readonly first: Promise<void>
  /** Called at the second; a third ends the process. */
  onSecond: () => void
}

function listenForSignals(): Signals {
  const { promise: first, resolve } = Promise.withResolvers<void>()
  const signals: Signals = { first, onSecond: () => {} }
  let arrived = 0
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      arrived++
      if (arrived === 1) resolve()
      else if (arrived === 2) signals.onSecond()
      else process.exit(EXIT_INTERRUPTED)
    })
  }
  return signals
}

/** Exit status 0 after a stop that was asked for, 1 after one that a fault of our own made necessary. */
export async function runServe(environment: NodeJS.ProcessEnv, command: Command): Promise<number> {
  const config = environmentConfig(environment)
  const signals = listenForSignals()
  const running: RunningServer = await serve(config, text => {
    if (!command.json) process.stdout.write(`${text}\n`)
  })
  if (command.json) process.stdout.write(`${JSON.stringify({ ready: true, url: running.gateway.url })}\n`)
  signals.onSecond = () => running.hurry()
  const isBroken = await Promise.race([signals.first.then(() => false), running.broken.then(() => true)])
  const calls = running.gateway.readiness.callsInFlight
  if (calls > 0) process.stderr.write(`Waiting for ${calls} calls in flight; Ctrl-C again breaks them off.\n`)
  await running.stop()
  return isBroken ? 1 : 0
}
