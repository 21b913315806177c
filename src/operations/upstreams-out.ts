/**
 * Upstreams that an operator has taken out of service: no process sends them calls until a set time, or until an operator puts
 * them back.
 */

import type { AnySql } from '../lib/database.ts'
import { announce } from './channel.ts'

export interface UpstreamOut {
  readonly upstreamId: string
  /** Always above 0. */
  readonly secondsLeft: number
  readonly until: Date
  readonly since: Date
  readonly reason: string
  /** Email address of the operator. */
  readonly by: string
}

export const OUT_SECONDS_MAX = 7 * 86_400

const READ = `select upstream_id, extract(epoch from out_until - now())::double precision as seconds_left, out_until, since,
    reason, by_name from upstream_out where out_until > now() order by upstream_id`
const TAKE_OUT = `insert into upstream_out as o (upstream_id, out_until, reason, by_name)
  values ($1, now() + make_interval(secs => $2::text::integer), $3, $4)
  on conflict (upstream_id) do update set out_until = excluded.out_until, reason = excluded.reason,
    by_name = excluded.by_name, since = case when o.out_until > now() then o.since else now() end`
const PUT_IN = 'delete from upstream_out where upstream_id = $1 returning out_until > now() as was_out'

export async function readUpstreamsOut(sql: AnySql): Promise<readonly UpstreamOut[]> {
  const rows = await sql.unsafe(READ)
  return rows.map(row => ({
    upstreamId: row.upstream_id,
    secondsLeft: row.seconds_left,
    until: row.out_until,
    since: row.since,
    reason: row.reason,
    by: row.by_name,
  }))
}

/**
 * Takes an upstream out of service, or updates the time and reason if it is out already. Processes are notified on commit. Throws
 * RangeError unless `seconds` is a whole number from 1 to OUT_SECONDS_MAX.
 */
export async function takeUpstreamOut(
  sql: AnySql,
  given: { readonly upstreamId: string; readonly seconds: number; readonly reason: string; readonly by: string },
): Promise<void> {
  const { upstreamId, seconds, reason, by } = given
  if (!(Number.isInteger(seconds) && seconds > 0 && seconds <= OUT_SECONDS_MAX)) {
    throw new RangeError(`an upstream can be taken out for 1 to ${OUT_SECONDS_MAX} seconds`)
  }
  await sql.unsafe(TAKE_OUT, [upstreamId, String(seconds), reason, by])
  await announce(sql, 'upstreams')
}

/** Puts an upstream back into service. False if it was not out. */
export async function putUpstreamIn(sql: AnySql, upstreamId: string): Promise<boolean> {
  const [row] = await sql.unsafe(PUT_IN, [upstreamId])
  await announce(sql, 'upstreams')
  return row?.was_out === true
}
