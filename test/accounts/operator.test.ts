import { afterAll, describe, expect, test } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import {
  blockAccount,
  type FoundAccounts,
  listOperators,
  readAccountSummary,
  searchAccounts,
  setRole,
} from '../../src/accounts/operator.ts'
import { COMMAND_LINE, listActions, recordAction } from '../../src/accounts/operator-log.ts'
import type { OperatorRole } from '../../src/accounts/roles.ts'
import type { SearchPlace } from '../../src/lib/search.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

describe('searching', () => {
  const found = async (text: string) => (await searchAccounts(sql, { text })).accounts.map(({ email }) => email)

  test('finds accounts by any part of the email address in any case, or by number', async () => {
    const { accountId } = await createAccount(sql, 'Anna.Nguyen@example.com')
    await createAccount(sql, 'binh@example.com')
    expect(await found('NGUYEN')).toEqual(['Anna.Nguyen@example.com'])
    expect(await found(String(accountId))).toEqual(['Anna.Nguyen@example.com'])
    expect(await found('nobody')).toEqual([])
    expect((await found('')).length).toBe(2)
  })

  test.each([
    ['%', '100%real@example.com'],
    ['_', 'under_score@example.com'],
    ['\\', 'back\\slash@example.com'],
  ])('%j is a character, not a wildcard', async (character, email) => {
    await createAccount(sql, email)
    expect(await found(character)).toEqual([email])
    expect(await found(`${character.repeat(200)}x`)).toEqual([])
  })

  test.each([
    ['a quote', `' or 1=1 --`],
    ['NUL', 'zz\0zz'],
    ['half a character', '\ud800'],
    ['a long text', 'x'.repeat(10_000)],
  ])('%s finds nothing and breaks nothing', async (_, text) => {
    expect(await found(text)).toEqual([])
  })

  test('shows the newest accounts first, and continues where a page ended', async () => {
    const { accounts: all } = await searchAccounts(sql, { text: 'example.com' })
    const numbers = all.map(({ accountId }) => accountId)
    expect(numbers).toEqual(numbers.toSorted((one, other) => other - one))
    const first = await searchAccounts(sql, { text: 'example.com', limit: 2 })
    const rest = await searchAccounts(sql, { text: 'example.com', place: first.next! })
    expect([...first.accounts, ...rest.accounts]).toEqual(all)
  })

  test('compares a bounded number of addresses for a page, but finds a number or the beginning of an address anywhere', async () => {
    const { accountId } = await createAccount(sql, 'veteran@first.example')
    for (const name of 'abcdefg') await createAccount(sql, `later-${name}@bounded.example`)
    const search = (text: string, place?: SearchPlace) => searchAccounts(sql, { text, place, comparedMax: 3 })
    for (const text of ['veteran@first.example', 'VETERAN', String(accountId)]) {
      expect((await search(text)).accounts.map(each => each.accountId)).toEqual([accountId])
    }
    const pages: FoundAccounts[] = [await search('@first')]
    while (pages.at(-1)?.next && pages.length < 50) pages.push(await search('@first', pages.at(-1)!.next!))
    expect(pages[0]).toMatchObject({ accounts: [], comparedTo: expect.any(Date) })
    expect(pages.at(-1)).toMatchObject({ next: null, comparedTo: null })
    expect(pages.flatMap(({ accounts }) => accounts).map(each => each.accountId)).toEqual([accountId])
    const again = await search('veteran', (await search('veteran')).next!)
    expect(again.accounts).toEqual([])
  })

  test('an account is summed up with its money and its keys', async () => {
    const { accountId, email } = await createAccount(sql, 'summary@example.com')
    expect(await readAccountSummary(sql, accountId)).toEqual({
      accountId,
      email,
      createdAt: expect.any(Date),
      emailVerifiedAt: null,
      blockedAt: null,
      deletedAt: null,
      role: null,
      balanceMicroVnd: 0n,
      heldMicroVnd: 0n,
      activeKeys: 0,
      cost30DaysMicroVnd: 0n,
      lastUsedDay: null,
    })
    expect(await readAccountSummary(sql, 1_000_000)).toBeNull()
  })
})

describe('the log', () => {
  test('keeps who did what to whom and why, newest first', async () => {
    const { accountId } = await createAccount(sql, 'operator@example.com')
    expect(await setRole(sql, { accountId, role: 'owner', by: COMMAND_LINE })).toBe(true)
    expect(await setRole(sql, { accountId, role: 'owner', by: COMMAND_LINE })).toBe(false)
    const by = { accountId, name: 'operator@example.com' }
    await recordAction(sql, {
      by,
      action: 'balance.adjust',
      accountId: 1,
      subject: '50000',
      reason: 'lỗi\0 của chúng tôi',
    })
    expect(await listActions(sql, { limit: 2 })).toEqual([
      {
        actionId: expect.any(Number),
        at: expect.any(Date),
        by,
        action: 'balance.adjust',
        accountId: 1,
        email: 'Anna.Nguyen@example.com',
        subject: '50000',
        reason: 'lỗi của chúng tôi',
      },
      expect.objectContaining({ by: COMMAND_LINE, action: 'operator.on', accountId }),
    ])
    expect(await listActions(sql, { accountId })).toMatchObject([{ action: 'operator.on' }])
    const [latest] = await listActions(sql, { limit: 1 })
    expect(await listActions(sql, { beforeId: latest!.actionId, limit: 1 })).toMatchObject([{ action: 'operator.on' }])
  })

  test.each([`update operator_action set reason = ''`, 'delete from operator_action', 'truncate operator_action'])(
    'refuses: %s',
    async statement => {
      await expect(sql.unsafe(statement)).rejects.toThrow('append-only')
    },
  )
})

describe('two operators act on each other', () => {
  let operators = 0
  const operator = async (role: OperatorRole) => {
    const { accountId, email } = await createAccount(sql, `${role}-${++operators}@example.com`)
    await setRole(sql, { accountId, role, by: COMMAND_LINE })
    return { accountId, by: { accountId, name: email }, reason: 'test' }
  }
  const roleOf = async (accountId: number) =>
    (await listOperators(sql)).find(each => each.accountId === accountId)?.role ?? null

  test.each([
    ['take each other’s role', setRole],
    ['block each other', blockAccount],
  ])('owners who %s at once: one stays', async (_, act) => {
    for (let round = 0; round < 5; round++) {
      const [one, other] = [await operator('owner'), await operator('owner')]
      const answers = await Promise.all([
        act(sql, { accountId: other.accountId, role: null, by: one.by, reason: 'test' }),
        act(sql, { accountId: one.accountId, role: null, by: other.by, reason: 'test' }),
      ])
      expect(answers.toSorted()).toEqual([false, true])
    }
  })

  test('who has lost the role meanwhile gives it to nobody, and blocks nobody', async () => {
    const [former, other] = [await operator('owner'), await operator('support')]
    await setRole(sql, { accountId: former.accountId, role: 'finance', by: COMMAND_LINE })
    const { accountId } = other
    expect(await setRole(sql, { accountId, role: 'owner', by: former.by })).toBe(false)
    expect(await roleOf(accountId)).toBe('support')
    expect(await blockAccount(sql, { accountId, by: former.by, reason: 'test' })).toBe(false)
  })

  test('support cannot block a customer who has become an operator meanwhile', async () => {
    const [support, other] = [await operator('support'), await operator('finance')]
    expect(await blockAccount(sql, { ...other, by: support.by })).toBe(false)
    await setRole(sql, { accountId: other.accountId, role: null, by: COMMAND_LINE })
    expect(await blockAccount(sql, { ...other, by: support.by })).toBe(true)
  })
})
