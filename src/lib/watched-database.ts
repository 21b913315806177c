/**
 * A connection pool whose callers never wait for a dead server. If the server hangs, or the network drops every packet,
 * connections stay open and their statements would wait forever. So the pool probes the server continually, on a separate
 * connection. When a probe gets no reply in time, it drops all connections, so waiting statements fail, and opens new ones.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type DatabaseOptions, openDatabase, type PoolLoad, type Sql } from './database.ts'

export interface WatchedDatabaseOptions extends DatabaseOptions {
  /** How long a probe may take, in ms. A probe costs the server next to nothing. */
  readonly deadlineMs: number
  /** Pause between two probes, in ms. */
  readonly pauseMs?: number
}

export interface WatchedDatabase extends Sql {
  /** Counts what runs through `unsafe` and `begin`; a transaction counts as one statement. */
  readonly load: PoolLoad
}

export function openWatchedDatabase(options: WatchedDatabaseOptions): WatchedDatabase {
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

  let running = 0
  const counted = <Work extends PromiseLike<unknown>>(work: Work): Work => {
    running++
    const ended = () => {
      running--
    }
    work.then(ended, ended)
    return work
  }
  const own: Partial<WatchedDatabase> = {
    get load() {
      return { name: options.name, statements: running, connectionsMax: options.connectionsMax }
    },
    unsafe: (...words) => counted(current.unsafe(...words)) as never,
    begin: (...words: unknown[]) => counted(Reflect.apply(current.begin, current, words) as Promise<never>),
    async end(how) {
      stopped.abort()
      await Promise.all([current.end(how), watch.end({ timeout: 0 })])
    },
  }
  look().catch(() => {})
  return new Proxy(current, {
    apply: (_target, _self, words) => Reflect.apply(current, undefined, words),
    get: (_target, name) => own[name as keyof Sql] ?? Reflect.get(current, name),
  }) as WatchedDatabase
}

/** False only if no reply comes in time. An error counts as a reply: postgres.js replaces a failed connection by itself. */
async function answersWithin(sql: Sql, deadlineMs: number): Promise<boolean> {
  const answered = sql.unsafe('select 1').then(
    () => true,
    () => true,
  )
  const late = new AbortController()
  const deadline = sleep(deadlineMs, undefined, { signal: late.signal }).then(
    // This process may have been busy, so read what has already arrived before giving up.
    () => new Promise<boolean>(resolve => setImmediate(() => setImmediate(resolve, false))),
    () => true,
  )
  const answer = await Promise.race([answered, deadline])
  late.abort()
  return answer
}
