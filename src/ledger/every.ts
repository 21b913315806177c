/** Runs the ledger's background tasks at intervals. */

import { classifyFault } from '../lib/database.ts'
import type { LedgerOptions } from './options.ts'

interface Watched {
  readonly options: Pick<LedgerOptions, 'report'>
  /** False from when a task cannot reach Postgres until a task succeeds. */
  available: boolean
}

/**
 * Runs `task` again and again, with a pause of `pauseMs` before each run. The returned function stops this and waits for the
 * current run.
 */
export function every<Parts extends Watched>(
  pauseMs: number,
  parts: Parts,
  task: (parts: Parts) => Promise<void>,
): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  const next = (): void => {
    if (!stopped) timer = setTimeout(() => (running = run()), pauseMs)
  }
  const run = async (): Promise<void> => {
    try {
      await task(parts)
      parts.available = true
    } catch (cause) {
      const known = classifyFault(cause) === 'retry'
      if (!known || parts.available) {
        parts.options.report({
          level: known ? 'warn' : 'error',
          code: known ? 'database_unavailable' : 'background_failed',
          message: `${task.name} failed`,
          cause,
        })
      }
      if (known) parts.available = false
    }
    next()
  }
  next()
  return () => {
    stopped = true
    clearTimeout(timer)
    return running
  }
}
