/**
 * Keeps a process in sync with operator settings (maintenance, upstreams out of service, keys). It listens for notifications,
 * and also polls, because notifications can get lost.
 */

import type { Sql } from '../lib/database.ts'
import { announce, CHANNEL } from './channel.ts'
import { type Maintenance, readMaintenance } from './maintenance.ts'
import { countOthers, forgetProcess, writeProcessStatus } from './process-status.ts'
import { readUpstreamsOut, type UpstreamOut } from './upstreams-out.ts'

export interface WatchOptions {
  readonly sql: Sql
  /** Opens the connection for notifications directly, bypassing any pooler; without it, `sql` is used. */
  readonly listener?: Sql
  /** Name of this process, which never changes and is unique among running processes. */
  readonly name: string
  readonly status: () => object
  /** Called when API keys have changed, so that cached keys may be stale. */
  readonly onKeysChanged: () => void
  /** Called at each poll with the upstreams that operators have taken out of service. */
  readonly onUpstreamsOut?: (upstreams: readonly UpstreamOut[]) => void
  /** Called at each poll with the number of serving processes, this one included. */
  readonly onProcesses?: (count: number) => void
  /** Called when the database stops responding or responds again. */
  readonly report: (event: { level: 'warn' | 'info'; message: string; cause?: unknown }) => void
  /** Pause between polls. Must be below LOST_AFTER_SECONDS, because only polls write this process's status. */
  readonly askMs?: number
  /** How often to write this process's status even if it has not changed. Must be below LOST_AFTER_SECONDS. */
  readonly statusMs?: number
}

export interface OperationsWatch {
  readonly maintenance: Maintenance
  close(): Promise<void>
}

/** Reads the settings, then keeps them up to date until `close`. Rejects if the first read fails. */
export async function watchOperations(options: WatchOptions): Promise<OperationsWatch> {
  const watch = new Watch(options)
  await watch.start()
  return watch
}

class Watch implements OperationsWatch {
  readonly #options: WatchOptions
  maintenance: Maintenance = { enabled: false, retryAfterSeconds: 60 }
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #again = false
  #busy = false
  #closed = false
  #isDown = false
  #written = ''
  #writtenAtMs = Number.NEGATIVE_INFINITY

  constructor(options: WatchOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { sql, listener = sql } = this.#options
    // If listening fails, polling will have to do.
    const listening = listener.listen(CHANNEL, news => this.#hear(news)).catch(() => {})
    await this.#ask()
    await listening
    this.#schedule()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#running
    await forgetProcess(this.#options.sql, this.#options.name).catch(() => {})
  }

  #hear(news: string): void {
    if (news === 'keys') this.#options.onKeysChanged()
    if (news !== 'keys') this.#look()
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (!this.#closed) this.#timer = setTimeout(() => this.#look(), this.#options.askMs ?? 500).unref()
  }

  /** Polls now, or right after the current poll. */
  #look(): void {
    if (this.#closed) return
    if (this.#busy) {
      this.#again = true
      return
    }
    clearTimeout(this.#timer)
    this.#running = this.#lookUntilQuiet()
  }

  async #lookUntilQuiet(): Promise<void> {
    this.#busy = true
    do {
      this.#again = false
      await this.#askSafely()
    } while (this.#again && !this.#closed)
    this.#busy = false
    this.#schedule()
  }

  async #askSafely(): Promise<void> {
    const { report } = this.#options
    try {
      await this.#ask()
      if (this.#isDown) report({ level: 'info', message: 'the database is responding again; settings are up to date' })
      this.#isDown = false
    } catch (cause) {
      if (!this.#isDown)
        report({ level: 'warn', message: 'cannot read settings from the database; keeping the last known ones', cause })
      this.#isDown = true
    }
  }

  async #ask(): Promise<void> {
    const { sql, name, status, onProcesses, onUpstreamsOut, statusMs = 5_000 } = this.#options
    this.maintenance = await readMaintenance(sql)
    if (onUpstreamsOut !== undefined) onUpstreamsOut(await readUpstreamsOut(sql))
    onProcesses?.(1 + (await countOthers(sql, name)))
    const text = JSON.stringify(status())
    const now = performance.now()
    if (text === this.#written && now - this.#writtenAtMs < statusMs) return
    await writeProcessStatus(sql, name, JSON.parse(text) as object)
    // The processes share in-flight limits, so the others must take smaller shares before this one takes its first call.
    if (this.#written === '') await announce(sql, 'processes')
    this.#written = text
    this.#writtenAtMs = now
  }
}
