/** Types that the account functions share with their callers: plain data in, plain data out. */

import type { Sql } from '../lib/database.ts'
import type { Mailer } from '../lib/mail.ts'
import type { IdentityProviders } from './identity-providers/types.ts'
import type { PeopleLimits } from './limits.ts'
import type { Passwords } from './passwords.ts'
import type { OperatorRole } from './roles.ts'

/** Everything that the account functions need; created once per process. */
export interface PeopleServices {
  readonly sql: Sql
  readonly passwords: Passwords
  readonly mailer: Mailer
  /** Base URL of our pages, without a trailing slash. Links in emails go to `/verify` and `/reset` below it. */
  readonly publicUrl: string
  /** Name that emails are signed with. */
  readonly serviceName: string
  /** Called when an email sent in the background has failed; the error contains no token. */
  readonly onMailFailed: (error: unknown) => void
  /** The configured providers that people can sign in with. */
  readonly providers: IdentityProviders
  readonly limits: PeopleLimits
}

export type Language = 'vi' | 'en'

/** The person behind a request. */
export interface Visitor {
  /** The client's address, as reported by trusted proxies; throttling uses it and its /24 or /48. */
  readonly ipAddress: string
  /** The `User-Agent` header, or ''; only a short description of it is stored. */
  readonly userAgent: string
  /** Language of emails to this person. */
  readonly language: Language
  /** Cookie left in the browser by an earlier session, see `OpenedSession.device`; null or absent: none. */
  readonly device?: string | null
}

export interface Session {
  /** Identifies the session in lists and for signing out elsewhere; not secret. */
  readonly sessionId: number
  readonly accountId: number
  readonly email: string
  /** Null: not an operator. */
  readonly role: OperatorRole | null
  readonly emailVerifiedAt: Date | null
  readonly createdAt: Date
  readonly seenAt: Date
  /** When the account's owner last signed in or typed the password in this session; see isPasswordFresh. */
  readonly passwordCheckedAt: Date
  readonly hasPassword: boolean
  readonly hasAuthenticator: boolean
  readonly hasPasskeys: boolean
  /** True if the account has an authenticator or a passkey. */
  readonly hasSecondFactor: boolean
  /** When the second factor was last passed in this session; null: never. */
  readonly secondFactorAt: Date | null
  /** Such as `Chrome, Windows`. */
  readonly device: string
}

/** A new session. `token` goes into the cookie and nowhere else. */
export interface OpenedSession {
  readonly token: string
  readonly session: Session
  /** For the cookie's Max-Age. */
  readonly maxAgeSeconds: number
  /**
   * Value of a cookie that outlives the session and marks the device as known. It grants no access, but exempts the device from
   * the throttling that strangers' failed sign-ins cause.
   */
  readonly device: string
  readonly deviceSeconds: number
}

/** Too many attempts from this network or on this account. */
export interface Throttled {
  readonly outcome: 'throttled'
  readonly retryAfterSeconds: number
}

export type PasswordFault = 'too_short' | 'too_long' | 'too_common'

/** Which input is invalid; the pages turn this into a message. */
export interface Invalid {
  readonly outcome: 'invalid'
  readonly email?: 'malformed'
  readonly password?: PasswordFault
}
