/** Customers' webhooks: creates, changes and disables them, and lists their latest deliveries without the content. */

import type { AnySql, Sql } from '../lib/database.ts'
import { textArray } from '../lib/database.ts'
import { type AlertKind, isAlertKind } from './kinds.ts'
import type { AlertServices } from './types.ts'
import { addWebhookSecret, type WebhookRow } from './webhook-secrets.ts'

export interface Webhook extends WebhookRow {
  readonly url: string
  readonly kinds: readonly AlertKind[]
  readonly createdAt: Date
  /** When it last accepted a delivery; null: never. */
  readonly deliveredAt: Date | null
  readonly disabledAt: Date | null
  readonly disabledFor: 'owner' | 'failures' | 'gone' | null
}

const COLUMNS = 'webhook_id, account_id, url, kinds, created_at, delivered_at, disabled_at, disabled_for'
const BY_OWNER = 'webhook_id = $1::text::bigint and account_id = $2::text::bigint'
const LIST = `select ${COLUMNS} from webhook where account_id = $1::text::bigint order by webhook_id limit 100`
const READ = `select ${COLUMNS} from webhook where ${BY_OWNER}`
/** Lets only one webhook be created at a time per account, so that the limit holds. */
const LOCK = `select pg_advisory_xact_lock(hashtextextended('webhook|' || $1, 0))`
const INSERT = `insert into webhook (account_id, url, kinds) values ($1::text::bigint, $2, $3::text::text[]) returning ${COLUMNS}`
const SET_KINDS = `update webhook set kinds = $3::text::text[] where ${BY_OWNER} returning webhook_id`
const ENABLE = `update webhook set disabled_at = null, disabled_for = null where ${BY_OWNER} returning webhook_id`
/**
 * Disables a webhook and cancels its waiting deliveries, which would otherwise arrive late and all at once if it were enabled
 * again.
 */
const DISABLE = `
with changed as (
  update webhook set disabled_at = now(), disabled_for = $3 where ${BY_OWNER} and disabled_at is null
  returning webhook_id, account_id, url),
called_off as (
  update alert_delivery set state = 3 from changed where alert_delivery.webhook_id = changed.webhook_id and state = 0)
select webhook_id, account_id, url from changed`
const FORGET_DELIVERIES = `delete from alert_delivery where webhook_id in (select webhook_id from webhook where ${BY_OWNER})`
const FORGET_SECRETS = `delete from webhook_secret where ${BY_OWNER}`
const DELETE = `delete from webhook where ${BY_OWNER} returning webhook_id`
const DELIVERIES = `select d.delivery_id, a.kind, a.at, d.state, d.tries, d.tried_at, d.next_at, d.status, d.fault
  from alert_delivery d join alert a using (alert_id)
 where d.webhook_id = $1::text::bigint and d.account_id = $2::text::bigint order by d.delivery_id desc limit $3::text::integer`

export type CreatedWebhook =
  | { readonly outcome: 'created'; readonly webhook: Webhook; readonly secret: string }
  | { readonly outcome: 'url' | 'address' | 'limit' | 'exists' }

/**
 * Creates a webhook and returns its secret, which cannot be shown again. Outcome `url`: the URL is malformed, is not https on
 * an allowed port, or contains credentials. Outcome `address`: its host is an IP address that webhooks must not reach, such as
 * a private one.
 */
export async function createWebhook(
  { sql, limits, secrets, webhookClient }: AlertServices,
  { accountId, url, kinds }: { accountId: number; url: string; kinds: readonly AlertKind[] },
): Promise<CreatedWebhook> {
  const fault = webhookClient.check(url)
  if (fault !== null) return { outcome: fault }
  return sql.begin(async (transaction): Promise<CreatedWebhook> => {
    await transaction.unsafe(LOCK, [String(accountId)])
    const others = await listWebhooks(transaction, accountId)
    if (others.some(other => other.url === url)) return { outcome: 'exists' }
    if (others.length >= limits.webhooksMax) return { outcome: 'limit' }
    const rows = await transaction.unsafe(INSERT, [String(accountId), url, textArray(kinds)])
    const webhook = toWebhook(rows[0])
    const secret = await addWebhookSecret(transaction, secrets.encryption, webhook, 0)
    return { outcome: 'created', webhook, secret }
  })
}

/** Oldest first. */
export async function listWebhooks(sql: AnySql, accountId: number): Promise<readonly Webhook[]> {
  return (await sql.unsafe(LIST, [String(accountId)])).map(toWebhook)
}

/** Null if the account has no such webhook. */
export async function readWebhook(sql: AnySql, row: WebhookRow): Promise<Webhook | null> {
  const found = (await sql.unsafe(READ, idsOf(row)))[0]
  return found === undefined ? null : toWebhook(found)
}

/** Sets the kinds of alerts that the webhook gets, from the next alert on. False if the account has no such webhook. */
export async function setWebhookKinds(sql: AnySql, row: WebhookRow, kinds: readonly AlertKind[]): Promise<boolean> {
  return (await sql.unsafe(SET_KINDS, [...idsOf(row), textArray(kinds)])).length > 0
}

export async function enableWebhook(sql: AnySql, row: WebhookRow): Promise<boolean> {
  return (await sql.unsafe(ENABLE, idsOf(row))).length > 0
}

/** Disables the webhook. False if it was disabled already. */
export async function disableWebhook(
  sql: AnySql,
  row: WebhookRow,
  reason: NonNullable<Webhook['disabledFor']>,
): Promise<boolean> {
  return (await sql.unsafe(DISABLE, [...idsOf(row), reason])).length > 0
}

/** Adds a new secret. For `webhookOverlapSeconds`, deliveries are signed with the old one as well. */
export async function rotateWebhookSecret(
  { sql, secrets, limits }: Pick<AlertServices, 'secrets' | 'limits'> & { readonly sql: Sql },
  row: WebhookRow,
): Promise<string> {
  return sql.begin(transaction => addWebhookSecret(transaction, secrets.encryption, row, limits.webhookOverlapSeconds))
}

export async function deleteWebhook({ sql }: { readonly sql: Sql }, row: WebhookRow): Promise<void> {
  await sql.begin(async transaction => {
    await transaction.unsafe(FORGET_DELIVERIES, idsOf(row))
    await transaction.unsafe(FORGET_SECRETS, idsOf(row))
    await transaction.unsafe(DELETE, idsOf(row))
  })
}

export interface LoggedDelivery {
  /** An alert's kind, or `webhook.test`. */
  readonly kind: string
  readonly at: Date
  readonly state: 'waiting' | 'delivered' | 'given_up' | 'called_off'
  readonly tries: number
  readonly triedAt: Date | null
  readonly nextAt: Date
  readonly status: number | null
  readonly fault: string | null
}

const STATES = ['waiting', 'delivered', 'given_up', 'called_off'] as const

/** Newest first. */
export async function listDeliveries(sql: AnySql, row: WebhookRow, limit: number): Promise<readonly LoggedDelivery[]> {
  const rows = await sql.unsafe(DELIVERIES, [...idsOf(row), String(limit)])
  return rows.map(({ kind, at, state, tries, tried_at, next_at, status, fault }) => ({
    kind,
    at,
    state: STATES[state as number] as LoggedDelivery['state'],
    tries,
    triedAt: tried_at,
    nextAt: next_at,
    status,
    fault,
  }))
}

function idsOf({ webhookId, accountId }: WebhookRow): string[] {
  return [String(webhookId), String(accountId)]
}

function toWebhook(row: unknown): Webhook {
  const from = row as Readonly<Record<string, unknown>>
  return {
    webhookId: Number(from.webhook_id),
    accountId: Number(from.account_id),
    url: from.url as string,
    kinds: readKinds(from.kinds),
    createdAt: from.created_at as Date,
    deliveredAt: from.delivered_at as Date | null,
    disabledAt: from.disabled_at as Date | null,
    disabledFor: from.disabled_for as Webhook['disabledFor'],
  }
}

/** Reads `{a,b}`: our database connections do not parse arrays. */
function readKinds(array: unknown): AlertKind[] {
  return String(array).replace(/[{}"]/g, '').split(',').filter(isAlertKind)
}
