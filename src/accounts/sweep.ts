/** Deletes expired rows from the account and sign-in tables. */

import { runAll } from '../lib/run-all.ts'
import { sweepMails } from './mail-log.ts'
import { sweepChallenges } from './passkey-challenges.ts'
import { sweepReplacedSecrets } from './replace-secret.ts'
import { sweepNewDevices } from './sessions.ts'
import { sweepAttempts } from './sign-in-attempts.ts'
import { sweepThrottle } from './throttle.ts'
import type { PeopleServices } from './types.ts'

const TOKENS = 'delete from email_token where expires_at < now()'
const SESSIONS = `delete from session where seen_at < now() - make_interval(secs => $1::text::integer)
  or created_at < now() - make_interval(secs => $2::text::integer)`

/** May run at any time: expired rows have no effect even while they exist. */
export async function sweepPeople({ sql, limits }: PeopleServices): Promise<void> {
  await runAll([
    () => sql.unsafe(TOKENS),
    () => sql.unsafe(SESSIONS, [String(limits.sessionIdleSeconds), String(limits.sessionSeconds)]),
    () => sweepNewDevices(sql),
    () => sweepAttempts(sql),
    () => sweepChallenges(sql),
    () => sweepMails(sql, limits.mailsSeconds),
    () => sweepThrottle(sql, limits),
    () => sweepReplacedSecrets(sql),
  ])
}
