/** Finds balances that have become low or empty, and keys that have used most of their limit, in accounts with recent calls. */

import { CREDIT_KINDS } from '../lib/credit-kinds.ts'
import { SQL_KEY_FACTS, SQL_RECORD, SQL_TODAY, sqlVnd } from './record.ts'

/**
 * $3: the balance that counts as low, in whole dong; $4: how many days a balance should last; $5: the time from which to search
 * for top-ups. Spending per day is known only for accounts with calls before today, because the first day's use does not
 * predict later days. Until the next top-up, the stored alert level (0: none, 1: low, 2: empty) only rises, so fluctuating
 * spending does not raise the same alert twice. Refunds of calls do not change what counts as low, because the balance after a
 * refund says nothing about the last top-up. An account without recent calls is searched only if its balance was low and has been
 * topped up or corrected.
 *
 * Sums of finished days come from account_daily. The planner's row estimates for the newest days are unreliable. If it expected
 * few rows, it would compare every row of one list with every row of the other; `is true` makes it look up the accounts by hash
 * instead.
 */
export const FIND_BALANCES = `
with ${SQL_TODAY},
active as materialized (
  select account_id from usage_daily cross join today where usage_daily.day >= today.day - 1
   union
  select account_id from credit join alert_balance using (account_id) where level > 0 and at > $5::text::timestamptz),
days as (
  select account_id, account_daily.day, charged_micro_vnd as charged from account_daily cross join today
   where account_daily.day >= today.day - 6 and account_daily.day < (select days_summed_before from call_roll_up)
     and (account_id in (select account_id from active)) is true
   union all
  select account_id, usage_daily.day, charged_micro_vnd from usage_daily cross join today
   where usage_daily.day >= today.day - 6 and usage_daily.day >= (select days_summed_before from call_roll_up)
     and (account_id in (select account_id from active)) is true
   union all
  select account_id, null, 0 from active),
watched as materialized (
  select account_id, case when min(days.day) < max(today.day) then sum(charged) / (max(today.day) - min(days.day) + 1.0) end as daily
    from days cross join today group by account_id order by account_id),
figures as (
  select account_id, wallet.balance_micro_vnd as balance, latest.seq as credit_seq, latest.balance_after, daily,
         coalesce(before.level, 0) as level_before, latest.seq > coalesce(before.credit_seq, 0) as is_topped_up,
         coalesce(alert_settings.low_vnd * 1000000, least($3::text::bigint * 1000000, topped_up.balance_after / 5)) as threshold
    from watched join wallet using (account_id) left join alert_settings using (account_id)
    left join alert_balance before using (account_id)
   cross join lateral (
     select seq, balance_after_micro_vnd as balance_after from credit
      where credit.account_id = wallet.account_id and amount_micro_vnd > 0 order by seq desc limit 1) latest
   cross join lateral (
     select balance_after_micro_vnd as balance_after from credit
      where credit.account_id = wallet.account_id and amount_micro_vnd > 0 and kind <> ${CREDIT_KINDS.refund} order by seq desc limit 1) topped_up
   where before.level > 0
      or wallet.balance_micro_vnd < greatest(coalesce(alert_settings.low_vnd, $3::text::bigint) * 1000000,
                                             coalesce(daily, 0) * $4::text::integer)),
judged as (select figures.*, greatest(threshold, coalesce(daily, 0) * $4::text::integer) as low_below from figures),
-- The level after the previous search or, if there has been a top-up since, after that top-up.
bases as (
  select judged.*, case when not is_topped_up then level_before when balance_after < low_below then least(level_before, 1) else 0 end as base,
         case when balance = 0 then 2 when balance < low_below then 1 else 0 end as level_now
    from judged),
levels as (select bases.*, greatest(level_now, base) as level from bases),
changed as (
  insert into alert_balance as b (account_id, level, credit_seq, crossings)
  select account_id, level, credit_seq, 1 from levels where is_topped_up or level <> level_before
  on conflict (account_id) do update set level = excluded.level, credit_seq = excluded.credit_seq, crossings = b.crossings + 1
   where (b.level, b.credit_seq) <> (excluded.level, excluded.credit_seq)
  returning account_id, level, crossings),
found as (
  select account_id, case changed.level when 2 then 'balance.empty' else 'balance.low' end as kind,
         'crossing ' || crossings as reference,
         case changed.level when 2 then jsonb_build_object('balance', '0', 'currency', 'VND')
           else jsonb_build_object('balance', ${sqlVnd('balance')}, 'threshold', ${sqlVnd('threshold')},
                  'days_left', floor(balance / nullif(daily, 0)), 'currency', 'VND') end as data
    from changed join levels using (account_id)
   where changed.level > levels.base)${SQL_RECORD}`

/**
 * Reports each threshold, a percentage of the key's spending limit, once per reset period, and again if the limit has changed.
 * $3: the percentages to report. `offset 0` makes the planner look up the keys of the accounts with calls; otherwise it would
 * read all keys.
 */
export const FIND_CAPS = `
with ${SQL_TODAY},
active as materialized (
  select distinct account_id from usage_daily cross join today where usage_daily.day >= today.day - 1 order by account_id),
keys as (
  select k.*, key_standing(k.account_id, k.key_id) as standing
    from active cross join lateral (
      select * from api_key where api_key.account_id = active.account_id
         and monthly_cap_micro_vnd is not null and revoked_at is null and not playground offset 0) k),
found as (
  select k.account_id, 'key.limit_reached' as kind,
         format('key %s, %s, %s of %s', k.key_id, coalesce(limit_began(k.limit_reset)::text, 'for good'), reached.percent,
                k.monthly_cap_micro_vnd) as reference,
         jsonb_build_object(${SQL_KEY_FACTS}, 'limit', ${sqlVnd('standing[1]')}, 'used', ${sqlVnd('standing[2]')},
           'limit_reset', k.limit_reset, 'percent', reached.percent, 'currency', 'VND') as data
    from keys k
   cross join lateral (
     select max(percent) as percent from unnest($3::text::integer[]) percent
      where standing[2] * 100 >= standing[1] * percent) reached
   where reached.percent is not null)${SQL_RECORD}`
