/**
 * A pool that never leaves its callers waiting. A hung server, or a network that drops everything, closes no connection
 * by itself. So a connection of the pool's own probes all the time. When it gets no answer, every connection is
 * dropped, which fails the statements waiting on them, and fresh ones are opened.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type DatabaseOptions, openDatabase, type Sql } from './database.ts'

export interface WatchedDatabaseOptions extends DatabaseOptions {
  /** Timeout of a probe, which costs the server nothing, in ms. */
  readonly deadlineMs: number
  /** Pause between two probes, in ms. */
  readonly pauseMs?: number
}

export function openWatchedDatabase(options: WatchedDatabaseOptions): Sql {
  const { deadlineMs, pauseMs = 500 } = options
  const openWatch = () => openDatabase({ ...options, name: `${options.name} watch`, connectionsMax: 1 })
  let current = openDatabase(options)
  let watch = openWatch()
  const stopped = new AbortController()

  async function look(): Promise<void> {
    for (;;) {
      await sleep(pauseMs, undefined, { ref: false, signal: stopped.signal })
      if ((await answersWithin(watch, deadlineMs)) || stopped.signal.aborted) continue
      const late = [current, watch]
      current = openDatabase(options)
      watch = openWatch()
      for (const pool of late) pool.end({ timeout: 0 }).catch(() => {})
    }
  }

  const own: Partial<Sql> = {
    async end(how) {
      stopped.abort()
      await Promise.all([current.end(how), watch.end({ timeout: 0 })])
    },
  }
  look().catch(() => {})
  return new Proxy(current, {
    apply: (_target, _self, words) => Reflect.apply(current, undefined, words),
    get: (_target, name) => own[name as keyof Sql] ?? Reflect.get(current, name),
  })
}

/** False only when nothing at all comes back: a refusal is an answer, and its connection is replaced anyway. */
async function answersWithin(sql: Sql, deadlineMs: number): Promise<boolean> {
  const answered = sql.unsafe('select 1').then(
    () => true,
    () => true,
  )
  const late = new AbortController()
  const deadline = sleep(deadlineMs, undefined, { signal: late.signal }).then(
    // This process may have been busy: first reads an answer that has arrived meanwhile.
    () => new Promise<boolean>(resolve => setImmediate(() => setImmediate(resolve, false))),
    () => true,
  )
  const answer = await Promise.race([answered, deadline])
  late.abort()
  return answer
}
