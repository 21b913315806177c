/** The tasks for alerts that housekeeping runs: searching for new alerts and deleting old ones. */

import { runAll } from '../lib/run-all.ts'
import { FIND_BALANCES, FIND_CAPS } from './find-balance.ts'
import { FIND_EVENTS } from './find-events.ts'
import { FIND_RETIRING, FIND_SUMMARIES, retiringModels } from './find-slow.ts'
import type { AlertKind } from './kinds.ts'
import { recordAlerts } from './record.ts'
import type { AlertServices } from './types.ts'
import { sweepWebhookSecrets } from './webhook-secrets.ts'

/** A previous search in the future was before Postgres' clock was set back. */
const SCAN = `select now()::text as now,
    (least(now(), greatest(scanned_at, now() - make_interval(secs => $2::text::integer)))
      - make_interval(secs => $1::text::integer))::text as since
  from alert_scan`
const SCANNED = 'update alert_scan set scanned_at = $1::text::timestamptz'
/** A search looks back at most a day: after a longer outage, nobody wants to hear about every top-up. */
const CATCH_UP_SECONDS = 86_400

/**
 * Records alerts for what has happened since the previous search. Returns the number of new alerts. A finder that fails does not
 * keep the others from finding theirs, but the next search begins where this one did.
 */
export async function findAlerts(services: AlertServices): Promise<number> {
  const { sql, limits } = services
  const [scan] = await sql.unsafe(SCAN, [String(limits.overlapSeconds), String(CATCH_UP_SECONDS)])
  if (scan === undefined) throw new Error('the table alert_scan is empty; it must have exactly one row')
  const finders: (readonly [finder: string, parameters: readonly string[]])[] = [
    ...FIND_EVENTS.map(finder => [finder, [scan.since]] as const),
    [FIND_BALANCES, [String(limits.lowVnd), String(limits.lowDays), scan.since]],
    [FIND_CAPS, [`{${limits.capPercents.join(',')}}`]],
  ]
  let found = 0
  await runAll(
    finders.map(([finder, parameters]) => async () => {
      found += await recordAlerts(services, finder, parameters)
    }),
  )
  await sql.unsafe(SCANNED, [scan.now])
  return found
}

/** Records the alerts that depend on the date alone. */
export async function findSlowAlerts(services: AlertServices): Promise<number> {
  const { catalogue, limits, nowMs } = services
  const retiring = retiringModels(catalogue.items, nowMs(), limits.retiringDays)
  const models = retiring.length === 0 ? 0 : await recordAlerts(services, FIND_RETIRING, [JSON.stringify(retiring)])
  return models + (await recordAlerts(services, FIND_SUMMARIES, ['summary.weekly' satisfies AlertKind]))
}

/** An alert about a key's limit that never resets is kept: without it, the limit would be reported as reached once more. */
const FORGET = `
with gone as (
  delete from alert where alert_id in (
    select alert_id from alert
     where at < now() - make_interval(secs => $1::text::integer)
       and (kind <> 'key.limit_reached' or data ->> 'limit_reset' is not null)
     order by at limit 10000)
  returning alert_id)
delete from alert_delivery using gone where alert_delivery.alert_id = gone.alert_id`

export async function sweepAlerts({ sql, limits }: AlertServices): Promise<void> {
  await sql.unsafe(FORGET, [String(limits.keptSeconds)])
  await sweepWebhookSecrets(sql)
}
