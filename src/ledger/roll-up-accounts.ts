/**
 * Rolls up calls for customers' pages: by account, hour, key, entry, status and tag, so that the sums for every filter are ready.
 */

import type { Sql } from '../lib/database.ts'
import { ENDED, markOf, moveOf, type RolledUp, type RollUp, type RollUpOptions, rollUp } from './roll-up.ts'

/** Number of days for which hourly sums are kept; older ones are merged into one row per day. */
export const HOURS_DAYS = 35
/** Number of days for which daily sums are kept: longer than any period that a page shows, but calls may be kept for longer. */
export const SUMS_DAYS = 400

const SUMS = ['calls', 'input_tokens', 'cached_input_tokens', 'output_tokens', 'reasoning_tokens', 'images']
const COLUMNS = [...SUMS, 'charged_micro_vnd']
const SUMMED = COLUMNS.map(name => `sum(${name})`).join(', ')
const ADDED = COLUMNS.map(name => `${name} = h.${name} + excluded.${name}`).join(', ')
const INTO = `insert into usage_hourly as h (account_id, hour, key_id, entry_id, status, tag, ${COLUMNS.join(', ')})`
const ON_CONFLICT = `on conflict (account_id, hour, key_id, entry_id, status, tag) do update set ${ADDED}`

const COUNT = `
with ${ENDED},
counted as (
  ${INTO}
  select account_id, hour, key_id, entry_id, status, coalesce(tag, ''), count(*), sum(input_tokens),
         sum(cached_input_tokens), sum(output_tokens), sum(reasoning_tokens), sum(images), sum(charged_micro_vnd)
    from ended group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
  ${ON_CONFLICT})
select count(*)::integer as calls from ended`

/** Merges the oldest hourly rows, a limited number per run, into daily rows. */
const MERGE = `
with merged as (
  delete from usage_hourly where ctid = any(array(
    select ctid from usage_hourly
     where extract(hour from hour at time zone 'Asia/Ho_Chi_Minh') <> 0 and hour < now() - interval '${HOURS_DAYS} days'
     order by hour limit 20000))
  returning *)
${INTO}
select account_id, date_trunc('day', hour at time zone 'Asia/Ho_Chi_Minh') at time zone 'Asia/Ho_Chi_Minh', key_id, entry_id,
       status, tag, ${SUMMED}
  from merged group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
${ON_CONFLICT}`
const FORGET = `delete from usage_hourly where hour < now() - interval '${SUMS_DAYS} days'`

export const ACCOUNTS: RollUp = {
  mark: markOf('usage_roll_up'),
  count: COUNT,
  move: moveOf('usage_roll_up'),
  tidy: [MERGE, FORGET],
}

/** Counts the calls that have ended since the last run. Several processes may call it: they take turns. */
export function rollUpAccounts(sql: Sql, options?: RollUpOptions): Promise<RolledUp> {
  return rollUp(sql, ACCOUNTS, options)
}
