/** How the processes that share a database notify each other. */

import { afterAll, expect, test } from 'vitest'
import { watchOperations } from '../../src/operations/watch.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
afterAll(() => database.drop())

test('other processes are notified when a process begins to serve, and need not poll for it', async () => {
  const counts: number[] = []
  const watch = (name: string) =>
    watchOperations({
      sql: database.sql,
      name,
      status: () => ({}),
      onKeysChanged: () => {},
      onProcesses: count => {
        if (name === 'first') counts.push(count)
      },
      report: () => {},
      askMs: 3_600_000,
    })
  const first = await watch('first')
  await expect.poll(() => counts.at(-1)).toBe(1)
  const second = await watch('second')
  await expect.poll(() => counts.at(-1)).toBe(2)
  await second.close()
  await first.close()
})
