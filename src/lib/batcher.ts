/**
 * Natural batching: items that arrive while a batch is in progress form the next one. There is no timer, so under light load
 * nothing waits.
 */

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

export interface BatcherOptions<Item> {
  /** Maximum number of batches in progress at once. */
  readonly concurrency: number
  readonly batchMax: number
  /**
   * Assigns the item to a queue: any safe integer, taken modulo `concurrency`. Items of one queue stay in order, and only one
   * batch of a queue is in progress at a time.
   */
  readonly queueOf: (item: Item) => number
  /** Handles a batch; must not reject. Items that it returns go back to the front of the queue, which then pauses. */
  readonly run: (batch: Item[]) => Promise<Again<Item>>
}

export interface Again<Item> {
  readonly items: readonly Item[]
  readonly pauseMs: number
}

export const NOTHING_AGAIN: Again<never> = { items: [], pauseMs: 0 }

export interface Batcher<Item> {
  push(item: Item): void
  /** Number of items waiting or in progress. */
  readonly size: number
  /** How long the oldest batch in progress has been running, in ms; 0 if there is none. */
  readonly batchMs: number
  /** Resolves when no item is waiting or in progress. */
  drained(): Promise<void>
}

/** A queue's depth and limit, for metrics. */
export interface QueueLoad {
  readonly name: string
  /** Number of items waiting or in progress. */
  readonly items: number
  /** Maximum number of items; any more are refused or dropped. Null if the number is limited elsewhere. */
  readonly itemsMax: number | null
  /** How long the oldest batch in progress has been running, in ms. Absent for queues that do not batch. */
  readonly batchMs?: number
}

export function queueLoad<Item>(
  name: string,
  { size, batchMs }: Pick<Batcher<Item>, 'size' | 'batchMs'>,
  itemsMax: number | null,
): QueueLoad {
  return { name, items: size, itemsMax, batchMs }
}

export function createBatcher<Item>(options: BatcherOptions<Item>): Batcher<Item> {
  const queues = Array.from({ length: options.concurrency }, () => ({ items: [] as Item[], busy: false, sinceMs: 0 }))
  let size = 0
  let waiting: (() => void)[] = []

  async function work(queue: (typeof queues)[number]): Promise<void> {
    while (queue.items.length > 0) {
      const batch = queue.items.splice(0, options.batchMax)
      queue.sinceMs = performance.now()
      const again = await options.run(batch)
      size -= batch.length - again.items.length
      if (again.items.length > 0) {
        queue.items.unshift(...again.items)
        await sleep(again.pauseMs)
      }
      // Lets callers react to their results before the next batch starts.
      if (queue.items.length > 0) await turn()
    }
    queue.busy = false
    if (size > 0) return
    const resolved = waiting
    waiting = []
    for (const resolve of resolved) resolve()
  }

  return {
    push(item) {
      const queue = queues[options.queueOf(item) % options.concurrency]!
      queue.items.push(item)
      size++
      if (queue.busy) return
      queue.busy = true
      queue.sinceMs = performance.now()
      // Starts after this turn's events, so that items arriving together are batched together.
      setImmediate(work, queue)
    },
    get size() {
      return size
    },
    get batchMs() {
      const nowMs = performance.now()
      return queues.reduce((most, { busy, sinceMs }) => (busy ? Math.max(most, nowMs - sinceMs) : most), 0)
    },
    drained() {
      return size === 0 ? Promise.resolve() : new Promise(resolve => waiting.push(resolve))
    },
  }
}

/** Pause before attempt `attempt` (from 1), in ms: doubles from 25 to `maxMs`, with jitter to spread processes out. */
export function backoffMs(attempt: number, maxMs: number): number {
  return Math.min(25 * 2 ** Math.min(attempt - 1, 12), maxMs) * (0.5 + Math.random() / 2)
}
