/** Calls in flight per key: at most the limit in all processes together, and no statement far below it. */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { GatewayError } from '../../src/errors.ts'
import { createFlightLimiter, type FlightLimiter } from '../../src/operations/flight-limit.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
const open: FlightLimiter[] = []
beforeAll(async () => {
  database = await createTestDatabase()
})
afterEach(async () => {
  await Promise.all(open.splice(0).map(limiter => limiter.close()))
})
afterAll(() => database.drop())

let names = 0
function limiters(processes: number): FlightLimiter[] {
  return Array.from({ length: processes }, () => {
    const limiter = createFlightLimiter({ url: database.url, name: `process-${names++}`, giveBackMs: 1 })
    limiter.setProcesses(processes)
    open.push(limiter)
    return limiter
  })
}

/** How many of the calls were let in. */
async function enter(limiter: FlightLimiter, keyId: number, limit: number, calls: number): Promise<number> {
  const outcomes = await Promise.allSettled(Array.from({ length: calls }, () => limiter.take(keyId, limit)))
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') continue
    const { code, status, details } = outcome.reason as GatewayError
    expect([code, status, details.retryAfterSeconds]).toEqual(['rate_limited', 429, 1])
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length
}

function leave(limiter: FlightLimiter, keyId: number, calls: number): void {
  for (let count = 0; count < calls; count++) limiter.release(keyId)
}

async function rowsOf(keyId: number): Promise<number> {
  const [row] = await database.sql`select count(*)::integer as rows from key_flight where key_id = ${keyId}`
  return row?.rows
}

test('one process alone counts without asking, and lets in as many as the limit says', async () => {
  const [only] = limiters(1) as [FlightLimiter]
  expect(await enter(only, 1, 10, 25)).toBe(10)
  leave(only, 1, 4)
  expect(await enter(only, 1, 10, 25)).toBe(4)
  expect(await rowsOf(1)).toBe(0)
})

test('several processes let in the limit together, whoever asks first, and again what has ended', async () => {
  for (const limit of [1, 7, 40, 300]) {
    const keyId = 100 + limit
    const all = limiters(3)
    const entered = await Promise.all(all.map(limiter => enter(limiter, keyId, limit, limit)))
    const inFlight = entered.reduce((sum, count) => sum + count, 0)
    expect(inFlight).toBeLessThanOrEqual(limit)
    // What stays unused is at most what the others may use without asking.
    expect(inFlight).toBeGreaterThanOrEqual(limit - Math.floor(limit / 8))
    all.forEach((limiter, index) => void leave(limiter, keyId, entered[index] as number))
    await expect.poll(() => enter(all[0] as FlightLimiter, keyId, limit, 1)).toBe(1)
  }
})

test('a key far below its limit needs no statement in any process', async () => {
  const all = limiters(4)
  for (const limiter of all) for (let call = 0; call < 8; call++) expect(limiter.take(2, 256)).toBeNull()
  expect(await rowsOf(2)).toBe(0)
})

test('random comings and goings in three processes never pass the limit', async () => {
  const all = limiters(3)
  const counts = [0, 0, 0]
  for (let round = 0; round < 150; round++) {
    const index = (round * 7 + ((round * round) % 5)) % 3
    const limiter = all[index] as FlightLimiter
    if (round % 3 === 2) {
      const ended = Math.ceil((counts[index] as number) / 2)
      leave(limiter, 3, ended)
      counts[index] = (counts[index] as number) - ended
    } else counts[index] = (counts[index] as number) + (await enter(limiter, 3, 24, 1 + (round % 9)))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(24)
  }
  expect(Math.max(...counts)).toBeGreaterThan(0)
})

test('a call that ends while others wait for the database takes no place of theirs with it', async () => {
  const [first, second] = limiters(2) as [FlightLimiter, FlightLimiter]
  // One call of the own share, one that has to ask, and the first one ends before the answer.
  expect(first.take(6, 16)).toBeNull()
  const asking = first.take(6, 16)
  // The question has left, and its answer has not come.
  await new Promise(resolve => setImmediate(resolve))
  first.release(6)
  expect(first.take(6, 16)).toBeNull()
  await asking
  const others = await enter(second, 6, 16, 20)
  expect(2 + others + (await enter(first, 6, 16, 20))).toBeLessThanOrEqual(16)
})

test('what a process had that died is free when its time is over', async () => {
  const [dead, living] = limiters(2) as [FlightLimiter, FlightLimiter]
  expect(await enter(dead, 4, 5, 5)).toBe(5)
  expect(await enter(living, 4, 5, 1)).toBe(0)
  await database.sql`update key_flight set shares = replace(shares::text, (shares -> (select k from jsonb_object_keys(shares) k limit 1) ->> 1), '1')::jsonb
                      where key_id = 4`
  expect(await enter(living, 4, 5, 9)).toBe(5)
})

test('a second process makes known what the first one counted for itself', async () => {
  const [first, second] = limiters(1).concat(limiters(1)) as [FlightLimiter, FlightLimiter]
  expect(await enter(first, 5, 16, 12)).toBe(12)
  first.setProcesses(2)
  second.setProcesses(2)
  await expect.poll(() => rowsOf(5)).toBe(1)
  expect(await enter(second, 5, 16, 16)).toBe(4)
})
