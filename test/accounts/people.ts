/** Helpers for the tests in this folder: people with mailboxes and browsers. */

import type { PeopleLimits } from '../../src/accounts/limits.ts'
import { createPasswords, type Passwords } from '../../src/accounts/passwords.ts'
import { finishRegistration, register } from '../../src/accounts/register.ts'
import { createPeople } from '../../src/accounts/services.ts'
import type { OpenedSession, PeopleServices, Visitor } from '../../src/accounts/types.ts'
import type { Sql } from '../../src/lib/database.ts'
import type { MailMessage } from '../../src/lib/mail.ts'

export const PASSWORD = 'mưa rơi trên mái tôn'

export interface TestPeople extends PeopleServices {
  readonly mails: MailMessage[]
  readonly failures: unknown[]
}

export function testPeople(
  sql: Sql,
  limits: Partial<PeopleLimits> = {},
  passwords?: Omit<Passwords, 'queue'>,
): TestPeople {
  const mails: MailMessage[] = []
  const failures: unknown[] = []
  const people = createPeople({
    sql,
    mailer: {
      send: async message => void mails.push(message),
      close: () => {},
    },
    publicUrl: 'https://gateway.test',
    serviceName: 'SVC',
    onMailFailed: error => failures.push(error),
    limits,
    passwords: { ...createPasswords(), ...passwords },
  })
  return { ...people, mails, failures }
}

let visitors = 0

/** A visitor whose IP address is in a network of its own, unless `change` sets another address. */
export function visitor(change: Partial<Visitor> = {}): Visitor {
  visitors++
  const ipAddress = `10.${(visitors >> 8) & 255}.${visitors & 255}.7`
  const userAgent =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36'
  return { ipAddress, userAgent, language: 'vi', ...change }
}

/** The token in the last email sent to this address. */
export function linkToken(people: TestPeople, email: string): string {
  const mail = people.mails.findLast(candidate => candidate.to.toLowerCase() === email.toLowerCase())
  const token = /\?token=([A-Za-z0-9_-]{43})\s/.exec(mail?.text ?? '')?.[1]
  if (token === undefined) throw new Error(`no link was sent to ${email}`)
  return token
}

let addresses = 0

export function newAddress(): string {
  return `person${++addresses}@example.com`
}

/** Registers, verifies and signs in a new person, and returns the session. */
export async function newcomer(people: TestPeople, email = newAddress()): Promise<OpenedSession> {
  await register(people, visitor(), { email, password: PASSWORD })
  const done = await finishRegistration(people, visitor(), { token: linkToken(people, email), password: PASSWORD })
  if (done.outcome !== 'verified') throw new Error(`registration ended with ${done.outcome}`)
  return done.opened
}
