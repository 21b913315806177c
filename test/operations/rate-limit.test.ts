/** The limit per sliding minute: compared with a simple model on a fake clock, and tested on Postgres' own clock. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { createRateLimiter, EXACT_LIMIT_MAX, type RateLimiter } from '../../src/operations/rate-limit.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { seededRandom } from '../support/random.ts'

let database: TestDatabase
/** A limiter on a fake clock. */
let limiter: RateLimiter
let nowMs = Date.parse('2026-11-21T10:00:00Z')
/** A limiter on Postgres' clock. */
let live: RateLimiter
beforeAll(async () => {
  database = await createTestDatabase()
  limiter = createRateLimiter({ url: database.url, nowMs: () => nowMs, clock: () => new Date(nowMs) })
  live = createRateLimiter({ url: database.url, nowMs: () => performance.now() })
})
afterAll(async () => {
  await Promise.all([limiter.close(), live.close()])
  await database.drop()
})

interface Outcome {
  readonly granted: number
  /** How many seconds refused calls were told to wait; null if no call was refused. */
  readonly waitSeconds: number | null
}

async function take(from: RateLimiter, keyId: number, limit: number, calls: number): Promise<Outcome> {
  const outcomes = await Promise.allSettled(Array.from({ length: calls }, () => from.take(keyId, limit)))
  const waits = outcomes.flatMap(outcome => {
    if (outcome.status === 'fulfilled') return []
    const { code, details, message } = outcome.reason as GatewayError
    expect(outcome.reason).toBeInstanceOf(GatewayError)
    expect([code, message]).toEqual([
      'rate_limited',
      `This key is limited to ${limit === 1 ? '1 call' : `${limit} calls`} per minute; try again in ${details.retryAfterSeconds} s.`,
    ])
    return [details.retryAfterSeconds as number]
  })
  expect(new Set(waits).size).toBeLessThan(2)
  return { granted: calls - waits.length, waitSeconds: waits[0] ?? null }
}

/** The times of the grants in the last `ms` milliseconds. */
function within(grants: readonly number[], ms: number): number[] {
  return grants.filter(at => at > nowMs - ms)
}

/**
 * Makes random batches of calls with one key, and yields the outcome of each. Some batches start exactly at the time until
 * which the last refusal told the client to wait.
 */
async function* traffic(keyId: number, limit: number, steps: number) {
  const random = seededRandom(keyId)
  const grants: number[] = []
  for (let step = 0; step < steps; step++) {
    const before = grants.length
    const calls = 1 + random(Math.max(3, Math.ceil(limit / 4)) * (random(10) === 0 ? 8 : 1))
    // Clears the limiter's cache every other time, so that it acts like another process.
    if (step % 2 === 0) limiter.forget()
    const outcome = await take(limiter, keyId, limit, calls)
    for (let call = 0; call < outcome.granted; call++) grants.push(nowMs)
    yield { outcome, calls, grants, before: grants.slice(0, before) }
    const gapMs = random(5) === 0 ? random(70_000) : random(Math.ceil(120_000 / Math.max(4, limit / 8)))
    const until = outcome.waitSeconds === null || random(2) === 0 ? gapMs : outcome.waitSeconds * 1000
    nowMs += until
  }
}

test.each([1, 2, 3, 7, 30, EXACT_LIMIT_MAX])(
  'a limit of %i is exact: only the calls above it are refused',
  async limit => {
    for await (const { outcome, calls, before } of traffic(1000 + limit, limit, 150)) {
      const recent = within(before, 60_000)
      expect(outcome.granted).toBe(Math.min(calls, limit - recent.length))
      if (outcome.granted === calls) continue
      // The next call fits when the oldest call of the minute is a minute old.
      const oldest = recent[0] ?? nowMs
      expect(outcome.waitSeconds).toBe(Math.max(1, Math.ceil((oldest + 60_000 - nowMs) / 1000)))
    }
  },
)

test.each([EXACT_LIMIT_MAX + 1, 200, 5000])(
  'a limit of %i is never exceeded, and is exact to within a second',
  async limit => {
    let refusals = 0
    for await (const { outcome, calls, before, grants } of traffic(1000 + limit, limit, 100)) {
      expect(within(grants, 60_000).length).toBeLessThanOrEqual(limit)
      expect(outcome.granted).toBeGreaterThanOrEqual(Math.min(calls, limit - within(before, 61_000).length))
      if (outcome.waitSeconds === null) continue
      refusals++
      expect(outcome.waitSeconds).toBeGreaterThanOrEqual(1)
      expect(outcome.waitSeconds).toBeLessThanOrEqual(60)
    }
    expect(refusals).toBeGreaterThan(5)
  },
)

test('a row stays small, however many calls a limit allows', async () => {
  const key = 5
  for (let step = 0; step < 400; step++, nowMs += 300) await take(limiter, key, 100_000, 1)
  const [row] = await database.sql`
    select cardinality(granted_at) as entries, cardinality(totals) as totals, pg_column_size(g) as bytes
      from rate_grant g where key_id = ${key}`
  expect(row?.entries).toBeGreaterThan(50)
  expect(row?.entries).toBeLessThanOrEqual(61)
  expect(row?.totals).toBe(row?.entries)
  expect(row?.bytes).toBeLessThan(1200)
})

test('follows a limit that was changed', async () => {
  expect(await take(limiter, 6, 3, 9)).toEqual({ granted: 3, waitSeconds: 60 })
  limiter.forget()
  nowMs += 10_000
  expect(await take(limiter, 6, 8, 9)).toEqual({ granted: 5, waitSeconds: 50 })
  limiter.forget()
  nowMs += 10_000
  // Eight calls count against the limit, which is now two. Three expire in 40 s, and five in 50 s: only then is there room.
  expect(await take(limiter, 6, 2, 1)).toEqual({ granted: 0, waitSeconds: 50 })
  nowMs += 50_000
  expect(await take(limiter, 6, 2, 3)).toEqual({ granted: 2, waitSeconds: 60 })
})

test('a key whose limit is used up causes no statement until its wait is over', async () => {
  expect(await take(limiter, 7, 1, 1)).toEqual({ granted: 1, waitSeconds: null })
  expect(await take(limiter, 7, 1, 1)).toEqual({ granted: 0, waitSeconds: 60 })
  await database.sql`delete from rate_grant where key_id = 7`
  nowMs += 59_999
  expect(await take(limiter, 7, 1, 1)).toEqual({ granted: 0, waitSeconds: 1 })
  nowMs += 1
  expect((await take(limiter, 7, 1, 1)).granted).toBe(1)
})

test('a clock that was set back by hours refuses nobody for longer than a minute', async () => {
  expect((await take(limiter, 8, 5, 9)).granted).toBe(5)
  limiter.forget()
  nowMs -= 7_200_000
  expect((await take(limiter, 8, 5, 9)).granted).toBe(5)
  limiter.forget()
  nowMs -= 30_000
  expect(await take(limiter, 8, 5, 9)).toEqual({ granted: 0, waitSeconds: 60 })
  nowMs += 90_000
  limiter.forget()
  expect((await take(limiter, 8, 5, 9)).granted).toBe(5)
})

test('on the clock of Postgres, calls at once never exceed the limit', async () => {
  expect(await take(live, 9, 10, 25)).toEqual({ granted: 10, waitSeconds: 60 })
  live.forget()
  const again = await take(live, 9, 10, 5)
  expect(again.granted).toBe(0)
  expect(again.waitSeconds).toBeLessThanOrEqual(60)
  expect(await take(live, 10, 10, 3)).toEqual({ granted: 3, waitSeconds: null })
  expect((await take(live, 10, 10, 25)).granted).toBe(7)
  await database.sql`update rate_grant set granted_at = array(select at - interval '1 minute' from unnest(granted_at) at)`
  live.forget()
  expect((await take(live, 10, 10, 25)).granted).toBe(10)
})
