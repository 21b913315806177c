/**
 * Disturbs the gateways under load: changes prices by SIGHUP, restarts them, rotates both secrets, kills workers, pauses
 * Postgres. In the first half, all gateways are disturbed. In the second half, the last gateway is left alone, so that its
 * processes live long enough to show a leak.
 */

import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { generateSecretSet } from '../../src/lib/secrets.ts'
import { childrenOf, sendSignal } from '../fault/support/child.ts'
import type { GatewayProcess } from '../fault/support/gateways.ts'
import type { World } from '../fault/support/world.ts'
import { programEnvironment } from '../support/program.ts'
import type { ProjectCopy } from '../support/project-copy.ts'
import type { Random } from '../support/random.ts'
import { REPRICED_MODEL } from './load.ts'

export interface Disturbance {
  /** The gateway that was disturbed; null for all of them. */
  readonly gateway: string | null
  readonly from: number
  /** Milliseconds since 1970, as is `from`. */
  to: number
}

export interface EventOptions {
  readonly world: World
  readonly project: ProjectCopy
  readonly random: Random
  /** Gateways that no new call should reach; the events add and remove them. */
  readonly avoided: Set<GatewayProcess>
  readonly durationMs: number
  readonly onProgress: (line: string) => void
}

const FIRST_PRICE_VND = 2401
/** Clients notice a broken connection to a killed worker within this time. */
const AFTERMATH_MS = 3_000

type Happening = (gateway: GatewayProcess) => Promise<void>

export class Events {
  readonly disturbances: Disturbance[] = []
  readonly counts = { prices: 0, restarts: 0, rotations: 0, workersKilled: 0, pauses: 0 }
  readonly #options: EventOptions
  #secrets: Readonly<Record<'KEY_PEPPERS' | 'KEY_ENCRYPTION_KEYS', string>>

  constructor(options: EventOptions) {
    this.#options = options
    const { KEY_PEPPERS = '', KEY_ENCRYPTION_KEYS = '' } = options.world.customers.environment
    this.#secrets = { KEY_PEPPERS, KEY_ENCRYPTION_KEYS }
  }

  /** Causes all disturbances; resolves at the end of the run. */
  async run(): Promise<void> {
    const { world, durationMs, onProgress } = this.#options
    const all = world.gateways
    const disturbed = all.slice(0, -1)
    const changePrice: Happening = gateway => this.#changePrice(gateway)
    const kill: Happening = gateway => this.#killWorker(gateway)
    const plan: readonly (readonly [share: number, what: string, () => Promise<void>])[] = [
      [0.04, 'a new price', () => each(all, changePrice)],
      [0.08, 'secrets on standby', () => this.#rotate(set => addSecret(set, ':standby'))],
      [0.14, 'a worker of each killed', () => each(all, kill)],
      [0.18, 'secrets in use', () => this.#rotate(set => set.replace(':standby', ''))],
      [0.24, 'stored keys rotated', () => this.#rotateStored()],
      [0.26, 'Postgres paused', () => this.#pause()],
      [0.3, 'old secrets removed', () => this.#rotate(set => set.replace(/^1:[^,]*,/, ''))],
      [0.38, 'a worker of each killed', () => each(all, kill)],
      [0.42, 'a new price', () => each(all, changePrice)],
      ...[0.55, 0.65, 0.75, 0.85, 0.95].flatMap(share => [
        [share, 'a new price', () => each(disturbed, changePrice)] as const,
        [share + 0.03, 'a worker killed', () => each(disturbed, kill)] as const,
      ]),
    ]
    const startedMs = performance.now()
    for (const [share, what, happen] of plan) {
      await sleep(Math.max(0, startedMs + share * durationMs - performance.now()))
      onProgress(what)
      await happen()
    }
    await sleep(Math.max(0, startedMs + durationMs - performance.now()))
  }

  async #changePrice(gateway: GatewayProcess): Promise<void> {
    const { project } = this.#options
    project.reprice(REPRICED_MODEL, FIRST_PRICE_VND + this.counts.prices++)
    gateway.poke('SIGHUP')
  }

  async #killWorker(gateway: GatewayProcess): Promise<void> {
    const workers = childrenOf(gateway.pid)
    const worker = workers[this.#options.random(workers.length)]
    if (worker === undefined) return
    this.counts.workersKilled++
    await this.#disturbing(gateway.name, async () => void sendSignal(worker, 'SIGKILL'))
  }

  async #pause(): Promise<void> {
    const { cluster } = this.#options.world
    this.counts.pauses++
    await this.#disturbing(null, async () => {
      cluster.pause()
      await sleep(3_000)
      cluster.resume()
    })
  }

  /** Changes the secrets and restarts the gateways with them, one by one. No call may fail meanwhile. */
  async #rotate(change: (set: string) => string): Promise<void> {
    const { KEY_PEPPERS, KEY_ENCRYPTION_KEYS } = this.#secrets
    this.#secrets = { KEY_PEPPERS: change(KEY_PEPPERS), KEY_ENCRYPTION_KEYS: change(KEY_ENCRYPTION_KEYS) }
    const { world, avoided } = this.#options
    this.counts.rotations++
    for (const gateway of world.gateways) {
      avoided.add(gateway)
      gateway.extra = this.#secrets
      const ended = await gateway.signal('SIGTERM')
      if (ended?.code !== 0) throw new Error(`${gateway.name} exited with ${JSON.stringify(ended)} after SIGTERM`)
      if (!(await gateway.start())) throw new Error(`${gateway.name} did not start: ${gateway.lastRun?.lastWords}`)
      avoided.delete(gateway)
      this.counts.restarts++
    }
  }

  async #rotateStored(): Promise<void> {
    const { world, project } = this.#options
    const env = { ...programEnvironment(), DATABASE_URL: world.cluster.url, DATA_DIR: world.folder, ...this.#secrets }
    await promisify(execFile)(process.execPath, [project.main, 'secrets', 'rotate', '--json'], { env })
  }

  async #disturbing(gateway: string | null, happen: () => Promise<void>): Promise<void> {
    const disturbance: Disturbance = { gateway, from: Date.now(), to: Number.POSITIVE_INFINITY }
    this.disturbances.push(disturbance)
    await happen()
    disturbance.to = Date.now() + AFTERMATH_MS
  }
}

async function each(gateways: readonly GatewayProcess[], happen: Happening): Promise<void> {
  for (const gateway of gateways) await happen(gateway)
}

function addSecret(set: string, state: string): string {
  return `${set},2:${generateSecretSet().slice(2)}${state}`
}
