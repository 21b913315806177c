/**
 * Registers this process in the database, and finds holds that dead processes left behind. All times come from Postgres.
 *
 * Each failover or restore begins a new *history* of the database; see `readHistory`.
 */

import type { EndpointCode } from '../catalogue/endpoints.ts'
import { plainArray, type StatementPool } from '../lib/database.ts'
import type { PlainFault } from '../lib/fault-text.ts'
import { ZERO_MICRO_VND } from '../lib/money.ts'
import type { Settlement } from './types.ts'

/** Status of a call whose process died before settling it. The call is not charged. */
export const INTERRUPTED_STATUS = 599

const REGISTER = 'insert into gateway_instance (name) values ($1) returning instance_id'
/**
 * Also takes the process's advisory lock. Postgres releases it when the connection closes, so a free lock means a dead process.
 */
const BEAT = `update gateway_instance set last_seen = now()
   where instance_id = $1::text::bigint and name = $2 and ended_at is null
  returning pg_try_advisory_lock(7, instance_id::integer) as locked,
            (select history from database_history) as history,
            (select database_id from database_identity) as database_id`
const BEGIN_HISTORY = `insert into database_timeline (timeline)
  values (substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)) on conflict do nothing`
const HISTORY = 'select history from database_history'
const END = 'update gateway_instance set ended_at = now() where instance_id = $1::text::bigint and ended_at is null'
/**
 * Silence before the current history began (`begun_at`) does not count: a restore brings back an old `last_seen`, and processes
 * need time to report again.
 */
const FENCE = `
with c as materialized (
  select instance_id, name from gateway_instance, database_history
   where ended_at is null and instance_id <> $1::text::bigint and history = $5
     and ((name = $2 and instance_id < $1::text::bigint)
       or (greatest(last_seen, begun_at) < now() - make_interval(secs => $3::text::double precision)
           and pg_postmaster_start_time() < now() - make_interval(secs => $4::text::double precision)))
   for update of gateway_instance skip locked)
update gateway_instance g set ended_at = now() from c
 where g.instance_id = c.instance_id and pg_try_advisory_xact_lock(7, c.instance_id::integer)
returning g.name`
const FENCE_NAMED = `
with c as materialized (
  select instance_id from gateway_instance, database_history where ended_at is null and name = $1 and history = $2
   for update of gateway_instance skip locked)
update gateway_instance g set ended_at = now() from c
 where g.instance_id = c.instance_id and pg_try_advisory_xact_lock(7, c.instance_id::integer)
returning g.instance_id`
/** Rows of calls that began more than 90 days ago are refused, so older holds are recorded as 89 days old. */
const HOLD_COLUMNS = `h.account_id, h.call_id, h.key_id, h.entry_id, h.requested_name, h.endpoint,
  to_char(greatest(h.opened_at, now() - interval '89 days'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as opened_at,
  least(2147483647, greatest(0, extract(epoch from now() - h.opened_at) * 1000))::integer as age_ms`
/** A hold that is to be placed only later was placed before Postgres' clock was set back; that time may be years away. */
const isOld = (seconds: string): string => {
  const age = `make_interval(secs => ${seconds}::text::double precision)`
  return `h.opened_at < now() - ${age} or h.opened_at > now() + ${age}`
}
/**
 * Selects holds of ended processes, but leaves two kinds alone for `lostAfterMs`. If the process ended before the current
 * history began, its spool may still have settlements for its holds. If the hold is newer than the end of its process, the
 * process was declared dead by mistake; it registers again under a new id and moves its holds there within seconds.
 */
const ABANDONED = `select ${HOLD_COLUMNS} from hold h join gateway_instance g using (instance_id)
  where h.call_id <> all ($1::uuid[])
   and (h.opened_at <= g.ended_at or ${isOld('$4')})
   and exists (
    select from database_history where history = $3
       and (g.ended_at >= begun_at
         or (g.ended_at is not null and begun_at < now() - make_interval(secs => $4::text::double precision))))
  limit $2::text::integer`
const TAKE_ALONG = `update hold set instance_id = $2::text::bigint
  where instance_id = $1::text::bigint and call_id = any ($3::uuid[])`
const FORGET = `delete from gateway_instance g where ended_at < now() - interval '30 days'
  and not exists (select 1 from hold h where h.instance_id = g.instance_id)`
const MINE = `select ${HOLD_COLUMNS} from hold h where h.instance_id = $1::text::bigint
  and (${isOld('$2')}) and h.call_id <> all ($3::uuid[])
  and exists (select from database_history where history = $5)
  limit $4::text::integer`

interface HoldRow {
  readonly account_id: string
  readonly call_id: string
  readonly key_id: string
  readonly entry_id: string
  readonly requested_name: string | null
  readonly endpoint: number
  readonly opened_at: string
  readonly age_ms: number
}

export async function registerInstance(pool: StatementPool, name: string): Promise<string> {
  const rows = await pool.query<{ instance_id: string }>(REGISTER, [name])
  return rows[0]!.instance_id
}

/** The process started with another database, whose settlements it may still have. */
export class DifferentDatabaseError extends Error implements PlainFault {
  readonly mayBeLogged = true

  constructor() {
    super('DATABASE_URL now leads to a different database; restart the gateway')
  }
}

/**
 * Reports that this process is alive. Resolves to null if the process must register again, because another process declared it
 * dead or a restore lost its row.
 */
export async function beat(
  pool: StatementPool,
  { instanceId, name }: { readonly instanceId: string; readonly name: string },
): Promise<{ history: string; databaseId: string } | null> {
  for (;;) {
    const rows = await pool.query<{ history: string | null; database_id: string }>(BEAT, [instanceId, name])
    const row = rows[0]
    if (row === undefined) return null
    if (row.history !== null) return { history: row.history, databaseId: row.database_id }
    await pool.query(BEGIN_HISTORY, [])
  }
}

/**
 * The id of the database's current history; null if no process has recorded it yet. A failover or a restore begins a new
 * history, in which settlements from the last few minutes may be missing and their holds may be back.
 */
export async function readHistory(pool: StatementPool): Promise<string | null> {
  return (await pool.query<{ history: string }>(HISTORY, []))[0]?.history ?? null
}

export async function endInstance(pool: StatementPool, instanceId: string): Promise<void> {
  await pool.query(END, [instanceId])
}

/**
 * Marks dead processes as ended: earlier ones of this name, and any that have been silent for `lostAfterMs`. In this function
 * and the next ones, `history` identifies the state of the database that received the settlements in this process's spool; a failover
 * or restore begins a new one. They do nothing if the database has another history.
 */
export async function fenceDead(
  pool: StatementPool,
  self: { instanceId: string; name: string; lostAfterMs: number; restartGraceMs: number; history: string | null },
): Promise<void> {
  const times = [String(self.lostAfterMs / 1000), String(self.restartGraceMs / 1000)]
  await pool.query(FENCE, [self.instanceId, self.name, ...times, self.history])
}

/** Marks the dead processes of this name as ended; resolves to true if there was one. */
export async function fenceNamed(
  pool: StatementPool,
  { name, history }: { name: string; history: string | null },
): Promise<boolean> {
  return (await pool.query(FENCE_NAMED, [name, history])).length > 0
}

/** Moves running calls' holds to the new instance id of this process, after it had to register again. */
export async function takeHoldsAlong(
  pool: StatementPool,
  move: { from: string; to: string; open: Iterable<string> },
): Promise<void> {
  await pool.query(TAKE_ALONG, [move.from, move.to, plainArray(move.open)])
}

/** Deletes processes that ended more than 30 days ago and have no holds left. */
export async function forgetEnded(pool: StatementPool): Promise<void> {
  await pool.query(FORGET, [])
}

/** Finds holds of ended processes, except for calls in `open`, and returns settlements that release them without charge. */
export async function findAbandoned(
  pool: StatementPool,
  given: { open: Iterable<string>; limit: number; lostAfterMs: number; history: string | null },
): Promise<readonly Settlement[]> {
  const { open, limit, lostAfterMs, history } = given
  const parameters = [plainArray(open), String(limit), history, String(lostAfterMs / 1000)]
  return (await pool.query<HoldRow>(ABANDONED, parameters)).map(interrupted)
}

/** Finds holds of this process without a running call, and returns settlements that release them without charge. */
export async function findOrphans(
  pool: StatementPool,
  self: { instanceId: string; olderThanMs: number; open: Iterable<string>; limit: number; history: string | null },
): Promise<readonly Settlement[]> {
  const { instanceId, olderThanMs, open, limit, history } = self
  const parameters = [instanceId, String(olderThanMs / 1000), plainArray(open), String(limit), history]
  return (await pool.query<HoldRow>(MINE, parameters)).map(interrupted)
}

function interrupted(row: HoldRow): Settlement {
  return {
    callId: row.call_id,
    accountId: Number(row.account_id),
    keyId: Number(row.key_id),
    entryId: row.entry_id,
    requestedName: row.requested_name,
    endpoint: row.endpoint as EndpointCode,
    costMicroVnd: ZERO_MICRO_VND,
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    images: 0,
    priceVnd: 0,
    pricePer: 'request',
    openedAt: new Date(row.opened_at),
    firstByteMs: null,
    latencyMs: row.age_ms,
    status: INTERRUPTED_STATUS,
    streamed: false,
    estimated: false,
  }
}
