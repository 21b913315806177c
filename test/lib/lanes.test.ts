import { expect, test } from 'vitest'
import { createLanes, NOTHING_AGAIN } from '../../src/lib/lanes.ts'

test('what arrives together goes together, and what arrives meanwhile forms the next batch', async () => {
  const batches: number[][] = []
  const lanes = createLanes<number>({
    lanes: 1,
    batchMax: 4,
    laneOf: () => 0,
    async run(batch) {
      batches.push(batch)
      if (batches.length === 1) for (const item of [10, 11]) lanes.push(item)
      return NOTHING_AGAIN
    },
  })
  for (const item of [1, 2, 3, 4, 5]) lanes.push(item)
  expect(lanes.size).toBe(5)
  await lanes.drained()
  expect(batches).toEqual([
    [1, 2, 3, 4],
    [5, 10, 11],
  ])
  expect(lanes.size).toBe(0)
})

test('items of one lane are never in two batches at once; lanes do not wait for each other', async () => {
  let open: () => void = () => {}
  const blocked = new Promise<void>(resolve => {
    open = resolve
  })
  const done: number[] = []
  const lanes = createLanes<number>({
    lanes: 2,
    batchMax: 10,
    laneOf: item => item,
    async run(batch) {
      if (batch.includes(0)) await blocked
      done.push(...batch)
      return NOTHING_AGAIN
    },
  })
  for (const item of [0, 1, 3]) lanes.push(item)
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  lanes.push(2)
  expect(done).toEqual([1, 3])
  open()
  await lanes.drained()
  expect(done).toEqual([1, 3, 0, 2])
})

test('items that are to be tried again stay in front, in order', async () => {
  const batches: number[][] = []
  const lanes = createLanes<number>({
    lanes: 1,
    batchMax: 2,
    laneOf: () => 0,
    async run(batch) {
      batches.push(batch)
      return batches.length === 1 ? { items: batch, pauseMs: 1 } : NOTHING_AGAIN
    },
  })
  for (const item of [1, 2, 3]) lanes.push(item)
  await lanes.drained()
  expect(batches).toEqual([[1, 2], [1, 2], [3]])
})
