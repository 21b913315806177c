/** RETIRE: deletes old usage rows but keeps their sums, so that the journal still adds up. */

import type { Sql } from '../lib/database.ts'

/** The database refuses settlements after 90 days; beyond that, a retired call cannot be charged again. */
export const RETIRE_DAYS_MIN = 92
const ACCOUNTS_PER_PAGE = 500

export interface RetireOptions {
  /** Rows of calls that ended more days ago than this are retired; at least RETIRE_DAYS_MIN. */
  readonly olderThanDays: number
  /** Rows per transaction. */
  readonly batchRows?: number
  /** Stops between two batches. */
  readonly signal?: AbortSignal
}

export interface Retirement {
  readonly rows: number
  readonly accounts: number
}

/** Accounts after $1 whose oldest row is old enough, and whether there may be more. */
const PAGE = `with page as (select account_id from wallet where account_id > $1::text::bigint order by account_id limit $3::text::integer)
select coalesce(max(page.account_id), 0)::text as last, count(*)::integer as seen,
       array_to_string(array_agg(page.account_id order by page.account_id) filter (where oldest.closed_at < now() - make_interval(days => $2::text::integer)), ',') as due
  from page left join lateral (
    select closed_at from usage u where u.account_id = page.account_id order by seq limit 1) oldest on true`

/** The next rows, up to the first one that is too recent: the journal is cut at one place, whatever the clocks said. */
const SUM = `with page as (
    select * from usage where account_id = $1::text::bigint order by seq limit $3::text::integer),
  young as (select min(seq) as seq from page where closed_at >= now() - make_interval(days => $2::text::integer)),
  old as (select page.* from page, young where young.seq is null or page.seq < young.seq)
insert into usage_retired as r (account_id, upto_seq, balance_after_micro_vnd, calls, errors, input_tokens, output_tokens, images,
    cost_micro_vnd, charged_micro_vnd, upstream_cost_micro_vnd, upstream_cost_calls)
  select account_id, max(seq), (array_agg(balance_after_micro_vnd order by seq desc))[1], count(*),
         count(*) filter (where status >= 400), sum(input_tokens), sum(output_tokens), sum(images), sum(cost_micro_vnd),
         sum(charged_micro_vnd), coalesce(sum(upstream_cost_micro_vnd), 0), count(upstream_cost_micro_vnd)
    from old group by account_id
  on conflict (account_id) do update set
    upto_seq = excluded.upto_seq, balance_after_micro_vnd = excluded.balance_after_micro_vnd,
    calls = r.calls + excluded.calls, errors = r.errors + excluded.errors,
    input_tokens = r.input_tokens + excluded.input_tokens, output_tokens = r.output_tokens + excluded.output_tokens,
    images = r.images + excluded.images, cost_micro_vnd = r.cost_micro_vnd + excluded.cost_micro_vnd,
    charged_micro_vnd = r.charged_micro_vnd + excluded.charged_micro_vnd,
    upstream_cost_micro_vnd = r.upstream_cost_micro_vnd + excluded.upstream_cost_micro_vnd,
    upstream_cost_calls = r.upstream_cost_calls + excluded.upstream_cost_calls, retired_at = now()
returning upto_seq::text`
const DELETE = `with gone as (
    delete from usage where account_id = $1::text::bigint and seq <= $2::text::bigint returning call_id, account_id),
  forgotten as (delete from client_request c using gone where c.call_id = gone.call_id and c.account_id = gone.account_id)
select count(*)::integer as rows from gone`

/** Advisory lock (9, 0), for one transaction: concurrent runs take turns. */
const LOCK = 'select pg_advisory_xact_lock(9, 0)'

/**
 * Each batch sums and deletes in one transaction; a run may be interrupted and repeated. Throws RangeError for too few
 * days.
 */
export async function retireUsage(sql: Sql, options: RetireOptions): Promise<Retirement> {
  const { olderThanDays, batchRows = 5000, signal } = options
  if (!(Number.isInteger(olderThanDays) && olderThanDays >= RETIRE_DAYS_MIN)) {
    throw new RangeError(`usage rows can be retired after ${RETIRE_DAYS_MIN} days at the earliest`)
  }
  const days = String(olderThanDays)
  let rows = 0
  let accounts = 0
  let after = '0'
  while (!signal?.aborted) {
    const [page] = await sql.unsafe(PAGE, [after, days, String(ACCOUNTS_PER_PAGE)])
    for (const account of (page?.due ?? '').split(',').filter(Boolean)) {
      accounts++
      for (let deleted = batchRows; deleted === batchRows && !signal?.aborted; rows += deleted) {
        deleted = await retireBatch(sql, { account, days, batchRows })
      }
    }
    if (page?.seen < ACCOUNTS_PER_PAGE) break
    after = page?.last
  }
  return { rows, accounts }
}

function retireBatch(
  sql: Sql,
  { account, days, batchRows }: { account: string; days: string; batchRows: number },
): Promise<number> {
  return sql.begin(async transaction => {
    await transaction.unsafe(LOCK)
    const [retired] = await transaction.unsafe(SUM, [account, days, String(batchRows)])
    if (retired === undefined) return 0
    return (await transaction.unsafe(DELETE, [account, retired.upto_seq]))[0]?.rows
  })
}
