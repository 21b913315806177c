import { afterAll, expect, test } from 'vitest'
import { signInWithProvider } from '../../src/accounts/provider-sign-in.ts'
import type { PeopleServices } from '../../src/accounts/types.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { newAddress, testPeople, visitor } from './people.ts'

const database = await createTestDatabase()
const { sql } = database
const people = testPeople(sql)
afterAll(() => database.drop())

/** Returns services that call `happen` immediately before the `before`-th statement. A transaction counts as one statement. */
function interrupted(before: number, happen: () => Promise<unknown>): PeopleServices {
  let statements = 0
  return {
    ...people,
    sql: new Proxy(sql, {
      get(target, name) {
        const own = Reflect.get(target, name)
        if (typeof own !== 'function' || (name !== 'unsafe' && name !== 'begin')) return own
        return async (...given: unknown[]) => {
          if (++statements === before) await happen()
          return Reflect.apply(own, target, given)
        }
      },
    }),
  }
}

test.each([
  ...[1, 2, 3, 4, 5].map(before => [before, 'a new'] as const),
  ...[1, 2, 3].map(before => [before, 'an invited'] as const),
])(
  'a sign-in that interrupts another before its statement %i shares its account: %s customer',
  async (before, kind) => {
    const email = newAddress()
    const identity = { provider: 'google', subject: email, email, isAuthoritative: true } as const
    // Nobody has verified the address of an account that an operator created.
    if (kind === 'an invited') await sql`insert into account (email) values (${email})`
    const outcomes: string[] = []
    const once = async (services: PeopleServices) => {
      outcomes.push((await signInWithProvider(services, visitor(), { identity, next: '/keys' })).outcome)
    }
    await once(interrupted(before, () => once(people)))
    expect(outcomes).toEqual(['signed_in', 'signed_in'])
  },
)
