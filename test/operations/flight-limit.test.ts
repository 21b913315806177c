/** Calls in flight per key: never more than the limit across all processes, and no database statement for keys far below it. */

import { setImmediate as turn } from 'node:timers/promises'
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

/** Tries to start this many calls, and returns how many were admitted. */
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

test('a single process counts without asking the database, and admits exactly the limit', async () => {
  const [only] = limiters(1) as [FlightLimiter]
  expect(await enter(only, 1, 10, 25)).toBe(10)
  leave(only, 1, 4)
  expect(await enter(only, 1, 10, 25)).toBe(4)
  expect(await rowsOf(1)).toBe(0)
})

test('several processes together admit at most the limit, whoever asks first, and more calls once some have ended', async () => {
  for (const limit of [1, 7, 40, 300]) {
    const keyId = 100 + limit
    const all = limiters(3)
    const entered = await Promise.all(all.map(limiter => enter(limiter, keyId, limit, limit)))
    const inFlight = entered.reduce((sum, count) => sum + count, 0)
    expect(inFlight).toBeLessThanOrEqual(limit)
    // At most an eighth of the limit stays unused: it is reserved for calls that other processes may admit without asking the
    // database.
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

test('a call that waits for a slot is not refused because a later one took it, far below the limit', async () => {
  const [limiter] = limiters(2) as [FlightLimiter]
  const [keyId, limit] = [44, 256]
  expect(await enter(limiter, keyId, limit, 30)).toBe(30)
  const first = limiter.take(keyId, limit)
  await turn()
  // Comes while Postgres is being asked for the first, so it is part of the next question.
  const second = limiter.take(keyId, limit)
  leave(limiter, keyId, 3)
  await first
  // Two turns later Postgres has been asked for as many slots as the calls in flight and the second one need.
  await turn()
  await turn()
  const later = limiter.take(keyId, limit)
  expect(await Promise.allSettled([second, later])).toEqual([{ status: 'fulfilled' }, { status: 'fulfilled' }])
})

test('a call that waits for a slot keeps its key’s limit if the only other call ends meanwhile', async () => {
  const [limiter, other] = limiters(2) as [FlightLimiter, FlightLimiter]
  expect(await enter(other, 45, 16, 5)).toBe(5)
  expect(limiter.take(45, 16)).toBeNull()
  const waiting = limiter.take(45, 16)
  limiter.release(45)
  await expect(waiting).resolves.toBeUndefined()
})

test('random calls in three processes never exceed the limit', async () => {
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

test('a call that ends while another waits for the database does not release the place of the waiting one', async () => {
  const [first, second] = limiters(2) as [FlightLimiter, FlightLimiter]
  // The first call fits the process's own share, the second has to ask the database, and the first ends before the answer
  // arrives.
  expect(first.take(6, 16)).toBeNull()
  const asking = first.take(6, 16)
  // By now the query has been sent but not answered.
  await new Promise(resolve => setImmediate(resolve))
  first.release(6)
  expect(first.take(6, 16)).toBeNull()
  await asking
  const others = await enter(second, 6, 16, 20)
  expect(2 + others + (await enter(first, 6, 16, 20))).toBeLessThanOrEqual(16)
})

test('the places of a process that died are free once its share has expired', async () => {
  const [dead, living] = limiters(2) as [FlightLimiter, FlightLimiter]
  expect(await enter(dead, 4, 5, 5)).toBe(5)
  expect(await enter(living, 4, 5, 1)).toBe(0)
  await database.sql`update key_flight set shares = replace(shares::text, (shares -> (select k from jsonb_object_keys(shares) k limit 1) ->> 1), '1')::jsonb
                      where key_id = 4`
  expect(await enter(living, 4, 5, 9)).toBe(5)
})

test('when a second process joins, the first one publishes the calls that it has counted on its own', async () => {
  const [first, second] = limiters(1).concat(limiters(1)) as [FlightLimiter, FlightLimiter]
  expect(await enter(first, 5, 16, 12)).toBe(12)
  first.setProcesses(2)
  second.setProcesses(2)
  await expect.poll(() => rowsOf(5)).toBe(1)
  expect(await enter(second, 5, 16, 16)).toBe(4)
})
