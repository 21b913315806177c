/** Retires old usage rows: deletes them but keeps their sums, so that the journal still adds up. */

import type { Sql } from '../lib/database.ts'

/** The database rejects settlements of calls older than 90 days, so a call retired after that cannot be charged a second time. */
export const RETIRE_DAYS_MIN = 92
const ACCOUNTS_PER_PAGE = 500

export interface RetireOptions {
  /** Retires the rows of calls that ended more days ago than this; at least RETIRE_DAYS_MIN. */
  readonly olderThanDays: number
  /** Maximum number of rows per transaction; at least 1. */
  readonly batchRows?: number
  /** Stops the run between two batches. */
  readonly signal?: AbortSignal
}

export interface Retirement {
  readonly rows: number
  readonly accounts: number
}

/** Reads the next $3 accounts after $1. `due` lists the accounts whose oldest row is old enough to retire. */
const PAGE = `with page as (select account_id from wallet where account_id > $1::text::bigint order by account_id limit $3::text::integer)
select coalesce(max(page.account_id), 0)::text as last, count(*)::integer as seen,
       array_to_string(array_agg(page.account_id order by page.account_id) filter (where oldest.closed_at < now() - make_interval(days => $2::text::integer)), ',') as due
  from page left join usage_retired r using (account_id) left join lateral (
    select closed_at from usage u
     where u.account_id = page.account_id and u.seq > coalesce(r.upto_seq, 0) order by seq limit 1) oldest on true`

/**
 * Takes the next $3 rows of each account in $1, up to but not including the first row that is too recent. So a journal only
 * ever loses rows at its start, even if the times of its rows are out of order. Scans begin after the last retired row: the
 * index keeps entries of deleted rows until a vacuum, and each batch would step over the entries that all earlier batches left.
 */
const SUM = `with due as (
    select account_id, coalesce(r.upto_seq, 0) as after_seq
      from unnest(string_to_array($1::text, ',')::bigint[]) as asked (account_id) left join usage_retired r using (account_id)),
  page as (
    select oldest.* from due cross join lateral (
      select * from usage u
       where u.account_id = due.account_id and u.seq > due.after_seq order by seq limit $3::text::integer) oldest),
  young as (
    select account_id, min(seq) as seq from page
     where closed_at >= now() - make_interval(days => $2::text::integer) group by account_id),
  old as (select page.* from page left join young using (account_id) where young.seq is null or page.seq < young.seq),
  summed as (
    insert into usage_retired as r (account_id, upto_seq, balance_after_micro_vnd, calls, errors, input_tokens, output_tokens,
        images, cost_micro_vnd, charged_micro_vnd, upstream_cost_micro_vnd, upstream_cost_calls)
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
    returning account_id, upto_seq)
select coalesce(string_agg(account_id::text, ',' order by account_id), '') as accounts,
       coalesce(string_agg(after_seq::text, ',' order by account_id), '') as starts,
       coalesce(string_agg(upto_seq::text, ',' order by account_id), '') as cuts
  from summed join due using (account_id)`
const DELETE = `with cut as (
    select * from unnest(string_to_array($1::text, ',')::bigint[], string_to_array($2::text, ',')::bigint[],
                         string_to_array($3::text, ',')::bigint[]) as c (account_id, after_seq, upto_seq)),
  gone as (
    delete from usage u using cut
     where u.account_id = cut.account_id and u.seq > cut.after_seq and u.seq <= cut.upto_seq
    returning u.call_id, u.account_id),
  forgotten as (delete from client_request c using gone where c.call_id = gone.call_id and c.account_id = gone.account_id)
select account_id::text as account, count(*)::integer as rows from gone group by account_id`

/** Advisory lock (9, 0), held for one transaction: concurrent runs take turns. */
const LOCK = 'select pg_advisory_xact_lock(9, 0)'

/**
 * Retires old usage rows. Each batch, of one large account or of many small ones, is summed and deleted in one transaction, so a
 * run may be interrupted and repeated. Throws RangeError for too few days.
 */
export async function retireUsage(sql: Sql, options: RetireOptions): Promise<Retirement> {
  const { olderThanDays, batchRows = 5000, signal } = options
  if (!(Number.isInteger(olderThanDays) && olderThanDays >= RETIRE_DAYS_MIN)) {
    throw new RangeError(`usage rows can be retired after ${RETIRE_DAYS_MIN} days at the earliest`)
  }
  const days = String(olderThanDays)
  const accountsPerPage = Math.min(ACCOUNTS_PER_PAGE, batchRows)
  let rows = 0
  let accounts = 0
  let after = '0'
  while (!signal?.aborted) {
    const [page] = await sql.unsafe(PAGE, [after, days, String(accountsPerPage)])
    let due: readonly string[] = (page?.due ?? '').split(',').filter(Boolean)
    accounts += due.length
    while (due.length > 0 && !signal?.aborted) {
      const rowsEach = Math.floor(batchRows / due.length)
      const deleted = await retireBatch(sql, { due, days, rowsEach })
      for (const count of deleted.values()) rows += count
      due = due.filter(account => deleted.get(account) === rowsEach)
    }
    if (page?.seen < accountsPerPage) break
    after = page?.last
  }
  return { rows, accounts }
}

/** Retires at most `rowsEach` rows of each account in one transaction. Returns the number of retired rows by account. */
function retireBatch(
  sql: Sql,
  { due, days, rowsEach }: { due: readonly string[]; days: string; rowsEach: number },
): Promise<ReadonlyMap<string, number>> {
  return sql.begin(async transaction => {
    await transaction.unsafe(LOCK)
    const [summed] = await transaction.unsafe(SUM, [due.join(','), days, String(rowsEach)])
    const deleted = await transaction.unsafe(DELETE, [summed?.accounts, summed?.starts, summed?.cuts])
    return new Map(deleted.map(({ account, rows }) => [account, rows]))
  })
}
