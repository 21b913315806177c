/** What processes of one database tell each other. */

import { afterAll, expect, test } from 'vitest'
import { watchOperations } from '../../src/operations/watch.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
afterAll(() => database.drop())

test('a process that begins to serve is known to the others by news, not only when they ask', async () => {
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
