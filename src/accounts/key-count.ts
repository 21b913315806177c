/**
 * Keeps a running total of each key's charges up to a recent day. A report of a key's total cost, or the check of a limit that
 * never resets, then only has to add the days since.
 */

import type { AnySql } from '../lib/database.ts'

const KEYS_PER_STATEMENT = 2_000
const STATEMENTS_MAX = 10_000
/**
 * A key without calls is updated only when its total is this many days behind, which saves writes. Reports then read at most
 * this many extra days.
 */
const IDLE_DAYS = 31

/**
 * Updates the totals of one page of keys: the next ones in order after the key ($1, $2), so that a pass reads each key once.
 * Yesterday's calls may still be settling when today begins, so totals end with the day before yesterday.
 */
const COUNT = `
with today as (select (now() at time zone 'Asia/Ho_Chi_Minh')::date as day),
page as materialized (
  select account_id, key_id, counted_before from api_key
   where (account_id, key_id) > ($1::text::bigint, $2::text::bigint)
   order by account_id, key_id limit ${KEYS_PER_STATEMENT}),
stale as materialized (
  select account_id, key_id from page, today
   where counted_before is null or counted_before < today.day - ${IDLE_DAYS}
      or (counted_before < today.day - 1 and exists (
            select from usage_daily daily
             where daily.account_id = page.account_id and daily.key_id = page.key_id
               and daily.day >= page.counted_before and daily.day < today.day - 1))),
chosen as materialized (
  select k.account_id, k.key_id from stale join api_key k using (account_id, key_id)
   order by k.account_id, k.key_id for no key update of k skip locked),
counted as (
  update api_key k set counted_before = today.day - 1, counted_micro_vnd = k.counted_micro_vnd + (
      select coalesce(sum(charged_micro_vnd), 0) from usage_daily daily
       where daily.account_id = k.account_id and daily.key_id = k.key_id
         and daily.day >= coalesce(k.counted_before, '-infinity') and daily.day < today.day - 1)
    from chosen, today
   where k.account_id = chosen.account_id and k.key_id = chosen.key_id
     and (k.counted_before is null or k.counted_before < today.day - 1)
  returning k.key_id)
select account_id, key_id, (select count(*)::integer from counted) as counted
  from page order by account_id desc, key_id desc limit 1`

/** Brings the totals of all keys up to date. Safe to run in several processes at once. Returns how many totals it updated. */
export async function updateKeyTotals(sql: AnySql, signal?: AbortSignal): Promise<number> {
  let counted = 0
  let after = ['0', '0']
  for (let turn = 0; turn < STATEMENTS_MAX && !signal?.aborted; turn++) {
    const [last] = await sql.unsafe(COUNT, after)
    if (last === undefined) break
    counted += last.counted
    after = [String(last.account_id), String(last.key_id)]
  }
  return counted
}
