/**
 * The outbox: each event that calls for an alert is recorded once, together with one delivery for the email and one for each
 * webhook.
 */

import type { Sql, TransactionSql } from '../lib/database.ts'
import { ALERT_KINDS, ALL_KINDS } from './kinds.ts'
import type { AlertServices } from './types.ts'

/**
 * For each kind of alert, whether it is emailed: `always`, whatever the customer has chosen; `on`, unless the customer has
 * opted out.
 */
const MAIL_DEFAULTS = JSON.stringify(
  Object.fromEntries(
    ALL_KINDS.map(kind => [kind, { always: ALERT_KINDS[kind].mail === 'always', on: ALERT_KINDS[kind].mail === 'on' }]),
  ),
)

/** SQL for an amount in µVND as decimal dong. */
export function sqlVnd(expression: string): string {
  return `trim_scale(${expression} / 1000000.0)::text`
}

/** The fields that identify a key in an alert, as arguments of `jsonb_build_object`; `k` is the key's row. */
export const SQL_KEY_FACTS = `'key_id', k.key_id, 'name', k.label, 'last4', k.last4`

/** Today in Vietnam. Not materialized, so that the planner knows which days a finder reads. */
export const SQL_TODAY = `today as not materialized (select (now() at time zone 'Asia/Ho_Chi_Minh')::date as day)`

const POSTS_PER_MAIL = 5
/** Kind of the test events that owners send to their webhooks. They do not count: nobody is emailed about them. */
export const TEST_KIND = 'webhook.test'
const EARLIER = `(select count(*) from alert earlier where earlier.account_id = recorded.account_id
             and earlier.at > now() - interval '1 day' and earlier.kind <> '${TEST_KIND}')`

/**
 * The last part of every finder's SQL. A finder is a list of common table expressions whose last one, `found`, has the columns
 * account_id, kind, reference and data. $1: MAIL_DEFAULTS; $2: number of alerts per account and day after which none are
 * emailed; after POSTS_PER_MAIL times as many, none are posted to webhooks. A finder's own parameters begin with $3. The lock
 * makes the statement wait until a concurrent deletion of the account is over, so that no alert is written for a deleted account.
 */
export const SQL_RECORD = `,
recorded as (
  insert into alert (account_id, kind, reference, data)
  select account_id, kind, reference, data from found join account using (account_id) where account.deleted_at is null for share of account
  on conflict (account_id, kind, reference) do nothing
  returning alert_id, account_id, kind),
mailed as (
  insert into alert_delivery (alert_id, account_id)
  select recorded.alert_id, recorded.account_id
    from recorded join account using (account_id) left join alert_settings using (account_id)
   cross join lateral (select $1::text::jsonb -> recorded.kind as mail) defaults
   where account.email_verified_at is not null
     and ((defaults.mail ->> 'always')::boolean
          or coalesce((alert_settings.mail ->> recorded.kind)::boolean, (defaults.mail ->> 'on')::boolean))
     and ${EARLIER} < $2::text::integer),
posted as (
  insert into alert_delivery (alert_id, account_id, webhook_id)
  select recorded.alert_id, recorded.account_id, webhook.webhook_id
    from recorded join webhook using (account_id)
   where disabled_at is null and recorded.kind = any (webhook.kinds)
     and ${EARLIER} < $2::text::integer * ${POSTS_PER_MAIL})
select count(*)::integer as alerts from recorded`
/** Sets the statement timeout: the pool's is short, because people wait for pages; searches for alerts may take longer. */
const PATIENCE = `select set_config('statement_timeout', $1, true)`

/** Runs a finder. Returns the number of new alerts. */
export async function recordAlerts(
  { sql, limits }: Pick<AlertServices, 'limits'> & { readonly sql: Sql | TransactionSql },
  statement: string,
  parameters: readonly string[] = [],
): Promise<number> {
  const record = async (transaction: TransactionSql) => {
    await transaction.unsafe(PATIENCE, [String(limits.statementTimeoutMs)])
    const values = [MAIL_DEFAULTS, String(limits.mailsPerDayMax), ...parameters]
    const [row] = await transaction.unsafe(statement, values)
    return Number(row?.alerts)
  }
  return 'begin' in sql ? sql.begin(record) : record(sql)
}
