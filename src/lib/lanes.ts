/**
 * Natural batching: while a batch is under way new items gather and form the next one. There is no timer, so nothing
 * waits when there is little to do.
 */

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

export interface LanesOptions<Item> {
  /** Batches under way at the same time. */
  readonly lanes: number
  readonly batchMax: number
  /** Items of one lane stay in order and are never in two batches at once. Any safe integer; taken modulo `lanes`. */
  readonly laneOf: (item: Item) => number
  /** Must not reject. Items that it returns are put in front again, after the pause. */
  readonly run: (batch: Item[]) => Promise<Again<Item>>
}

export interface Again<Item> {
  readonly items: readonly Item[]
  readonly pauseMs: number
}

export const NOTHING_AGAIN: Again<never> = { items: [], pauseMs: 0 }

export interface Lanes<Item> {
  push(item: Item): void
  /** Items that wait or are under way. */
  readonly size: number
  /** Resolves when nothing waits and nothing is under way. */
  drained(): Promise<void>
}

export function createLanes<Item>(options: LanesOptions<Item>): Lanes<Item> {
  const lanes = Array.from({ length: options.lanes }, () => ({ queue: [] as Item[], busy: false }))
  let size = 0
  let waiting: (() => void)[] = []

  async function work(lane: { queue: Item[]; busy: boolean }): Promise<void> {
    while (lane.queue.length > 0) {
      const batch = lane.queue.splice(0, options.batchMax)
      const again = await options.run(batch)
      size -= batch.length - again.items.length
      if (again.items.length > 0) {
        lane.queue.unshift(...again.items)
        await sleep(again.pauseMs)
      }
      // Whoever got an answer acts on it before the next batch leaves.
      if (lane.queue.length > 0) await turn()
    }
    lane.busy = false
    if (size > 0) return
    const resolved = waiting
    waiting = []
    for (const resolve of resolved) resolve()
  }

  return {
    push(item) {
      const lane = lanes[options.laneOf(item) % options.lanes]!
      lane.queue.push(item)
      size++
      if (lane.busy) return
      lane.busy = true
      // After the events of this turn, so that what arrives together goes together.
      setImmediate(work, lane)
    },
    get size() {
      return size
    },
    drained() {
      return size === 0 ? Promise.resolve() : new Promise(resolve => waiting.push(resolve))
    },
  }
}

/** Pause before attempt `attempt` (from 1): doubles from 25 ms to `maxMs`, with jitter so that processes spread out. */
export function backoffMs(attempt: number, maxMs: number): number {
  return Math.min(25 * 2 ** Math.min(attempt - 1, 12), maxMs) * (0.5 + Math.random() / 2)
}
