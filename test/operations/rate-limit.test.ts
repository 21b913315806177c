/** The arithmetic of the sliding minute, on Postgres' own clock and rows set by hand. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRateLimiter, type RateLimiter, waitSeconds } from '../../src/operations/rate-limit.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
let limiter: RateLimiter
let nowMs = 0
beforeAll(async () => {
  database = await createTestDatabase()
  limiter = createRateLimiter({ url: database.url, nowMs: () => nowMs })
})
afterAll(async () => {
  await limiter.close()
  await database.drop()
})

/** How many of so many calls are granted. */
async function granted(keyId: number, limit: number, calls: number): Promise<number> {
  limiter.forget()
  const outcomes = await Promise.allSettled(Array.from({ length: calls }, () => limiter.take(keyId, limit)))
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'rate_limited' })
  }
  return outcomes.filter(outcome => outcome.status === 'fulfilled').length
}

/** Puts the counted minute back by so many minutes. */
async function age(keyId: number, minutes: number) {
  await database.sql`update rate_window set started_at = started_at - make_interval(mins => ${minutes}) where key_id = ${keyId}`
}

test('grants no more than the limit, however calls come together', async () => {
  expect(await granted(1, 10, 25)).toBe(10)
  expect(await granted(1, 10, 5)).toBe(0)
  expect(await granted(2, 10, 3)).toBe(3)
  expect(await granted(2, 10, 25)).toBe(7)
})

test('carries over the share of the minute before that is less than 60 s back', async () => {
  expect(await granted(3, 100, 100)).toBe(100)
  await age(3, 1)
  const [before] = await database.sql`select extract(second from now())::double precision as second`
  const count = await granted(3, 100, 100)
  const [after] = await database.sql`select extract(second from now())::double precision as second`
  const share = (second: number) => Math.floor(100 - 100 * (1 - second / 60))
  if (after?.second >= before?.second) {
    expect(count).toBeGreaterThanOrEqual(share(before?.second))
    expect(count).toBeLessThanOrEqual(share(after?.second))
  }
})

test('forgets what is two minutes old', async () => {
  expect(await granted(4, 10, 10)).toBe(10)
  await age(4, 2)
  expect(await granted(4, 10, 25)).toBe(10)
})

test('follows a limit that was changed', async () => {
  expect(await granted(5, 3, 9)).toBe(3)
  expect(await granted(5, 8, 9)).toBe(5)
  expect(await granted(5, 2, 9)).toBe(0)
})

test('remembers a key whose limit is used up, and asks again when its time has come', async () => {
  expect(await granted(6, 1, 2)).toBe(1)
  await database.sql`delete from rate_window where key_id = 6`
  await expect(limiter.take(6, 1)).rejects.toMatchObject({ code: 'rate_limited' })
  nowMs += 121_000
  await limiter.take(6, 1)
})

test.each([
  [{ used: 5, previous: 0, elapsed_seconds: 20 }, 5, 40 + 12],
  [{ used: 0, previous: 10, elapsed_seconds: 20 }, 5, 36 - 20],
  [{ used: 2, previous: 4, elapsed_seconds: 10 }, 5, 30 - 10],
  [{ used: 1, previous: 0, elapsed_seconds: 0 }, 1, 120],
  [{ used: 1, previous: 1, elapsed_seconds: 59.9 }, 1, 61],
])('waits as long as it takes for one more call to fit: %j under %i', (row, limit, seconds) => {
  expect(waitSeconds(row, { limit })).toBe(seconds)
})
