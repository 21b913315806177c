/** What the rooms above know of people: plain data in, plain data out. */

import type { Sql } from '../lib/database.ts'
import type { Mailer } from '../lib/mail.ts'
import type { PeopleLimits } from './limits.ts'
import type { Passwords } from './passwords.ts'
import type { OperatorRole } from './roles.ts'

/** Everything that the functions for people need; made once per process. */
export interface PeopleServices {
  readonly sql: Sql
  readonly passwords: Passwords
  readonly mailer: Mailer
  /** Address of the pages, without a slash at its end. Links in mails go to `/verify` and `/reset` below it. */
  readonly publicUrl: string
  /** Name that mails are signed with. */
  readonly serviceName: string
  /** A mail that nobody waits for could not be handed over; the error holds no token. */
  readonly onMailFailed: (error: unknown) => void
  readonly limits: PeopleLimits
}

export type Language = 'vi' | 'en'

/** Who asks, as the HTTP side sees it. */
export interface Visitor {
  /** Address of the client, after trusted proxies; throttling looks at it, its /24 or /48. */
  readonly ipAddress: string
  /** The `User-Agent` header, or ''; only a short description of it is kept. */
  readonly userAgent: string
  /** Language of mails. */
  readonly language: Language
  /** What an earlier session left in the browser, `OpenedSession.device`; null or absent: nothing. */
  readonly device?: string | null
}

export interface Session {
  /** Names the session in lists and for signing out elsewhere; no secret. */
  readonly sessionId: number
  readonly accountId: number
  readonly email: string
  /** Null: no operator. */
  readonly role: OperatorRole | null
  readonly emailVerifiedAt: Date | null
  readonly createdAt: Date
  readonly seenAt: Date
  /** When the password was last typed in this session; see isPasswordFresh. */
  readonly passwordCheckedAt: Date
  /** The account has an authenticator. */
  readonly hasSecondFactor: boolean
  /** When it was last asked for and given in this session; null: never. */
  readonly secondFactorAt: Date | null
  /** Such as `Chrome, Windows`. */
  readonly device: string
}

/** A new session: `token` goes in the cookie and is nowhere else. */
export interface OpenedSession {
  readonly token: string
  readonly session: Session
  /** For the cookie's Max-Age. */
  readonly maxAgeSeconds: number
  /** For a cookie that outlives the session: it opens nothing, but strangers' wrong guesses do not count against it. */
  readonly device: string
  readonly deviceSeconds: number
}

/** Too many attempts from this network or on this account. */
export interface Throttled {
  readonly outcome: 'throttled'
  readonly retryAfterSeconds: number
}

export type PasswordFault = 'too_short' | 'too_long' | 'too_common'

/** Input that cannot be used; the pages have the words for it. */
export interface Invalid {
  readonly outcome: 'invalid'
  readonly email?: 'malformed'
  readonly password?: PasswordFault
}
