import { afterAll, describe, expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { describeDevice } from '../../src/accounts/device.ts'
import { blockAccount, setRole } from '../../src/accounts/operator.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { endOtherSessions, endSession, listSessions, openSession, readSession } from '../../src/accounts/sessions.ts'
import { sweepPeople } from '../../src/accounts/sweep.ts'
import type { OpenedSession } from '../../src/accounts/types.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { newAddress, testPeople, visitor } from './people.ts'

const database = await createTestDatabase()
const { sql } = database
const people = testPeople(sql)
afterAll(() => database.drop())

const newAccount = async () => (await createAccount(sql, newAddress())).accountId
const open = (accountId: number) => openSession(sql, people.limits, { accountId, visitor: visitor() })
const age = ({ session }: OpenedSession, column: 'seen_at' | 'created_at', interval: string) =>
  sql.unsafe(`update session set ${column} = now() - $2::text::interval where session_id = $1::text::bigint`, [
    String(session.sessionId),
    interval,
  ])

test('only the hash of the cookie’s token is stored', async () => {
  const opened = await open(await newAccount())
  expect(opened.token).toMatch(/^[A-Za-z0-9_-]{43}$/)
  const rows = await sql.unsafe(
    `select count(*)::integer as found from session s where s::text like '%' || $1 || '%'`,
    [opened.token],
  )
  expect(rows[0]?.found).toBe(0)
  expect(await readSession(people, opened.token)).toEqual(opened.session)
})

test.each(['', 'x', 'a'.repeat(43), `${'a'.repeat(42)}'`, '\0', 'a'.repeat(100)])(
  'the cookie %j is nobody',
  async token => {
    expect(await readSession(people, token)).toBeNull()
  },
)

describe('a session ends', () => {
  test('after 7 days without use, counted again from each use (noted at most once a minute)', async () => {
    const opened = await open(await newAccount())
    await age(opened, 'seen_at', '6 days 23 hours')
    expect(await readSession(people, opened.token)).not.toBeNull()
    const again = await readSession(people, opened.token)
    expect(Date.now() - again!.seenAt.getTime()).toBeLessThan(60_000)
    await age(opened, 'seen_at', '7 days 1 minute')
    expect(await readSession(people, opened.token)).toBeNull()
    expect(await listSessions(people, opened.session.accountId)).toEqual([])
  })

  test('after 30 days, used or not', async () => {
    const opened = await open(await newAccount())
    await age(opened, 'created_at', '29 days 23 hours')
    expect(await readSession(people, opened.token)).not.toBeNull()
    await age(opened, 'created_at', '30 days 1 minute')
    expect(await readSession(people, opened.token)).toBeNull()
  })

  test('of an operator after an hour without use or 12 hours in all', async () => {
    const accountId = await newAccount()
    await setRole(sql, { accountId, role: 'owner', by: COMMAND_LINE })
    const opened = await open(accountId)
    expect(opened).toMatchObject({ maxAgeSeconds: 12 * 3_600, session: { role: 'owner' } })
    await age(opened, 'seen_at', '59 minutes')
    expect(await readSession(people, opened.token)).not.toBeNull()
    await age(opened, 'seen_at', '61 minutes')
    expect(await readSession(people, opened.token)).toBeNull()
    const second = await open(accountId)
    await age(second, 'created_at', '12 hours 1 minute')
    expect(await readSession(people, second.token)).toBeNull()
  })

  test('when its owner ends it, and not when anybody else tries', async () => {
    const [accountId, stranger] = [await newAccount(), await newAccount()]
    const [first, second, third] = [await open(accountId), await open(accountId), await open(accountId)]
    const { sessionId } = first.session
    expect(await endSession(people, { accountId: stranger, sessionId })).toBe(false)
    expect(await endSession(people, { accountId, sessionId })).toBe(true)
    expect(await endSession(people, { accountId, sessionId })).toBe(false)
    expect(await readSession(people, first.token)).toBeNull()
    expect(await endOtherSessions(people, second.session)).toBe(1)
    expect(await readSession(people, third.token)).toBeNull()
    expect(await listSessions(people, accountId)).toMatchObject([{ sessionId: second.session.sessionId }])
  })

  test('when its account is blocked or its role changes', async () => {
    const accountId = await newAccount()
    const first = await open(accountId)
    await setRole(sql, { accountId, role: 'owner', by: COMMAND_LINE })
    expect(await readSession(people, first.token)).toBeNull()
    const second = await open(accountId)
    await blockAccount(sql, { accountId, by: COMMAND_LINE, reason: 'test' })
    expect(await readSession(people, second.token)).toBeNull()
  })

  test('when it is the oldest of more than allowed', async () => {
    const accountId = await newAccount()
    const few = { ...people.limits, sessionsMax: 3 }
    const opened = []
    for (let turn = 0; turn < 4; turn++) {
      opened.push(await openSession(sql, few, { accountId, visitor: visitor() }))
      await age(opened[turn]!, 'seen_at', `${10 - turn} minutes`)
    }
    const alive = await Promise.all(opened.map(async ({ token }) => (await readSession(people, token)) !== null))
    expect(alive).toEqual([false, true, true, true])
  })

  test('not because somebody who knows the password, but not the second factor, opens many', async () => {
    const accountId = await newAccount()
    const few = { ...people.limits, sessionsMax: 3 }
    const secondFactorAt = new Date()
    const own = await openSession(sql, few, { accountId, visitor: visitor(), secondFactorAt })
    await age(own, 'seen_at', '1 hour')
    for (let turn = 0; turn < 4; turn++) await openSession(sql, few, { accountId, visitor: visitor() })
    expect(await readSession(people, own.token)).not.toBeNull()
    expect(await listSessions(people, accountId)).toHaveLength(3)
  })
})

test('the sweep deletes what has expired and nothing else', async () => {
  const accountId = await newAccount()
  const [old, live] = [await open(accountId), await open(accountId)]
  await age(old, 'seen_at', '8 days')
  await sweepPeople(people)
  const rows = await sql.unsafe('select session_id from session where account_id = $1::text::bigint', [
    String(accountId),
  ])
  expect(rows.map(row => Number(row.session_id))).toEqual([live.session.sessionId])
})

test.each([
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile/15E148 Safari/604.1', 'Safari, iOS'],
  ['Mozilla/5.0 (Linux; Android 16) Chrome/140.0 Mobile Safari/537.36', 'Chrome, Android'],
  ['Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0', 'Edge, Windows'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox, Linux'],
  ['<script>', ''],
  ['', ''],
])('%j is shown as %j', (userAgent, device) => {
  expect(describeDevice(userAgent)).toBe(device)
})
