/** Depth and limit of every queue of a process. */

import type { QueueLoad } from '../lib/batcher.ts'
import { type Family, gauge } from '../lib/metrics.ts'

export function queueFamilies(queues: readonly QueueLoad[]): readonly Family[] {
  const each = (pick: (queue: QueueLoad) => number | null) =>
    queues.flatMap(queue => {
      const value = pick(queue)
      return value === null ? [] : [[{ queue: queue.name }, value] as const]
    })
  return [
    gauge(
      'gateway_queue_items',
      'What waits in a queue, or is in progress.',
      each(({ items }) => items),
    ),
    gauge(
      'gateway_queue_items_max',
      'What a queue may hold; further items are refused or dropped.',
      each(({ itemsMax }) => itemsMax),
    ),
    gauge(
      'gateway_queue_batch_age_seconds',
      'How long the oldest statement of a queue has been running; 0: none is.',
      each(({ batchMs }) => (batchMs === undefined ? null : batchMs / 1000)),
    ),
  ]
}
