/** Makes calls at a steady rate through the balancer, and detects when calls are served again after a fault. */

import type { ClientCall } from '../fault/support/client.ts'
import type { Customer } from '../fault/support/customers.ts'
import { sleep } from '../fault/support/wait.ts'
import type { World } from './world.ts'

export const REPRICED_MODEL = 'gpt-5.5'
const MODELS = [REPRICED_MODEL, 'claude-opus-5'] as const
/** A call that is open for longer than this counts as not being served. */
const SLOW_MS = 5_000
export const LATE_MS = 180_000
/** How long calls must succeed before the service counts as restored. */
const CALM_MS = 6_000

export class Load {
  readonly #world: World
  readonly #customers: readonly Customer[]
  readonly #open = new Set<Promise<unknown>>()
  #running = true

  constructor(world: World, customers: readonly Customer[]) {
    this.#world = world
    this.#customers = customers
  }

  /** Makes calls until `stop`; resolves when the last of them has ended. */
  async run(ratePerSecond: number): Promise<void> {
    const startedMs = performance.now()
    for (let turn = 0; this.#running; turn++) {
      await sleep(Math.max(0, startedMs + (turn / ratePerSecond) * 1_000 - performance.now()))
      const call = this.#call(turn).finally(() => this.#open.delete(call))
      this.#open.add(call)
    }
    await Promise.all(this.#open)
  }

  stop(): void {
    this.#running = false
  }

  /** Waits until calls have succeeded for CALM_MS, and returns all calls that were open at `from` or later. */
  async calm(from: number): Promise<ClientCall[]> {
    const deadline = Date.now() + LATE_MS
    for (;;) {
      const calls = this.#world.client.calls.filter(({ endedAt }) => endedAt === 0 || endedAt >= from)
      const trouble = Math.max(Date.now() - CALM_MS < from ? from : 0, ...calls.filter(isTrouble).map(startOf))
      const calm = calls.filter(call => call.complete && call.startedAt > Date.now() - CALM_MS)
      if (Date.now() - trouble > CALM_MS && calm.length > CALM_MS / 1_000) return calls
      if (Date.now() > deadline)
        throw new Error(`calls are still failing after 3 minutes: ${describe(calls.slice(-20))}`)
      await sleep(200)
    }
  }

  async #call(turn: number): Promise<void> {
    const { client, url } = this.#world
    const call = await client.call({
      ...{ url, gateway: 'balancer', secret: 'canary' },
      ...(this.#customers[turn % this.#customers.length] as Customer),
      entryId: MODELS[turn % MODELS.length] as string,
      format: turn % 4 < 2 ? 'messages' : 'chat_completions',
      streamed: turn % 3 === 0,
    })
    // To the gateway, a client that was cut off looks like one that left.
    call.left = !call.complete
  }
}

const startOf = ({ startedAt }: ClientCall): number => startedAt

function isTrouble({ endedAt, startedAt, complete }: ClientCall): boolean {
  return endedAt === 0 ? Date.now() - startedAt > SLOW_MS : !complete
}

function describe(calls: readonly ClientCall[]): string {
  return calls.map(({ status, fault, complete }) => (complete ? 'ok' : `${status} ${fault}`)).join(', ')
}
