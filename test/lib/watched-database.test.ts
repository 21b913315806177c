import { afterAll, expect, test } from 'vitest'
import { openWatchedDatabase } from '../../src/lib/watched-database.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase({ migrated: false })
afterAll(() => database.drop())

test('a pool counts the statements and transactions that run or wait, however they end', async () => {
  const pool = openWatchedDatabase({ url: database.url, name: 'watched', connectionsMax: 1, deadlineMs: 60_000 })
  const statements = () => pool.load.statements
  expect(pool.load).toEqual({ name: 'watched', statements: 0, connectionsMax: 1 })
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const transaction = pool.begin(async inner => {
    await inner.unsafe('select 1')
    await held
    return 'done'
  })
  const waiting = [pool.unsafe('select 2 as two'), pool.unsafe('select no_such_column')]
  await expect.poll(statements).toBe(3)
  release()
  expect(await transaction).toBe('done')
  expect(await waiting[0]).toEqual([{ two: 2 }])
  await expect(waiting[1]).rejects.toThrow('no_such_column')
  await expect(pool.begin(() => Promise.reject(new Error('rolled back')))).rejects.toThrow('rolled back')
  expect(statements()).toBe(0)
  await pool.end({ timeout: 1 })
})
