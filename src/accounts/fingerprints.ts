/**
 * Detects a gateway or CLI command whose secrets differ from the ones its database has been used with: API keys that it creates
 * would not work on other gateways. The database keeps a fingerprint of each secret: an HMAC of a constant, keyed with the
 * secret's 32 random bytes, from which nobody can guess the secret. It is recorded when the secret's number is first seen.
 */

import type { Sql } from '../lib/database.ts'
import { keyedHash, type SecretSet } from '../lib/secrets.ts'
import type { KeySecrets } from './key-secret.ts'
import { readSecretsInUse } from './rotate.ts'

/** Numbers stored in the table `secret_fingerprint`; never reuse one. */
const PURPOSES = { KEY_PEPPERS: 1, KEY_ENCRYPTION_KEYS: 2 } as const
type Variable = keyof typeof PURPOSES

const SEE = `insert into secret_fingerprint (purpose, secret_id, fingerprint)
  values ($1::text::smallint, $2::text::smallint, decode($3, 'hex')) on conflict do nothing`
const READ = `select secret_id, encode(fingerprint, 'hex') as fingerprint from secret_fingerprint
  where purpose = $1::text::smallint`
const TRUST = `insert into secret_fingerprint as f (purpose, secret_id, fingerprint)
  values ($1::text::smallint, $2::text::smallint, decode($3, 'hex'))
  on conflict (purpose, secret_id) do update set fingerprint = excluded.fingerprint, seen_at = now()
   where f.fingerprint <> excluded.fingerprint returning secret_id`

/**
 * Returns the configured secrets that differ from the ones this database has been used with, by name and number, such as
 * `KEY_PEPPERS 1`. Records the fingerprints of secrets whose numbers are new.
 */
export async function findForeignSecrets(sql: Sql, secrets: KeySecrets): Promise<readonly string[]> {
  const foreign: string[] = []
  for (const [variable, set] of setsOf(secrets)) {
    const known = await readFingerprints(sql, variable)
    const unseen = [...set.secrets.keys()].filter(id => !known.has(id))
    // The database may have stored keys before it stored fingerprints, so try new secrets on its keys before recording them.
    const inUse = unseen.length > 0 ? (await readSecretsInUse(sql, secrets)).wrong : null
    const wrong = variable === 'KEY_PEPPERS' ? inUse?.peppers : inUse?.encryption
    for (const id of unseen) {
      if (wrong?.has(id) !== true) await sql.unsafe(SEE, rowOf(variable, set, id))
    }
    // Another process may have recorded different secrets in the meantime.
    const now = unseen.length > 0 ? await readFingerprints(sql, variable) : known
    for (const id of set.secrets.keys()) {
      if (now.get(id) !== fingerprintOf(variable, set, id)) foreign.push(`${variable} ${id}`)
    }
  }
  return foreign
}

/** Records the configured secrets as the right ones. Returns those whose fingerprint changed, such as `KEY_PEPPERS 1`. */
export async function trustSecrets(sql: Sql, secrets: KeySecrets): Promise<readonly string[]> {
  const changed: string[] = []
  for (const [variable, set] of setsOf(secrets)) {
    for (const id of set.secrets.keys()) {
      const rows = await sql.unsafe(TRUST, rowOf(variable, set, id))
      if (rows.length > 0) changed.push(`${variable} ${id}`)
    }
  }
  return changed
}

function setsOf({ peppers, encryption }: KeySecrets): readonly (readonly [Variable, SecretSet])[] {
  return [
    ['KEY_PEPPERS', peppers],
    ['KEY_ENCRYPTION_KEYS', encryption],
  ]
}

async function readFingerprints(sql: Sql, variable: Variable): Promise<ReadonlyMap<number, string>> {
  const rows = await sql.unsafe(READ, [String(PURPOSES[variable])])
  return new Map(rows.map(row => [row.secret_id, row.fingerprint]))
}

function fingerprintOf(variable: Variable, { secrets }: SecretSet, id: number): string {
  return keyedHash(secrets.get(id)!, `gateway/fingerprint/v1|${variable}|${id}`).toString('hex')
}

function rowOf(variable: Variable, set: SecretSet, id: number): [string, string, string] {
  return [String(PURPOSES[variable]), String(id), fingerprintOf(variable, set, id)]
}
