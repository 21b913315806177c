/** Tasks that one process at a time does for all. */

import { afterAll, expect, test } from 'vitest'
import { takeTurn } from '../../src/lib/lease.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

const MINUTE = { everyMs: 60_000 }
const query = (statement: string, parameters: string[]) => sql.unsafe(statement, parameters)

/** Runs the task if it is due. Returns whether it ran. */
async function isRun(task: string): Promise<boolean> {
  let runs = 0
  const isMine = await takeTurn(query, { task, ...MINUTE }, async () => runs++)
  expect(runs).toBe(isMine ? 1 : 0)
  return isMine
}

async function moveBack(task: string, interval: string): Promise<void> {
  await sql`update housekeeping set ran_at = ran_at - ${interval}::text::interval, finished_at = finished_at - ${interval}::text::interval
    where task = ${task}`
}

test('of many processes, one runs a task in each interval', async () => {
  const all = () => Promise.all(Array.from({ length: 8 }, () => isRun('shared')))
  expect((await all()).filter(Boolean)).toHaveLength(1)
  expect((await all()).filter(Boolean)).toHaveLength(0)
  await moveBack('shared', '60 seconds')
  expect((await all()).filter(Boolean)).toHaveLength(1)
})

test.each(['2 minutes', '1 year'])(
  'a clock that is set back by %s does not stop a task for that long',
  async interval => {
    const task = `after ${interval}`
    expect(await isRun(task)).toBe(true)
    await moveBack(task, `-${interval}`)
    expect(await isRun(task)).toBe(true)
    expect(await isRun(task)).toBe(false)
  },
)

test('a run that fails counts as begun, not as finished', async () => {
  const read = async () => {
    const [row] = await sql`select ran_at > now() - interval '30 seconds' as began,
      finished_at > now() - interval '30 seconds' as finished from housekeeping where task = 'failing'`
    return row
  }
  expect(await isRun('failing')).toBe(true)
  await moveBack('failing', '4 hours')
  const failing = takeTurn(query, { task: 'failing', ...MINUTE }, () => Promise.reject(new Error('failed')))
  await expect(failing).rejects.toThrow('failed')
  expect(await read()).toEqual({ began: true, finished: false })
  await moveBack('failing', '1 minute')
  expect(await isRun('failing')).toBe(true)
  expect(await read()).toEqual({ began: true, finished: true })
})
