/**
 * `serve`: runs until a signal, then shuts down gracefully. SIGTERM (and SIGHUP, without workers) fails no client's call.
 * SIGINT is quicker: it does not wait for load balancers or idle connections. A second signal aborts the calls in flight. With
 * WORKERS, SIGHUP replaces the workers one by one. Supervisor, worker and stand-alone gateway each load only their own code.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { environmentConfig } from '../app/foundation.ts'
import { WORKER_VARIABLE } from '../app/workers/messages.ts'
import type { Command } from './arguments.ts'
import { warnOfOldTables } from './catalogue.ts'

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'
const SIGNALS: readonly Signal[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** The exit status that shells report for a program interrupted by a signal. */
const EXIT_INTERRUPTED = 130
/** How long start-up may go on after a signal before it is aborted, in ms. */
const START_STOP_MS = 5_000

interface Signals {
  /** Resolves with the first signal that stops the program, even during start-up. */
  readonly first: Promise<Signal>
  /** Called at the second signal; a third ends the process. */
  onSecond: () => void
  /** What SIGHUP does; null makes it the same as SIGTERM. */
  onReload: (() => void) | null
}

function listenForSignals(): Signals {
  const { promise: first, resolve } = Promise.withResolvers<Signal>()
  const signals: Signals = { first, onSecond: () => {}, onReload: null }
  let arrived = 0
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (signal === 'SIGHUP' && signals.onReload !== null) return signals.onReload()
      arrived++
      if (arrived === 1) resolve(signal)
      else if (arrived === 2) signals.onSecond()
      else process.exit(EXIT_INTERRUPTED)
    })
  }
  return signals
}

/**
 * Calls `abort` for a start-up that has not finished in time after a signal, because the database is not responding or the spool is
 * long. Nothing is lost. The returned function says that the start-up has finished.
 */
function boundStart({ first }: Signals, abort: () => void): () => void {
  let started = false
  void first
    .then(() => sleep(START_STOP_MS, undefined, { ref: false }))
    .then(() => {
      if (started) return
      process.stderr.write('Start-up was interrupted by a signal.\n')
      abort()
    })
  return () => {
    started = true
  }
}

function exitInterrupted(): never {
  process.exit(EXIT_INTERRUPTED)
}

/** Runs the gateway until it stops. Exit status 0 after a requested stop, 1 after a fault of our own. */
export async function runServe(environment: NodeJS.ProcessEnv, command: Command): Promise<number> {
  if (environment[WORKER_VARIABLE] !== undefined && process.send !== undefined) {
    const { work } = await import('../app/workers/worker.ts')
    await work(() => environmentConfig(environment))
    return 0
  }
  const config = environmentConfig(environment)
  const signals = listenForSignals()
  const write = (text: string) => {
    if (!command.json) process.stdout.write(`${text}\n`)
  }
  const sayReady = (facts: object) => {
    if (command.json) process.stdout.write(`${JSON.stringify({ ready: true, ...facts })}\n`)
  }
  if (config.workers !== null) {
    // Ignores SIGHUP until the workers are running: there is nothing to replace yet.
    signals.onReload = () => {}
    const { supervise } = await import('../app/workers/supervisor.ts')
    let abort: () => void = exitInterrupted
    let aborted = false
    const started = boundStart(signals, () => {
      aborted = true
      abort()
    })
    const starting = supervise(config, write, abandonWorkers => {
      abort = abandonWorkers
    })
    const supervisor = await starting.catch(error => {
      if (aborted) exitInterrupted()
      throw error
    })
    started()
    sayReady({ url: supervisor.url, workers: config.workers })
    void warnOfOldTables(config.logLevel)
    signals.onReload = () => {
      supervisor.reload()
      void warnOfOldTables(config.logLevel)
    }
    signals.onSecond = () => supervisor.hurry()
    try {
      const signal = await Promise.race([signals.first, supervisor.hopeless])
      await supervisor.stop({ quick: signal === 'SIGINT' })
      return 0
    } catch (error) {
      await supervisor.stop({ quick: true })
      throw error
    }
  }
  const { serve } = await import('../app/serve.ts')
  const started = boundStart(signals, exitInterrupted)
  const running = await serve(config, write)
  started()
  sayReady({ url: running.gateway.url })
  void warnOfOldTables(config.logLevel)
  signals.onSecond = () => running.hurry()
  const signal = await Promise.race([signals.first, running.broken.then(() => 'broken' as const)])
  const calls = running.gateway.readiness.callsInFlight
  if (calls > 0) process.stderr.write(`Waiting for ${calls} calls in flight; press Ctrl-C again to abort them.\n`)
  if (signal !== 'SIGINT') await running.gateway.retire('leaving')
  await running.stop()
  return signal === 'broken' ? 1 : 0
}
