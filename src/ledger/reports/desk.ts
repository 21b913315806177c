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

const FAILING = `
select a.account_id, a.email, t.calls::text as calls, t.errors::text as errors, count(*) over ()::integer as total
  from (select account_id, sum(calls) as calls, sum(errors) as errors from usage_daily where day = $1::text::date group by 1) t
  join account a using (account_id)
 where t.errors >= $2::text::integer and t.errors >= t.calls * $3::text::double precision
 order by t.errors desc, a.account_id limit $4::text::integer`

/** Accounts with many failed calls today, most errors first. */
export async function readFailingAccounts(
  sql: AnySql,
  given: { readonly now: Date; readonly errorsMin: number; readonly shareMin: number; readonly limit: number },
): Promise<TroubledAccounts> {
  const { now, errorsMin, shareMin, limit } = given
  return toTroubled(await sql.unsafe(FAILING, [dayOf(now), String(errorsMin), String(shareMin), String(limit)]))
}

/** Finds wallets by a list, in one pass over their index: of a join alone, the planner would read all wallets. */
const EMPTY = `
with called as materialized (
  select account_id, sum(calls) as calls, sum(errors) as errors from usage_daily where day = $1::text::date group by 1),
empty as (
  select called.*, count(*) over ()::integer as total
    from called join wallet using (account_id)
   where wallet.account_id = any (array(select account_id from called)) and balance_micro_vnd = 0
   order by calls desc, account_id limit $2::text::integer)
select account_id, (select email from account where account.account_id = empty.account_id) as email, calls::text as calls,
       errors::text as errors, total
  from empty order by empty.calls desc, account_id`

/** Accounts with calls today but no money left, most calls first. */
export async function readEmptyAccounts(
  sql: AnySql,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<TroubledAccounts> {
  return toTroubled(await sql.unsafe(EMPTY, [dayOf(now), String(limit)]))
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
