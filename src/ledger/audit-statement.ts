/** The audit's SQL. Full and incremental audits apply the same rules. */

import { SUMMED_COLUMNS } from './day-totals.ts'
import { finalBefore } from './roll-up.ts'

/**
 * `full` reads every row of the journal. `incremental` skips each wallet's rows up to its proven point, which is the row up to
 * which an earlier audit found everything correct. For a wallet without such a point, all rows are read.
 */
export type AuditMode = 'full' | 'incremental'

const list = (text: (name: string) => string): string => SUMMED_COLUMNS.map(text).join(', ')

/**
 * The first day whose sums may still change, because settlements of an hour ago or less may be written to it. Found once, so that
 * the whole statement uses the same day.
 */
const OPEN_DAYS = `open_days as materialized (
  select (${finalBefore('usage', '3600')} at time zone 'Asia/Ho_Chi_Minh')::date as since)`
const OPEN_SINCE = '(select since from open_days)'

/**
 * The rows of a journal table that an audit reads. A full audit reads them all; an incremental one looks up each account's rows
 * with a `seq` above `after`.
 */
function rowsOf(table: string, mode: AuditMode, after: string): string {
  if (mode === 'full') return `select * from ${table}`
  return `select rows.* from due cross join lateral (
    select * from ${table} where ${table}.account_id = due.account_id and ${table}.seq > ${after} offset 0) rows`
}

/**
 * Where the audit of each wallet begins: after its proven point; if it has none, after its retired rows (old usage rows of
 * which only sums were kept); otherwise at its first row.
 */
const startOf = (mode: AuditMode): string => `
with ${OPEN_DAYS},
start as materialized (
  select wallet.account_id, coalesce(point.seq, retired.upto_seq, 0) as seq,
         coalesce(point.balance_micro_vnd, retired.balance_after_micro_vnd, 0) as balance,
         coalesce(point.seq, 0) as proven_seq, coalesce(retired.upto_seq, 0) as retired_seq,
         point.retired_seq is distinct from coalesce(retired.upto_seq, 0) as retired_since,
         coalesce(point.days_from, '-infinity') as days_from,
         coalesce(point.calls, retired.calls, 0) as calls_before,
         coalesce(point.uncollected_micro_vnd, retired.cost_micro_vnd - retired.charged_micro_vnd, 0) as uncollected_before,
         ${list(name => `coalesce(point.day_${name}, retired.${name}, 0) as ${name}`)},
         (point.seq, point.balance_micro_vnd, point.retired_seq)
         is distinct from (wallet.seq, wallet.balance_micro_vnd, coalesce(retired.upto_seq, 0)) as is_due
    from wallet
         left join usage_retired retired using (account_id)
         left join audit_point point
           on point.account_id = wallet.account_id and point.seq >= coalesce(retired.upto_seq, 0)
              ${mode === 'full' ? 'and false' : ''}),
due as materialized (select * from start where is_due),`

/** The rules of the audit, which check the rows in `read_usage`, `read_credit` and `read_daily`. */
const RULES = `
-- every movement of these wallets: the balance where they start, charges, and credits after it
movement as (
  select account_id, seq, balance as amount, balance as balance_after, null::bigint as cost from due where seq > 0
  union all
  select account_id, seq, -charged_micro_vnd, balance_after_micro_vnd, cost_micro_vnd from read_usage
  union all
  select read_credit.account_id, read_credit.seq, read_credit.amount_micro_vnd, read_credit.balance_after_micro_vnd, null
    from read_credit left join due using (account_id) where read_credit.seq > coalesce(due.seq, 0)),
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
    from due join usage_retired retired using (account_id)
         left join credit on credit.account_id = retired.account_id and credit.seq <= retired.upto_seq
   where due.retired_since group by retired.account_id),
-- a refund gives back what its call was charged; the call may have been retired
refund_check as (
  select read_credit.account_id, count(*) as wrong
    from read_credit
         left join usage
           on usage.account_id = read_credit.account_id
          and usage.call_id = case when read_credit.reference ~ '^call:[0-9a-f-]{36}$'
                                   then substr(read_credit.reference, 6)::uuid end
         left join usage_retired retired on retired.account_id = read_credit.account_id
   where read_credit.kind = 3 and read_credit.reference like 'call:%'
     and case when usage.call_id is null then retired.account_id is null
              else usage.charged_micro_vnd <> read_credit.amount_micro_vnd end
   group by read_credit.account_id),
-- usage summed from its rows, and from its daily sums
usage_total as (
  select account_id, count(*) as calls, count(*) filter (where status >= 400) as errors,
         sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(images) as images,
         sum(cost_micro_vnd) as cost_micro_vnd, sum(charged_micro_vnd) as charged_micro_vnd,
         coalesce(sum(upstream_cost_micro_vnd), 0) as upstream_cost_micro_vnd,
         count(upstream_cost_micro_vnd) as upstream_cost_calls
    from read_usage group by account_id),
daily_total as (
  select account_id, ${list(name => `sum(${name}) as ${name}`)},
         ${list(name => `coalesce(sum(${name}) filter (where day >= ${OPEN_SINCE}), 0) as open_${name}`)}
    from read_daily group by account_id),
-- each wallet with the rules that it breaks
verdict as (
  select wallet.account_id, wallet.seq as wallet_seq, wallet.balance_micro_vnd as wallet_balance,
         start.retired_seq, start.is_due, greatest(start.days_from, ${OPEN_SINCE}) as days_from,
         start.is_due and wallet.balance_micro_vnd <> coalesce(journal.balance, 0) as balance,
         start.is_due and (wallet.seq <> coalesce(journal.last_seq, 0)
         or journal.distinct_seqs is distinct from journal.movements
         or coalesce(journal.first_seq, 1) <> greatest(start.seq, 1)
         or wallet.seq - coalesce(journal.first_seq, 1) + 1 <> coalesce(journal.movements, 0)) as seq,
         not coalesce(journal.adds_up, true) as chain,
         wallet.held_micro_vnd <> coalesce(open_hold.held, 0) as held,
         start.is_due and (${list(name => `start.${name} + coalesce(usage_total.${name}, 0)`)})
         is distinct from (${list(name => `coalesce(daily_total.${name}, 0)`)}) as daily,
         coalesce(retired_check.is_wrong, false) as retired,
         coalesce(journal.wrong_charges, 0) as charge,
         coalesce(refund_check.wrong, 0) as refund,
         coalesce(open_hold.holds, 0) as open_holds,
         start.calls_before + coalesce(usage_total.calls, 0) as calls,
         start.uncollected_before + coalesce(usage_total.cost_micro_vnd - usage_total.charged_micro_vnd, 0) as uncollected,
         ${list(name => `coalesce(daily_total.open_${name}, 0) as open_${name}`)}
    from wallet
         join start using (account_id)
         left join journal using (account_id)
         left join open_hold using (account_id)
         left join usage_total using (account_id)
         left join daily_total using (account_id)
         left join retired_check using (account_id)
         left join refund_check using (account_id)),`

/** Counts rows whose account has no wallet. */
const orphansOf = (mode: AuditMode): string => {
  const all = ['credit', 'usage_retired', 'hold', 'api_key', 'audit_point']
  const tables = mode === 'full' ? ['usage', 'usage_daily', ...all] : all
  return `
orphan as (
  select count(*) as rows from (${tables.map(table => `select account_id from ${table}`).join(' union all ')}) owned
   where not exists (select 1 from wallet where wallet.account_id = owned.account_id))`
}

const IS_BROKEN = 'balance or seq or chain or held or daily or retired or charge > 0 or refund > 0'
const POINT = ['seq', 'balance_micro_vnd', 'retired_seq', 'calls', 'uncollected_micro_vnd'] as const
const POINT_DAYS = `days_from, ${list(name => `day_${name}`)}`
const assigned = (names: string): string => names.replace(/\w+/g, name => `${name} = excluded.${name}`)

/**
 * Moves the proven point of each wallet that breaks no rule to its latest row. A full audit also deletes the points of wallets
 * that break a rule, so that later audits read all of their rows.
 */
const moveOf = (mode: AuditMode): string => `,
moved as (
  insert into audit_point as p (account_id, ${POINT.join(', ')}, ${POINT_DAYS})
  select account_id, wallet_seq, wallet_balance, retired_seq, calls, uncollected, days_from,
         ${list(name => `open_${name}`)}
    from verdict where is_due and not (${IS_BROKEN})
  on conflict (account_id) do update set ${assigned(`${POINT.join(', ')}, ${POINT_DAYS}`)}
   where (${POINT.map(name => `p.${name}`).join(', ')}) is distinct from (${POINT.map(name => `excluded.${name}`).join(', ')}))
${mode === 'full' ? `, dropped as (delete from audit_point where account_id in (select account_id from verdict where ${IS_BROKEN}))` : ''}`

const REPORT = `
select
  count(*) filter (where balance)::text as balance, count(*) filter (where seq)::text as seq,
  count(*) filter (where chain)::text as chain, count(*) filter (where held)::text as held,
  count(*) filter (where daily)::text as daily, count(*) filter (where retired)::text as retired,
  coalesce(sum(charge), 0)::text as charge, coalesce(sum(refund), 0)::text as refund,
  (select rows from orphan)::text as orphan,
  array_to_string((array_agg(account_id order by account_id) filter (where ${IS_BROKEN}))[1:20], ',') as accounts,
  count(*)::text as wallets, coalesce(sum(open_holds), 0)::text as open_holds, coalesce(sum(calls), 0)::text as calls,
  coalesce(sum(uncollected), 0)::text as uncollected
from verdict`

export function auditStatement(mode: AuditMode, recordsPoints: boolean): string {
  const read = mode === 'full' ? 'not materialized' : 'materialized'
  return `${startOf(mode)}
read_usage as ${read} (${rowsOf('usage', mode, 'due.seq')}),
read_credit as ${read} (${rowsOf('credit', mode, 'due.proven_seq')}),
read_daily as ${read} (${
    mode === 'full'
      ? 'select * from usage_daily'
      : `select rows.* from due cross join lateral (
    select * from usage_daily where usage_daily.account_id = due.account_id and usage_daily.day >= due.days_from offset 0) rows`
  }),
${RULES}${orphansOf(mode)}${recordsPoints ? moveOf(mode) : ''}${REPORT}`
}
