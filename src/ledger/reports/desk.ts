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
 * Finds wallets by a list, in one pass over their index: of a join alone, the planner would read all wallets. Both kinds are found
 * in one statement, because a large service has many rows of today to add up.
 */
const TROUBLED = `
with called as materialized (
  select account_id, sum(calls) as calls, sum(errors) as errors from usage_daily where day = $1::text::date group by 1),
failing as (
  select 'failing' as trouble, called.*, count(*) over ()::integer as total, errors as weight
    from called where errors >= $2::text::integer and errors >= calls * $3::text::double precision
   order by errors desc, account_id limit $4::text::integer),
empty as (
  select 'empty' as trouble, called.*, count(*) over ()::integer as total, calls as weight
    from called join wallet using (account_id)
   where wallet.account_id = any (array(select account_id from called)) and balance_micro_vnd = 0
   order by calls desc, account_id limit $4::text::integer)
select trouble, account_id, (select email from account where account.account_id = troubled.account_id) as email,
       calls::text as calls, errors::text as errors, total
  from (table failing union all table empty) troubled order by trouble, weight desc, account_id`

/**
 * Accounts that need help today: `failing` ones have many failed calls, most first; `empty` ones have made calls and have no money
 * left, most calls first.
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
