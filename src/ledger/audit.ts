/** AUDIT: recomputes every wallet from its journal and compares. Every difference must be zero. */

import type { AnySql, Sql } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'

export interface AuditReport {
  /** True when every difference is zero. */
  readonly clean: boolean
  /** Wallets (or rows, for the last three) that break each rule. */
  readonly differences: {
    /** Balance is not the sum of the journal. */
    readonly balance: number
    /** The seq of the journal has a gap, or the wallet's is not its last. */
    readonly seq: number
    /** A balance_after is not the running sum. */
    readonly chain: number
    /** The held amount is not the sum of the open holds. */
    readonly held: number
    /** The daily figures are not the sums of the usage rows, retired ones included. */
    readonly daily: number
    /** The sums of retired rows do not lead from the credits to the balance that they left. */
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
  /** Cost that no balance was left to pay. */
  readonly uncollectedMicroVnd: MicroVnd
}

const AUDIT = `
with e as (
  select account_id, upto_seq as seq, balance_after_micro_vnd as delta, balance_after_micro_vnd as after, null::bigint as cost
    from usage_retired
  union all
  select account_id, seq, -charged_micro_vnd, balance_after_micro_vnd, cost_micro_vnd from usage
  union all
  select c.account_id, c.seq, c.amount_micro_vnd, c.balance_after_micro_vnd, null
    from credit c left join usage_retired r using (account_id) where c.seq > coalesce(r.upto_seq, 0)),
run as (select *, sum(delta) over (partition by account_id order by seq) as running from e),
chain as (
  select account_id, count(*) as n, max(seq) as last, min(seq) as first, count(distinct seq) as distinct_seq, sum(delta) as total,
         bool_and(after = running) as ok,
         count(*) filter (where cost is not null and -delta <> least(cost, running - delta)) as wrong_charges
    from run group by 1),
h as (select account_id, sum(amount_micro_vnd) as held, count(*) as n from hold group by 1),
rc as (
  select r.account_id, count(c.seq) + r.calls <> r.upto_seq
         or coalesce(sum(c.amount_micro_vnd), 0) - r.charged_micro_vnd <> r.balance_after_micro_vnd as wrong
    from usage_retired r left join credit c on c.account_id = r.account_id and c.seq <= r.upto_seq
   group by r.account_id),
-- The call of a refund may have been retired.
rf as (
  select c.account_id, count(*) as wrong
    from credit c
    left join usage u on u.account_id = c.account_id
     and u.call_id = case when c.reference ~ '^call:[0-9a-f-]{36}$' then substr(c.reference, 6)::uuid end
    left join usage_retired r on r.account_id = c.account_id
   where c.kind = 3 and c.reference like 'call:%'
     and case when u.call_id is null then r.account_id is null else u.charged_micro_vnd <> c.amount_micro_vnd end
   group by 1),
us as (
  select account_id, sum(n) as n, sum(errors) as errors, sum(input) as input, sum(output) as output, sum(images) as images,
         sum(cost) as cost, sum(charged) as charged, sum(upstream_cost) as upstream_cost, sum(upstream_calls) as upstream_calls
    from (
      select account_id, count(*) as n, count(*) filter (where status >= 400) as errors, sum(input_tokens) as input,
             sum(output_tokens) as output, sum(images) as images, sum(cost_micro_vnd) as cost, sum(charged_micro_vnd) as charged,
             coalesce(sum(upstream_cost_micro_vnd), 0) as upstream_cost, count(upstream_cost_micro_vnd) as upstream_calls
        from usage group by 1
      union all
      select account_id, calls, errors, input_tokens, output_tokens, images, cost_micro_vnd, charged_micro_vnd,
             upstream_cost_micro_vnd, upstream_cost_calls from usage_retired) u
   group by 1),
dl as (
  select account_id, sum(calls) as n, sum(errors) as errors, sum(input_tokens) as input,
         sum(output_tokens) as output, sum(images) as images, sum(cost_micro_vnd) as cost, sum(charged_micro_vnd) as charged,
         sum(upstream_cost_micro_vnd) as upstream_cost, sum(upstream_cost_calls) as upstream_calls
    from usage_daily group by 1),
c as (
  select w.account_id,
    w.balance_micro_vnd <> coalesce(chain.total, 0) as balance,
    w.seq <> coalesce(chain.last, 0) or chain.distinct_seq is distinct from chain.n
      or coalesce(chain.first, 1) <> coalesce(r.upto_seq, 1)
      or w.seq - coalesce(chain.first, 1) + 1 <> coalesce(chain.n, 0) as seq,
    not coalesce(chain.ok, true) as chain,
    w.held_micro_vnd <> coalesce(h.held, 0) as held,
    (us.n, us.errors, us.input, us.output, us.images, us.cost, us.charged, us.upstream_cost, us.upstream_calls)
      is distinct from (dl.n, dl.errors, dl.input, dl.output, dl.images, dl.cost, dl.charged, dl.upstream_cost,
                        dl.upstream_calls) as daily,
    coalesce(rc.wrong, false) as retired,
    coalesce(chain.wrong_charges, 0) as charge, coalesce(rf.wrong, 0) as refund,
    coalesce(h.n, 0) as open_holds, coalesce(us.n, 0) as calls, coalesce(us.cost - us.charged, 0) as uncollected
  from wallet w left join chain using (account_id) left join h using (account_id) left join us using (account_id)
       left join dl using (account_id) left join rc using (account_id) left join rf using (account_id)
       left join usage_retired r using (account_id)),
o as (
  select count(*) as orphan from (
    select account_id from usage union all select account_id from credit union all select account_id from usage_daily
    union all select account_id from usage_retired union all select account_id from hold union all select account_id from api_key) x
   where not exists (select 1 from wallet w where w.account_id = x.account_id))
select
  count(*) filter (where balance)::text as balance, count(*) filter (where seq)::text as seq,
  count(*) filter (where chain)::text as chain, count(*) filter (where held)::text as held,
  count(*) filter (where daily)::text as daily, count(*) filter (where retired)::text as retired,
  coalesce(sum(charge), 0)::text as charge, coalesce(sum(refund), 0)::text as refund, (select orphan from o)::text as orphan,
  array_to_string((array_agg(account_id order by account_id)
    filter (where balance or seq or chain or held or daily or retired or charge > 0 or refund > 0))[1:20], ',') as accounts,
  count(*)::text as wallets, coalesce(sum(open_holds), 0)::text as open_holds, coalesce(sum(calls), 0)::text as calls,
  coalesce(sum(uncollected), 0)::text as uncollected
from c`

/** One consistent look at the whole ledger; reads every journal row. */
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
