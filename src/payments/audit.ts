/**
 * Compares the bank transactions reported to us with the credits booked for them, and the credits with their daily sums. Every
 * difference must be zero.
 */

import type { AnySql } from '../lib/database.ts'

export interface PaymentAudit {
  readonly clean: boolean
  readonly differences: {
    /** Number of credited transactions without a matching credit. */
    readonly unbooked: number
    /** Number of credits by bank transfer without a credited transaction. */
    readonly unfounded: number
    /** Number of orders whose paid total does not match their transactions. */
    readonly orders: number
    /** Number of transactions that have waited for more than five minutes to be credited, ignored or marked unmatched. */
    readonly undecided: number
    /** Number of daily sums of credits, by kind, that differ from the credits. */
    readonly credit_days: number
  }
  /** Ids of the first 20 accounts with a difference. */
  readonly accounts: readonly number[]
  /** Ids of the first 20 transactions with a difference. */
  readonly transfers: readonly number[]
  /** Codes of the first 20 orders with a difference. */
  readonly orders: readonly string[]
  /** The first 20 days with a wrong sum of credits. */
  readonly creditDays: readonly string[]
  readonly creditedVnd: bigint
}

const NAMED_MAX = 20

const AUDIT = `
with unbooked as (
  select bank_txn_id, account_id from bank_txn where state = 1 and not exists (
    select from credit
     where credit.account_id = bank_txn.account_id and credit.kind = 1
       and credit.reference = 'bank_txn:' || bank_txn.bank_txn_id
       and credit.amount_micro_vnd = bank_txn.amount_vnd * 1000000)),
unfounded as (
  select account_id from credit where kind = 1 and not exists (
    select from bank_txn
     where bank_txn.state = 1 and bank_txn.account_id = credit.account_id
       and credit.reference = 'bank_txn:' || bank_txn.bank_txn_id)),
wrong_orders as (
  select topup_order.order_code, topup_order.account_id
    from topup_order
         left join (select order_code, sum(amount_vnd) as paid_vnd from bank_txn where state = 1 group by order_code)
           credited using (order_code)
   where topup_order.paid_vnd <> coalesce(credited.paid_vnd, 0)),
undecided as (
  select bank_txn_id from bank_txn where state = 0 and received_at < now() - interval '5 minutes'),
wrong_days as (
  select day, kind
    from credit_daily
         full join (
           select (at at time zone 'Asia/Ho_Chi_Minh')::date as day, kind, count(*) as credits, sum(amount_micro_vnd) as amount
             from credit
            where at < (select credits_summed_before::timestamp at time zone 'Asia/Ho_Chi_Minh' from call_roll_up)
            group by 1, 2) summed using (day, kind)
   where (credit_daily.credits, credit_daily.amount_micro_vnd) is distinct from (summed.credits, summed.amount))
select
  (select count(*) from unbooked)::integer as unbooked,
  (select count(*) from unfounded)::integer as unfounded,
  (select count(*) from wrong_orders)::integer as orders,
  (select count(*) from undecided)::integer as undecided,
  (select count(*) from wrong_days)::integer as credit_days,
  array_to_string(array(
    select account_id from unbooked union select account_id from unfounded union select account_id from wrong_orders
     order by 1 limit ${NAMED_MAX}), ',') as accounts,
  array_to_string(array(
    select bank_txn_id from unbooked union select bank_txn_id from undecided order by 1 limit ${NAMED_MAX}), ',') as transfers,
  array_to_string(array(select order_code from wrong_orders order by 1 limit ${NAMED_MAX}), ',') as order_codes,
  array_to_string(array(select distinct day from wrong_days order by 1 limit ${NAMED_MAX}), ',') as wrong_days,
  (select coalesce(sum(amount_vnd), 0) from bank_txn where state = 1)::text as credited`

export async function auditPayments(sql: AnySql): Promise<PaymentAudit> {
  const row = (await sql.unsafe(AUDIT))[0]!
  const { unbooked, unfounded, orders, undecided, credit_days, credited } = row
  const differences = { unbooked, unfounded, orders, undecided, credit_days }
  const list = (text: string): string[] => text.split(',').filter(Boolean)
  return {
    clean: Object.values(differences).every(difference => difference === 0),
    differences,
    accounts: list(row.accounts).map(Number),
    transfers: list(row.transfers).map(Number),
    orders: list(row.order_codes),
    creditDays: list(row.wrong_days),
    creditedVnd: BigInt(credited),
  }
}
