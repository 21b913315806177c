/**
 * Keeps a fixed number of workers serving. Replaces workers that die and, on request, all workers one by one.
 *
 * All workers accept from one listening socket, so connections that wait in its queue survive the end of any worker. If each
 * worker had its own socket (SO_REUSEPORT), the kernel would reset the connections in the queue of a worker that exits. If the
 * supervisor handed connections out (round robin), those on their way to a killed worker would hang for ever.
 */

import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../lib/log.ts'
import type { ConfigLimits } from '../limits.ts'
import { type FromWorker, type ToWorker, WORKER_VARIABLE } from './messages.ts'

export interface WorkerPoolOptions {
  readonly size: number
  /** Environment variables for each worker, on top of the supervisor's. */
  readonly environment: Readonly<Record<string, string>>
  readonly limits: Pick<ConfigLimits, 'drainMs' | 'closeMs' | 'workerStartMs' | 'workerPauseMs' | 'workerFailuresMax'>
  readonly log: Logger
  /** Called when no worker is serving and none can be started. */
  readonly onHopeless: (error: Error) => void
}

export interface PoolMetrics {
  /** Number of workers that should be serving. */
  readonly wanted: number
  readonly starting: number
  readonly serving: number
  /** Number of workers that take no more calls and are finishing theirs. */
  readonly leaving: number
  /** Number of workers that stopped serving without being told to, since the supervisor started. */
  readonly lost: number
  readonly failedStarts: number
}

export type Ready = Extract<FromWorker, { kind: 'ready' }>

/** A worker exited before it was ready. */
export class WorkerStartError extends Error {
  readonly isEnvironment: boolean

  constructor(reason: string, isEnvironment: boolean) {
    super(reason)
    this.isEnvironment = isEnvironment
  }
}

interface Member {
  /**
   * The worker's number, unique among running processes. The spool's name contains it, so the next worker with this number takes
   * the spool over.
   */
  readonly seat: number
  readonly worker: Worker
  state: 'starting' | 'serving' | 'leaving'
  servingSinceMs: number
}

/** Makes libuv accept one connection at a time, so that a burst does not all go to the first worker that wakes up. */
const EVEN_SHARES = { UV_TCP_SINGLE_ACCEPT: '1' }
const FIRST_PAUSE_MS = 100
/** Largest number of processes per worker slot: the serving one, and earlier ones that are finishing long streams. */
const GENERATIONS_MAX = 3
/** How long a worker may outlive its shutdown limit before it is killed, in ms. */
const KILL_AFTER_MS = 5_000

export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #members = new Map<number, Member>()
  #stopping = false
  #filling = false
  #failures = 0
  #lostCount = 0
  #failedStarts = 0
  #replacing: Promise<void> | null = null
  #replaceAgain = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    cluster.schedulingPolicy = cluster.SCHED_NONE
  }

  get serving(): number {
    return this.#serving().length
  }

  metrics(): PoolMetrics {
    const states = [...this.#members.values()].map(({ state }) => state)
    const count = (wanted: Member['state']) => states.filter(state => state === wanted).length
    return {
      wanted: this.#options.size,
      starting: count('starting'),
      serving: count('serving'),
      leaving: count('leaving'),
      lost: this.#lostCount,
      failedStarts: this.#failedStarts,
    }
  }

  /** Workers that are taking calls or finishing theirs. */
  get working(): readonly Worker[] {
    return [...this.#members.values()].filter(({ state }) => state !== 'starting').map(({ worker }) => worker)
  }

  /** Starts all workers. If one does not start, rejects with WorkerStartError once all have exited. */
  async start(): Promise<Ready> {
    const starts = Array.from({ length: this.#options.size }, () => this.#start())
    const results = await Promise.allSettled(starts)
    const failed = results.find(result => result.status === 'rejected')
    if (failed === undefined) return await (starts[0] as Promise<Ready>)
    await this.stop({ kind: 'stop' })
    throw failed.reason
  }

  /** Kills the workers that are starting, so that `start` fails at once and stops the others. */
  abandonStarts(): void {
    this.#stopping = true
    for (const { state, worker } of this.#members.values()) if (state === 'starting') worker.process.kill('SIGKILL')
  }

  /** Replaces every worker with one that runs the code and catalogue now on disk. */
  async replaceAll(): Promise<void> {
    if (this.#replacing !== null) {
      this.#replaceAgain = true
      return this.#replacing
    }
    this.#replacing = this.#replaceUntilQuiet()
    await this.#replacing
    this.#replacing = null
  }

  /** Resolves when the last worker process has exited. */
  async stop(message: ToWorker): Promise<void> {
    this.#stopping = true
    await Promise.all([...this.#members.values()].map(member => this.#dismiss(member, message)))
  }

  hurry(): void {
    for (const { worker } of this.#members.values()) tell(worker, { kind: 'hurry' })
  }

  #serving(): Member[] {
    return [...this.#members.values()].filter(member => member.state === 'serving')
  }

  async #replaceUntilQuiet(): Promise<void> {
    do {
      this.#replaceAgain = false
      await this.#replaceOnce()
    } while (this.#replaceAgain && !this.#stopping)
  }

  async #replaceOnce(): Promise<void> {
    const { log, size } = this.#options
    log.info({ workers: size }, 'replacing workers one by one')
    for (const old of this.#serving()) {
      await this.#makeRoom()
      if (this.#stopping) return
      // If the worker has died in the meantime, its replacement already runs the new code.
      if (old.state !== 'serving' || old.worker.isDead()) continue
      try {
        const { catalogue } = await this.#start()
        log.info({ catalogue, replaces: old.seat }, 'a new worker is taking calls')
      } catch (error) {
        log.error(
          { cause: (error as Error).message },
          'a new worker did not start; the running ones continue unchanged',
        )
        return
      }
      void this.#dismiss(old, { kind: 'retire', how: 'replaced' })
    }
    for (const surplus of this.#serving().slice(size)) {
      void this.#dismiss(surplus, { kind: 'retire', how: 'replaced' })
    }
    if (!this.#stopping) log.info({ workers: this.serving }, 'all workers have been replaced')
  }

  async #makeRoom(): Promise<void> {
    const most = GENERATIONS_MAX * this.#options.size
    if (this.#members.size < most) return
    this.#options.log.warn({ processes: this.#members.size }, 'waiting for earlier workers to finish their calls')
    while (this.#members.size >= most && !this.#stopping) await once(cluster, 'exit')
  }

  #start(): Promise<Ready> {
    const { environment, limits } = this.#options
    let seat = 1
    while (this.#members.has(seat)) seat++
    const worker = cluster.fork({ ...environment, ...EVEN_SHARES, [WORKER_VARIABLE]: String(seat) })
    const member: Member = { seat, worker, state: 'starting', servingSinceMs: 0 }
    this.#members.set(seat, member)
    const { promise, resolve, reject } = Promise.withResolvers<Ready>()
    let reason: string | null = null
    let isEnvironment = false
    const timer = setTimeout(() => {
      reason = `it was not ready within ${limits.workerStartMs} ms`
      worker.process.kill('SIGKILL')
    }, limits.workerStartMs)
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'metrics') return
      clearTimeout(timer)
      if (message.kind === 'failed') {
        reason = message.reason
        isEnvironment = message.isEnvironment
        return void this.#awaitEnd(member, limits.closeMs)
      }
      if (message.kind === 'leaving') {
        if (member.state !== 'serving') return
        member.state = 'leaving'
        void this.#awaitEnd(member, limits.drainMs + limits.closeMs)
        return this.#lost(member, 'it leaves')
      }
      if (member.state === 'starting') member.state = 'serving'
      member.servingSinceMs = performance.now()
      resolve(message)
    })
    // An exit event follows and is handled below.
    worker.on('error', () => {})
    worker.once('exit', (code, signal) => {
      clearTimeout(timer)
      this.#members.delete(seat)
      if (member.state === 'starting') this.#failedStarts++
      reject(new WorkerStartError(reason ?? `it exited with ${signal ?? `status ${code}`}`, isEnvironment))
      if (member.state === 'serving') this.#lost(member, signal ?? `status ${code}`)
    })
    return promise
  }

  #lost(member: Member, how: string): void {
    const { log, limits } = this.#options
    const servedMs = performance.now() - member.servingSinceMs
    this.#lostCount++
    this.#failures = servedMs < limits.workerPauseMs ? this.#failures + 1 : 0
    log.error({ worker: member.seat, how }, 'a worker exited unexpectedly; starting another')
    void this.#fill()
  }

  async #fill(): Promise<void> {
    if (this.#filling) return
    this.#filling = true
    const { size, limits, log, onHopeless } = this.#options
    while (this.serving < size && !this.#stopping) {
      if (this.#failures > 0) {
        await sleep(Math.min(FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 1, 20), limits.workerPauseMs))
      }
      if (this.#stopping) break
      try {
        await this.#start()
      } catch (error) {
        this.#failures++
        log.error({ cause: (error as Error).message, failures: this.#failures }, 'a worker did not start')
        if (this.serving === 0 && this.#failures >= limits.workerFailuresMax) onHopeless(error as Error)
      }
    }
    this.#filling = false
  }

  async #dismiss(member: Member, message: ToWorker): Promise<void> {
    const { drainMs, closeMs } = this.#options.limits
    member.state = 'leaving'
    const ended = this.#awaitEnd(member, drainMs + closeMs)
    tell(member.worker, message)
    await ended
  }

  /** Waits for a worker to exit by itself within `limitMs`; kills one that does not. */
  async #awaitEnd({ seat, worker }: Member, limitMs: number): Promise<void> {
    if (worker.isDead()) return
    const exited = once(worker, 'exit')
    const timer = setTimeout(() => {
      this.#options.log.error({ worker: seat }, 'a worker did not exit in time; killing it')
      worker.process.kill('SIGKILL')
    }, limitMs + KILL_AFTER_MS)
    await exited
    clearTimeout(timer)
  }
}

function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message)
}
