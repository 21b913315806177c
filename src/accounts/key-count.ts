/**
 * Moves what keys were charged on past days into one figure per key, so that limits which never start anew, and reports of
 * all that a key has cost, read the last days only.
 */

import type { AnySql } from '../lib/database.ts'

const KEYS_PER_STATEMENT = 500
const STATEMENTS_MAX = 200

/** Settlements of yesterday may still be under way when today begins, so the day before it is the last that is counted. */
const COUNT = `
with today as (select (now() at time zone 'Asia/Ho_Chi_Minh')::date as day),
chosen as (
  select account_id, key_id from api_key, today
   where counted_before is null or counted_before < today.day - 1
   order by account_id, key_id limit ${KEYS_PER_STATEMENT} for no key update of api_key skip locked)
update api_key k set counted_before = today.day - 1, counted_micro_vnd = k.counted_micro_vnd + (
    select coalesce(sum(charged_micro_vnd), 0) from usage_daily daily
     where daily.account_id = k.account_id and daily.key_id = k.key_id
       and daily.day >= coalesce(k.counted_before, '-infinity') and daily.day < today.day - 1)
  from chosen, today
 where k.account_id = chosen.account_id and k.key_id = chosen.key_id
   and (k.counted_before is null or k.counted_before < today.day - 1)
returning k.key_id`

/** May run in several processes at once. Returns how many keys it moved. */
export async function countKeys(sql: AnySql): Promise<number> {
  let counted = 0
  for (let turn = 0; turn < STATEMENTS_MAX; turn++) {
    const rows = await sql.unsafe(COUNT)
    counted += rows.length
    if (rows.length < KEYS_PER_STATEMENT) break
  }
  return counted
}
