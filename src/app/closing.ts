/** Bounds how long a process takes to shut down. After the limit, logs what is still open and exits. */

import type { Logger } from '../lib/log.ts'

const EXIT_FAILED = 1

/** One handle of the event loop in Node's diagnostic report. */
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

  /** `limitMs` is the maximum time from the first `begin` to the exit of the process. */
  constructor(given: { log: Logger; limitMs: number; exit?: (status: number) => void }) {
    this.#log = given.log
    this.#limitMs = given.limitMs
    this.#exit = given.exit ?? (status => process.exit(status))
  }

  /**
   * `step` names what is being closed; null means that everything is closed and the process should end by itself. The first call
   * starts the clock.
   */
  begin(step: string | null): void {
    this.#step = step
    if (this.#armed) return
    this.#armed = true
    // The timer itself must not keep the process alive.
    setTimeout(() => this.#giveUp(), this.#limitMs).unref()
  }

  #giveUp(): void {
    const waitsFor = this.#step ?? 'nothing: all parts are closed, but something left open keeps the process alive'
    const message = `the process did not exit within ${this.#limitMs} ms of closing (LIMIT_CLOSE_MS); exiting`
    this.#log.fatal({ waitsFor, open: openHandles() }, message)
    this.#exit(EXIT_FAILED)
  }
}

/** Lists what keeps the event loop running, such as `tcp 127.0.0.1:40312 → 127.0.0.1:5432`; a timer is just `timer`. */
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
