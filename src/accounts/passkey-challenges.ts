/**
 * Challenges for passkeys. Each belongs to one session and one purpose, and is used up by the first answer, right or wrong. A
 * session has at most one for each purpose; a newer one replaces it.
 */

import { randomBytes } from 'node:crypto'
import type { AnySql } from '../lib/database.ts'
import type { PeopleLimits } from './limits.ts'
import type { Session } from './types.ts'

const CHALLENGE_BYTES = 32
const PURPOSE_CODES = { register: 1, give: 2 } as const
export type ChallengePurpose = keyof typeof PURPOSE_CODES
export const CHALLENGE_PURPOSES = Object.keys(PURPOSE_CODES) as readonly ChallengePurpose[]

const MAKE = `insert into passkey_challenge (session_id, purpose, challenge, expires_at)
  values ($1::text::bigint, $2::text::smallint, decode($3, 'hex'), now() + make_interval(secs => $4::text::double precision))
  on conflict (session_id, purpose) do update set challenge = excluded.challenge, expires_at = excluded.expires_at`
const TAKE = `delete from passkey_challenge where session_id = $1::text::bigint and purpose = $2::text::smallint
  returning challenge, expires_at > now() as is_alive`
const SWEEP = 'delete from passkey_challenge where expires_at < now()'

export async function makeChallenge(
  sql: AnySql,
  { passkeyChallengeSeconds }: PeopleLimits,
  { sessionId }: Pick<Session, 'sessionId'>,
  purpose: ChallengePurpose,
): Promise<Buffer<ArrayBuffer>> {
  const challenge = Buffer.from(randomBytes(CHALLENGE_BYTES))
  const row = [String(sessionId), String(PURPOSE_CODES[purpose]), challenge.toString('hex')]
  await sql.unsafe(MAKE, [...row, String(passkeyChallengeSeconds)])
  return challenge
}

/**
 * Consumes the session's challenge. Returns it as base64url, as browsers send it back; null if there is none or it has expired.
 * Of two concurrent calls, only one gets it.
 */
export async function takeChallenge(
  sql: AnySql,
  { sessionId }: Pick<Session, 'sessionId'>,
  purpose: ChallengePurpose,
): Promise<string | null> {
  const row = (await sql.unsafe(TAKE, [String(sessionId), String(PURPOSE_CODES[purpose])]))[0]
  return row?.is_alive === true ? (row.challenge as Buffer).toString('base64url') : null
}

export async function sweepChallenges(sql: AnySql): Promise<void> {
  await sql.unsafe(SWEEP)
}
