/** Reports for the operators' home page: open holds, new money and accounts, customers whose calls fail, and empty wallets. */

import type { AnySql } from '../../lib/database.ts'
import { type MicroVnd, microVnd } from '../../lib/money.ts'
import { dayOf } from './days.ts'

export interface OpenHolds {
  readonly holds: number
  readonly amountMicroVnd: MicroVnd
}

const HOLDS = 'select count(*)::integer as holds, coalesce(sum(amount_micro_vnd), 0)::text as amount from hold'

export async function readOpenHolds(sql: AnySql): Promise<OpenHolds> {
  const [row] = await sql.unsafe(HOLDS)
  return { holds: row?.holds, amountMicroVnd: microVnd(BigInt(row?.amount)) }
}

export interface TroubledAccount {
  readonly accountId: number
  readonly email: string
  /** Number of calls today, including failed ones. */
  readonly calls: number
  readonly errors: number
}

export interface TroubledAccounts {
  /** At most `limit` accounts. */
  readonly accounts: readonly TroubledAccount[]
  /** Number of accounts without the limit. */
  readonly total: number
}

/**
 * Finds the accounts before adding up their calls, because a large service has many rows of today. Only looks at the wallets of
 * accounts whose money can have been too little for a call. Finds them by a list, in one pass over their index: of a join alone,
 * the planner would read all wallets.
 */
const TROUBLED = `
with today as materialized (
  select account_id, calls, errors, errors > 0 or charged_micro_vnd < cost_micro_vnd as lacked_money
    from usage_daily where day = $1::text::date),
suspects as materialized (
  select 'failing' as trouble, account_id from today where errors > 0 group by account_id having sum(errors) >= $2::text::integer
   union all
  select 'empty', account_id from wallet
   where account_id = any (array(select account_id from today where lacked_money)) and balance_micro_vnd = 0),
troubled as (
  select trouble, account_id, sum(calls) as calls, sum(errors) as errors from suspects join today using (account_id) group by 1, 2
  having trouble = 'empty' or sum(errors) >= sum(calls) * $3::text::double precision),
placed as (
  select *, count(*) over (partition by trouble)::integer as total,
         row_number() over (partition by trouble
                            order by case trouble when 'failing' then errors else calls end desc, account_id) as place
    from troubled)
select trouble, account_id, (select email from account where account.account_id = placed.account_id) as email,
       calls::text as calls, errors::text as errors, total
  from placed where place <= $4::text::integer order by trouble, place`

/**
 * Accounts that need help today: `failing` ones have many failed calls, most first; `empty` ones have no money left,
 * and calls of theirs failed or were cut short, most calls first.
 */
export async function readTroubledAccounts(
  sql: AnySql,
  given: { readonly now: Date; readonly errorsMin: number; readonly shareMin: number; readonly limit: number },
): Promise<{ readonly failing: TroubledAccounts; readonly empty: TroubledAccounts }> {
  const { now, errorsMin, shareMin, limit } = given
  const rows = await sql.unsafe(TROUBLED, [dayOf(now), String(errorsMin), String(shareMin), String(limit)])
  const of = (name: string): TroubledAccounts => toTroubled(rows.filter(({ trouble }) => trouble === name))
  return { failing: of('failing'), empty: of('empty') }
}

function toTroubled(rows: readonly Readonly<Record<string, unknown>>[]): TroubledAccounts {
  const accounts = rows.map(({ account_id: accountId, email, calls, errors }) => ({
    accountId: Number(accountId),
    email: String(email),
    calls: Number(calls),
    errors: Number(errors),
  }))
  return { accounts, total: Number(rows[0]?.total ?? 0) }
}

const MONEY_IN = `select coalesce(sum(amount_micro_vnd), 0)::text as amount from credit
  where kind = 1 and at >= $1::text::timestamptz and at < $2::text::timestamptz`
const NEW_ACCOUNTS = `select count(*)::integer as accounts from account
  where created_at >= $1::text::timestamptz and created_at < $2::text::timestamptz`

export interface Arrivals {
  readonly moneyInMicroVnd: MicroVnd
  readonly accounts: number
}

/** Adds up bank transfers credited and counts accounts created in a period. */
export async function readArrivals(
  sql: AnySql,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<Arrivals> {
  const period = [from.toISOString(), to.toISOString()]
  const [[money], [made]] = await Promise.all([sql.unsafe(MONEY_IN, period), sql.unsafe(NEW_ACCOUNTS, period)])
  return { moneyInMicroVnd: microVnd(BigInt(money?.amount)), accounts: made?.accounts }
}
