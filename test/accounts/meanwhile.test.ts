/** Attempts that are under way while the account's owner takes away what they rest on. */

import { afterAll, describe, expect, test } from 'vitest'
import { finishEmailChange, readEmailChange, requestEmailChange } from '../../src/accounts/change-email.ts'
import { addIdentity, listIdentities, removeIdentities } from '../../src/accounts/identities.ts'
import { linkByPassword, linkToSession, signInWithProvider } from '../../src/accounts/provider-sign-in.ts'
import { changePassword } from '../../src/accounts/reset.ts'
import { endAllSessions, listSessions } from '../../src/accounts/sessions.ts'
import { signIn } from '../../src/accounts/sign-in.ts'
import { waitForOwner } from '../../src/accounts/sign-in-attempts.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { linkToken, newAddress, newcomer, PASSWORD, testPeople, visitor } from './people.ts'

const database = await createTestDatabase()
const { sql } = database
const people = testPeople(sql)
afterAll(() => database.drop())

const NEW = 'a new password'

/** The same people, for an attempt whose password is being checked while `happen` does. */
function whileChecking(happen: () => Promise<unknown>): typeof people {
  const verify: typeof people.passwords.verify = async (phc, password) => {
    const isRight = await people.passwords.verify(phc, password)
    await happen()
    return isRight
  }
  return { ...people, passwords: { ...people.passwords, verify } }
}

async function newPassword(email: string): Promise<void> {
  const signedIn = await signIn(people, visitor(), { email, password: PASSWORD })
  if (signedIn.outcome !== 'signed_in') throw new Error(signedIn.outcome)
  const given = { current: PASSWORD, next: NEW }
  const { outcome } = await changePassword(people, visitor(), signedIn.opened.session, given)
  if (outcome !== 'changed') throw new Error(outcome)
}

describe('while the owner sets a new password, somebody with the old one', () => {
  test('is not signed in', async () => {
    const { session } = await newcomer(people)
    const { email, accountId } = session
    const late = await signIn(
      whileChecking(() => newPassword(email)),
      visitor(),
      { email, password: PASSWORD },
    )
    expect(late).toEqual({ outcome: 'refused' })
    expect(await listSessions(people, accountId)).toHaveLength(1)
  })

  test('does not change it once more', async () => {
    const { session } = await newcomer(people)
    const { email } = session
    const late = await changePassword(
      whileChecking(() => newPassword(email)),
      visitor(),
      session,
      { current: PASSWORD, next: 'the password of a thief' },
    )
    expect(late).toEqual({ outcome: 'refused' })
    expect((await signIn(people, visitor(), { email, password: NEW })).outcome).toBe('signed_in')
  })

  test('links no provider', async () => {
    const { session } = await newcomer(people)
    const { email, accountId } = session
    const identity = { provider: 'github', subject: 'thief', email, isAuthoritative: false } as const
    const attempt = await waitForOwner(sql, people.limits, { identity, next: '/overview' })
    const late = await linkByPassword(
      whileChecking(() => newPassword(email)),
      visitor(),
      { attempt, password: PASSWORD },
    )
    expect(late).toEqual({ outcome: 'expired' })
    expect(await listIdentities(sql, accountId)).toEqual([])
    expect(await listSessions(people, accountId)).toHaveLength(1)
  })
})

describe('while the provider answers', () => {
  test('a session ends: nothing is linked to its account', async () => {
    const { session } = await newcomer(people)
    await endAllSessions(sql, session.accountId)
    const identity = { provider: 'github', subject: 'late', email: null, isAuthoritative: false } as const
    expect(await linkToSession(people, visitor(), { session, identity })).toEqual({ outcome: 'ended' })
    expect(await listIdentities(sql, session.accountId)).toEqual([])
  })

  test('the identity is removed from its account: it signs nobody in', async () => {
    const { session } = await newcomer(people)
    const { accountId, email } = session
    const identity = { provider: 'github', subject: 'removed', email, isAuthoritative: false } as const
    await addIdentity(sql, accountId, identity)
    await endAllSessions(sql, accountId)
    const interrupted = new Proxy(sql, {
      get(target, name) {
        const own = Reflect.get(target, name)
        if (name !== 'begin') return own
        return async (...given: unknown[]) => {
          await removeIdentities(target, accountId)
          return Reflect.apply(own, target, given)
        }
      },
    })
    const late = await signInWithProvider({ ...people, sql: interrupted }, visitor(), { identity, next: '/overview' })
    expect(late.outcome).toBe('waiting')
    expect(await listSessions(people, accountId)).toEqual([])
  })
})

describe('links that wait in mailboxes for a change of address', () => {
  const request = async (session: Parameters<typeof requestEmailChange>[2]) => {
    const email = newAddress()
    expect(await requestEmailChange(people, visitor(), session, { email })).toEqual({ outcome: 'accepted' })
    return linkToken(people, email)
  }

  test('end with a new password', async () => {
    const { session } = await newcomer(people)
    const token = await request(session)
    expect(await readEmailChange(people, session, token)).not.toBeNull()
    await newPassword(session.email)
    expect(await readEmailChange(people, session, token)).toBeNull()
  })

  test('end when another one is opened, whatever address they are for', async () => {
    const { session } = await newcomer(people)
    const [first, second] = [await request(session), await request(session)]
    expect(await finishEmailChange(people, visitor(), session, second)).toEqual({ outcome: 'changed' })
    expect(await readEmailChange(people, session, first)).toBeNull()
  })
})
