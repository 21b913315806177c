/** Bounds the end of a process: what has not closed in time is named in the log, and the process exits regardless. */

import type { Logger } from '../lib/log.ts'

const EXIT_FAILED = 1

/** The part of Node's diagnostic report that lists what an event loop waits for. */
interface LoopHandle {
  readonly type: string
  readonly is_active: boolean
  readonly is_referenced?: boolean
  readonly fd?: number
  readonly pid?: number
  readonly localEndpoint?: Endpoint | null
  readonly remoteEndpoint?: Endpoint | null
}

interface Endpoint {
  readonly ip4?: string
  readonly ip6?: string
  readonly port: number
}

export class Closing {
  readonly #log: Logger
  readonly #limitMs: number
  readonly #exit: (status: number) => void
  #step: string | null = null
  #armed = false

  /** `limitMs`: from `begin` until the process must be gone. */
  constructor(given: { log: Logger; limitMs: number; exit?: (status: number) => void }) {
    this.#log = given.log
    this.#limitMs = given.limitMs
    this.#exit = given.exit ?? (status => process.exit(status))
  }

  /** `step`: what closes now; null: everything is closed, and the process ends by itself. The first call starts the clock. */
  begin(step: string | null): void {
    this.#step = step
    if (this.#armed) return
    this.#armed = true
    // This timer must not keep the process alive itself.
    setTimeout(() => this.#giveUp(), this.#limitMs).unref()
  }

  #giveUp(): void {
    const waitsFor = this.#step ?? 'nothing: all parts are closed, but something left open keeps the process alive'
    const message = `the process did not end within ${this.#limitMs} ms of closing (LIMIT_CLOSE_MS); exiting`
    this.#log.fatal({ waitsFor, open: openHandles() }, message)
    this.#exit(EXIT_FAILED)
  }
}

/** What keeps the event loop running, e.g. `tcp 127.0.0.1:40312 → 127.0.0.1:5432`; each timer as `timer`. */
function openHandles(): readonly string[] {
  const { report } = process
  // Keeps the report from looking up host names and from reading the environment.
  Object.assign(report, { excludeNetwork: true, excludeEnv: true })
  const { libuv } = report.getReport() as unknown as { libuv: readonly LoopHandle[] }
  const handles = libuv.filter(({ is_active, is_referenced }) => is_active && is_referenced === true)
  // libuv has one handle for all timers, and reports it as inactive while this code runs.
  const timers = process.getActiveResourcesInfo().filter(type => type === 'Timeout')
  return [...handles.map(describe), ...timers.map(() => 'timer')]
}

function describe({ type, fd, pid, localEndpoint, remoteEndpoint }: LoopHandle): string {
  const ends = [localEndpoint, remoteEndpoint].flatMap(end =>
    end == null ? [] : [`${end.ip4 ?? end.ip6}:${end.port}`],
  )
  if (ends.length > 0) return `${type} ${ends.join(' → ')}`
  if (pid !== undefined) return `${type} ${pid}`
  return fd === undefined ? type : `${type} (fd ${fd})`
}
