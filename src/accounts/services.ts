/** Creates the services for accounts, once per process. */

import type { Sql } from '../lib/database.ts'
import type { Mailer } from '../lib/mail.ts'
import type { IdentityProviders } from './identity-providers/types.ts'
import { PEOPLE_LIMITS, type PeopleLimits } from './limits.ts'
import { createPasswords, type Passwords } from './passwords.ts'
import type { PeopleServices } from './types.ts'

export interface PeopleOptions {
  readonly sql: Sql
  readonly mailer: Mailer
  /** Base URL of our pages, without a trailing slash. */
  readonly publicUrl: string
  readonly serviceName: string
  /** Called with the error of each email that could not be sent. */
  readonly onMailFailed: (error: unknown) => void
  readonly limits?: Partial<PeopleLimits>
  readonly passwords?: Passwords
  readonly providers?: IdentityProviders
}

export function createPeople(options: PeopleOptions): PeopleServices {
  const { limits, passwords = createPasswords(), providers = new Map(), ...rest } = options
  return { ...rest, passwords, providers, limits: { ...PEOPLE_LIMITS, ...limits } }
}
