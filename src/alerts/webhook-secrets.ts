/** Signing secrets of webhooks: the current one and, until they expire, its predecessors. Stored encrypted, like API keys. */

import { createHmac, randomBytes } from 'node:crypto'
import type { AnySql } from '../lib/database.ts'
import { open, type SecretSet, seal } from '../lib/secrets.ts'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32

const INSERT = `insert into webhook_secret (webhook_id, account_id, encryption_id, encryption_iv, ciphertext)
  values ($1::text::bigint, $2::text::bigint, $3::text::smallint, decode($4, 'hex'), decode($5, 'hex'))`
const EXPIRE = `update webhook_secret set expires_at = least(expires_at, now() + make_interval(secs => $3::text::integer))
  where webhook_id = $1::text::bigint and account_id = $2::text::bigint`
/** Lists the current secret first. */
const LIST = `select encryption_id, encryption_iv, ciphertext from webhook_secret
  where webhook_id = $1::text::bigint and account_id = $2::text::bigint and (expires_at is null or expires_at > now())
  order by created_at desc limit 5`
const FORGET = 'delete from webhook_secret where expires_at < now()'

export interface WebhookRow {
  readonly webhookId: number
  readonly accountId: number
}

/**
 * Creates a secret in the format of standardwebhooks.com: `whsec_` and base64. Webhooks are also signed with the earlier
 * secrets for another `overlapSeconds`.
 */
export async function addWebhookSecret(
  sql: AnySql,
  encryption: SecretSet,
  row: WebhookRow,
  overlapSeconds: number,
): Promise<string> {
  const secret = `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`
  const ids = [String(row.webhookId), String(row.accountId)]
  await sql.unsafe(EXPIRE, [...ids, String(overlapSeconds)])
  const sealed = seal(encryption, secret, encryptionId => boundTo(row, encryptionId))
  const copy = [String(sealed.keyId), sealed.iv.toString('hex'), sealed.ciphertext.toString('hex')]
  await sql.unsafe(INSERT, [...ids, ...copy])
  return secret
}

/** Returns the active secrets. Throws an Error if one cannot be decrypted. */
export async function readWebhookSecrets(
  sql: AnySql,
  encryption: SecretSet,
  row: WebhookRow,
): Promise<readonly string[]> {
  const rows = await sql.unsafe(LIST, [String(row.webhookId), String(row.accountId)])
  return rows.map(found => {
    const sealed = { keyId: found.encryption_id, iv: found.encryption_iv, ciphertext: found.ciphertext }
    return open(encryption, sealed, encryptionId => boundTo(row, encryptionId))
  })
}

const NEXT = `select webhook_id, account_id, encryption_id, encryption_iv, ciphertext from webhook_secret
  where (webhook_id, encryption_iv) > ($1::text::bigint, decode($2, 'hex')) and encryption_id <> $3::text::smallint
  order by webhook_id, encryption_iv limit 1`
const RESEAL = `update webhook_secret set encryption_id = $3::text::smallint, encryption_iv = decode($4, 'hex'),
    ciphertext = decode($5, 'hex') where webhook_id = $1::text::bigint and encryption_iv = decode($2, 'hex')`
const IN_USE = 'select encryption_id, count(*)::integer as secrets from webhook_secret group by 1'

/**
 * Encrypts every secret again with the current encryption key, as rotateKeys does for API keys. Returns the ids of webhooks
 * with a secret that could not be decrypted.
 */
export async function rotateWebhookSecrets(sql: AnySql, encryption: SecretSet): Promise<readonly number[]> {
  const unreadable = new Set<number>()
  for (let [after, iv] = [0, '']; ; ) {
    const row = (await sql.unsafe(NEXT, [String(after), iv, String(encryption.currentId)]))[0]
    if (row === undefined) return [...unreadable]
    after = Number(row.webhook_id)
    iv = row.encryption_iv.toString('hex')
    const bind = (id: number) => boundTo({ webhookId: after, accountId: Number(row.account_id) }, id)
    const sealed = { keyId: row.encryption_id, iv: row.encryption_iv, ciphertext: row.ciphertext }
    try {
      const next = seal(encryption, open(encryption, sealed, bind), bind)
      const copy = [String(next.keyId), next.iv.toString('hex'), next.ciphertext.toString('hex')]
      await sql.unsafe(RESEAL, [String(after), iv, ...copy])
    } catch {
      unreadable.add(after)
    }
  }
}

/** Counts secrets by the id of their encryption key. */
export async function countSealedWebhookSecrets(sql: AnySql): Promise<ReadonlyMap<number, number>> {
  return new Map((await sql.unsafe(IN_USE)).map(row => [row.encryption_id, row.secrets]))
}

export async function sweepWebhookSecrets(sql: AnySql): Promise<void> {
  await sql.unsafe(FORGET)
}

/** Returns the header `webhook-signature`: one signature per secret, so that receivers can verify with the old or new one. */
export function signWebhook(
  secrets: readonly string[],
  { id, timestamp, body }: { readonly id: string; readonly timestamp: string; readonly body: string },
): string {
  const signatures = secrets.map(secret => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`, 'utf8').digest('base64')}`
  })
  return signatures.join(' ')
}

function boundTo({ accountId, webhookId }: WebhookRow, encryptionId: number): string {
  return `gateway/webhook/v1|${accountId}|${webhookId}|${encryptionId}`
}
