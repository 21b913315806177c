/** AUDIT: recomputes every wallet from its journal and compares. Every difference must be zero. */

import type { AnySql, Sql } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'

export interface AuditReport {
  /** True when every difference is zero. */
  readonly clean: boolean
  /** Wallets (or rows, for the last three) that break each rule. */
  readonly differences: {
    /** The balance is not the sum of the journal. */
    readonly balance: number
    /** The journal's seq has a gap, or does not end at the wallet's. */
    readonly seq: number
    /** A balance_after is not the running sum. */
    readonly chain: number
    /** The held amount is not the sum of the open holds. */
    readonly held: number
    /** The daily sums are not those of the usage rows, retired ones included. */
    readonly daily: number
    /** The credits and the retired sums do not add up to the retired balance. */
    readonly retired: number
    /** Usage rows whose charge is not least(cost, balance before). */
    readonly charge: number
    /** Refunds of calls that are not of the account, or were charged another amount. */
    readonly refund: number
    /** Journal rows, daily rows, holds and keys of accounts without a wallet. */
    readonly orphan: number
  }
  /** The first accounts with a difference, at most 20. */
  readonly accounts: readonly number[]
  readonly wallets: number
  readonly openHolds: number
  readonly calls: number
  /** Cost that the balance could not cover. */
  readonly uncollectedMicroVnd: MicroVnd
}

const AUDIT = `
-- every movement of every wallet: the balance that retired rows left, charges, and credits after it
with movement as (
  select account_id, upto_seq as seq, balance_after_micro_vnd as amount, balance_after_micro_vnd as balance_after,
         null::bigint as cost
    from usage_retired
  union all
  select account_id, seq, -charged_micro_vnd, balance_after_micro_vnd, cost_micro_vnd from usage
  union all
  select credit.account_id, credit.seq, credit.amount_micro_vnd, credit.balance_after_micro_vnd, null
    from credit left join usage_retired retired using (account_id) where credit.seq > coalesce(retired.upto_seq, 0)),
running as (
  select *, sum(amount) over (partition by account_id order by seq) as running_balance from movement),
-- the journal of a wallet as a whole: its numbers, its sum, and what disagrees with the running balance
journal as (
  select account_id, count(*) as movements, count(distinct seq) as distinct_seqs, min(seq) as first_seq,
         max(seq) as last_seq, sum(amount) as balance, bool_and(balance_after = running_balance) as adds_up,
         count(*) filter (where cost is not null and -amount <> least(cost, running_balance - amount)) as wrong_charges
    from running group by account_id),
open_hold as (
  select account_id, sum(amount_micro_vnd) as held, count(*) as holds from hold group by account_id),
-- credits up to the last retired row, less what the retired rows charged, make the balance that they left
retired_check as (
  select retired.account_id,
         count(credit.seq) + retired.calls <> retired.upto_seq
         or coalesce(sum(credit.amount_micro_vnd), 0) - retired.charged_micro_vnd
            <> retired.balance_after_micro_vnd as is_wrong
    from usage_retired retired
         left join credit on credit.account_id = retired.account_id and credit.seq <= retired.upto_seq
   group by retired.account_id),
-- a refund gives back what its call was charged; the call may have been retired
refund_check as (
  select credit.account_id, count(*) as wrong
    from credit
         left join usage
           on usage.account_id = credit.account_id
          and usage.call_id = case when credit.reference ~ '^call:[0-9a-f-]{36}$'
                                   then substr(credit.reference, 6)::uuid end
         left join usage_retired retired on retired.account_id = credit.account_id
   where credit.kind = 3 and credit.reference like 'call:%'
     and case when usage.call_id is null then retired.account_id is null
              else usage.charged_micro_vnd <> credit.amount_micro_vnd end
   group by credit.account_id),
-- usage by its rows, retired ones included, and by its daily sums
usage_total as (
  select account_id, sum(calls) as calls, sum(errors) as errors, sum(input) as input, sum(output) as output,
         sum(images) as images, sum(cost) as cost, sum(charged) as charged, sum(upstream_cost) as upstream_cost,
         sum(upstream_calls) as upstream_calls
    from (
      select account_id, count(*) as calls, count(*) filter (where status >= 400) as errors,
             sum(input_tokens) as input, sum(output_tokens) as output, sum(images) as images,
             sum(cost_micro_vnd) as cost, sum(charged_micro_vnd) as charged,
             coalesce(sum(upstream_cost_micro_vnd), 0) as upstream_cost,
             count(upstream_cost_micro_vnd) as upstream_calls
        from usage group by account_id
      union all
      select account_id, calls, errors, input_tokens, output_tokens, images, cost_micro_vnd, charged_micro_vnd,
             upstream_cost_micro_vnd, upstream_cost_calls
        from usage_retired) each_usage
   group by account_id),
daily_total as (
  select account_id, sum(calls) as calls, sum(errors) as errors, sum(input_tokens) as input,
         sum(output_tokens) as output, sum(images) as images, sum(cost_micro_vnd) as cost,
         sum(charged_micro_vnd) as charged, sum(upstream_cost_micro_vnd) as upstream_cost,
         sum(upstream_cost_calls) as upstream_calls
    from usage_daily group by account_id),
-- each wallet with the rules that it breaks
verdict as (
  select wallet.account_id,
         wallet.balance_micro_vnd <> coalesce(journal.balance, 0) as balance,
         wallet.seq <> coalesce(journal.last_seq, 0)
         or journal.distinct_seqs is distinct from journal.movements
         or coalesce(journal.first_seq, 1) <> coalesce(retired.upto_seq, 1)
         or wallet.seq - coalesce(journal.first_seq, 1) + 1 <> coalesce(journal.movements, 0) as seq,
         not coalesce(journal.adds_up, true) as chain,
         wallet.held_micro_vnd <> coalesce(open_hold.held, 0) as held,
         (usage_total.calls, usage_total.errors, usage_total.input, usage_total.output, usage_total.images,
          usage_total.cost, usage_total.charged, usage_total.upstream_cost, usage_total.upstream_calls)
         is distinct from
         (daily_total.calls, daily_total.errors, daily_total.input, daily_total.output, daily_total.images,
          daily_total.cost, daily_total.charged, daily_total.upstream_cost, daily_total.upstream_calls) as daily,
         coalesce(retired_check.is_wrong, false) as retired,
         coalesce(journal.wrong_charges, 0) as charge,
         coalesce(refund_check.wrong, 0) as refund,
         coalesce(open_hold.holds, 0) as open_holds,
         coalesce(usage_total.calls, 0) as calls,
         coalesce(usage_total.cost - usage_total.charged, 0) as uncollected
    from wallet
         left join journal using (account_id)
         left join open_hold using (account_id)
         left join usage_total using (account_id)
         left join daily_total using (account_id)
         left join retired_check using (account_id)
         left join refund_check using (account_id)
         left join usage_retired retired using (account_id)),
orphan as (
  select count(*) as rows from (
    select account_id from usage
    union all select account_id from credit
    union all select account_id from usage_daily
    union all select account_id from usage_retired
    union all select account_id from hold
    union all select account_id from api_key) owned
   where not exists (select 1 from wallet where wallet.account_id = owned.account_id))
select
  count(*) filter (where balance)::text as balance, count(*) filter (where seq)::text as seq,
  count(*) filter (where chain)::text as chain, count(*) filter (where held)::text as held,
  count(*) filter (where daily)::text as daily, count(*) filter (where retired)::text as retired,
  coalesce(sum(charge), 0)::text as charge, coalesce(sum(refund), 0)::text as refund,
  (select rows from orphan)::text as orphan,
  array_to_string((array_agg(account_id order by account_id)
    filter (where balance or seq or chain or held or daily or retired or charge > 0 or refund > 0))[1:20], ',') as accounts,
  count(*)::text as wallets, coalesce(sum(open_holds), 0)::text as open_holds, coalesce(sum(calls), 0)::text as calls,
  coalesce(sum(uncollected), 0)::text as uncollected
from verdict`

/** One consistent snapshot of the whole ledger; reads every journal row. */
export async function audit(sql: Sql | AnySql): Promise<AuditReport> {
  const row: Readonly<Record<string, string | null>> = (await sql.unsafe(AUDIT))[0]!
  const count = (name: string): number => Number(row[name])
  const differences = {
    balance: count('balance'),
    seq: count('seq'),
    chain: count('chain'),
    held: count('held'),
    daily: count('daily'),
    retired: count('retired'),
    charge: count('charge'),
    refund: count('refund'),
    orphan: count('orphan'),
  }
  return {
    clean: Object.values(differences).every(difference => difference === 0),
    differences,
    accounts: (row.accounts ?? '').split(',').filter(Boolean).map(Number),
    wallets: count('wallets'),
    openHolds: count('open_holds'),
    calls: count('calls'),
    uncollectedMicroVnd: microVnd(BigInt(row.uncollected ?? 0)),
  }
}
