import { expect, test } from 'vitest'
import { createBatcher, NOTHING_AGAIN } from '../../src/lib/batcher.ts'

test('items that arrive together are sent together, and those that arrive meanwhile form the next batch', async () => {
  const batches: number[][] = []
  const batcher = createBatcher<number>({
    concurrency: 1,
    batchMax: 4,
    queueOf: () => 0,
    async run(batch) {
      batches.push(batch)
      if (batches.length === 1) for (const item of [10, 11]) batcher.push(item)
      return NOTHING_AGAIN
    },
  })
  for (const item of [1, 2, 3, 4, 5]) batcher.push(item)
  expect(batcher.size).toBe(5)
  await batcher.drained()
  expect(batches).toEqual([
    [1, 2, 3, 4],
    [5, 10, 11],
  ])
  expect(batcher.size).toBe(0)
})

test('items of one queue are never in two batches at once; queues do not wait for each other', async () => {
  let open: () => void = () => {}
  const blocked = new Promise<void>(resolve => {
    open = resolve
  })
  const done: number[] = []
  const batcher = createBatcher<number>({
    concurrency: 2,
    batchMax: 10,
    queueOf: item => item,
    async run(batch) {
      if (batch.includes(0)) await blocked
      done.push(...batch)
      return NOTHING_AGAIN
    },
  })
  for (const item of [0, 1, 3]) batcher.push(item)
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  batcher.push(2)
  expect(done).toEqual([1, 3])
  open()
  await batcher.drained()
  expect(done).toEqual([1, 3, 0, 2])
})

test('rejected items that are retried stay at the front, in order', async () => {
  const batches: number[][] = []
  const batcher = createBatcher<number>({
    concurrency: 1,
    batchMax: 2,
    queueOf: () => 0,
    async run(batch) {
      batches.push(batch)
      return batches.length === 1 ? { items: batch, pauseMs: 1 } : NOTHING_AGAIN
    },
  })
  for (const item of [1, 2, 3]) batcher.push(item)
  await batcher.drained()
  expect(batches).toEqual([[1, 2], [1, 2], [3]])
})
