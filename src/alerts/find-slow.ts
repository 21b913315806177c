/** Finds alerts that depend on the date alone: models about to retire, and last week's summary. */

import type { CatalogueItem } from '../catalogue/catalogue.ts'
import { SQL_RECORD, SQL_TODAY, sqlVnd } from './record.ts'

/** Alerts every account that has called one of these models in the last 30 days. $3: the models that are about to retire. */
export const FIND_RETIRING = `
with ${SQL_TODAY},
ending as (
  select * from jsonb_to_recordset($3::text::jsonb) as model(model text, retires_on text, successor text, days integer)),
found as (
  select users.account_id, 'model.retiring' as kind, format('%s, %s, %s days', model, retires_on, days) as reference,
         jsonb_build_object('model', model, 'retires_on', retires_on, 'successor', successor) as data
    from ending cross join today
   cross join lateral (
     select distinct account_id from usage_daily where entry_id = ending.model and day >= today.day - 30) users)${SQL_RECORD}`

/** Summarises last week, Monday to Sunday, as soon as it is Monday 8:00 Vietnam time. $3: the alert kind. */
export const FIND_SUMMARIES = `
with week as (
  select date_trunc('week', now() at time zone 'Asia/Ho_Chi_Minh' - interval '8 hours')::date - 7 as first),
models as (
  select account_id, entry_id, sum(calls) as calls, sum(charged_micro_vnd) as charged
    from alert_settings join usage_daily using (account_id) cross join week
   where (mail ->> $3::text)::boolean and day >= week.first and day < week.first + 7
   group by 1, 2),
found as (
  select account_id, $3::text as kind, 'week of ' || week.first as reference,
         jsonb_build_object('from', week.first, 'to', week.first + 6, 'calls', sum(calls), 'charged', ${sqlVnd('sum(charged)')},
           'balance', (select ${sqlVnd('balance_micro_vnd')} from wallet where wallet.account_id = models.account_id),
           'models', (select jsonb_agg(jsonb_build_object('model', entry_id, 'calls', calls, 'charged', ${sqlVnd('charged')})
                                       order by charged desc)
                        from (select * from models top where top.account_id = models.account_id order by charged desc limit 3) top),
           'currency', 'VND') as data
    from models cross join week group by account_id, week.first)${SQL_RECORD}`

const DAY_MS = 86_400_000

interface Retiring {
  readonly model: string
  readonly retires_on: string
  readonly successor: string | null
  /** Length of the shortest notice period that has begun, in days. */
  readonly days: number
}

/** Returns the models whose longest notice period has begun. `noticeDays` are the notice periods in ascending order. */
export function retiringModels(
  items: readonly CatalogueItem[],
  nowMs: number,
  noticeDays: readonly number[],
): readonly Retiring[] {
  return items.flatMap(({ entry }) => {
    const { retiresOn = null, successor = null } = entry.deprecated ?? {}
    const daysLeft = retiresOn === null ? Number.NaN : (Date.parse(`${retiresOn}T00:00:00Z`) - nowMs) / DAY_MS
    const days = noticeDays.find(notice => daysLeft > 0 && daysLeft <= notice)
    return days === undefined || retiresOn === null ? [] : [{ model: entry.id, retires_on: retiresOn, successor, days }]
  })
}
