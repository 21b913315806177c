/** Metrics of the Postgres server (sessions, database size), and of background tasks that one process runs for all. */

import type { Sql } from '../lib/database.ts'
import { type Family, gauge, type Labels } from '../lib/metrics.ts'

export interface ServerState {
  readonly sessions: readonly { readonly pool: string; readonly state: string; readonly count: number }[]
  readonly sessionsUsed: number
  readonly sessionsMax: number
  readonly bytes: number
  readonly tasks: readonly {
    readonly task: string
    readonly ranAtSeconds: number
    readonly finishedAtSeconds: number
  }[]
}

const SESSIONS = `select application_name as pool, coalesce(state, 'starting') as state, count(*)::integer as count
  from pg_stat_activity where application_name like 'gateway%' and datname = current_database() group by 1, 2`
const SERVER = `select (select count(*)::integer from pg_stat_activity where backend_type = 'client backend') as used,
  current_setting('max_connections')::integer as max, pg_database_size(current_database())::double precision as bytes`
const TASKS = `select task, extract(epoch from ran_at)::double precision as ran_at,
  extract(epoch from finished_at)::double precision as finished_at from housekeeping`

export async function readServer(sql: Sql): Promise<ServerState> {
  const sessions = await sql.unsafe(SESSIONS)
  const [server] = await sql.unsafe(SERVER)
  const tasks = await sql.unsafe(TASKS)
  return {
    sessions: sessions.map(({ pool, state, count }) => ({ pool, state, count })),
    sessionsUsed: server!.used,
    sessionsMax: server!.max,
    bytes: server!.bytes,
    tasks: tasks.map(({ task, ran_at, finished_at }) => ({
      task,
      ranAtSeconds: ran_at,
      finishedAtSeconds: finished_at,
    })),
  }
}

/** Returns the metric families, without values as long as nothing has been read (`state` is null). */
export function serverFamilies(state: ServerState | null): readonly Family[] {
  const known = (value: (state: ServerState) => number) => (state === null ? [] : value(state))
  const each = (pairs: (state: ServerState) => readonly (readonly [Labels, number])[]) =>
    state === null ? [] : pairs(state)
  return [
    gauge(
      'gateway_database_sessions',
      'Sessions of all processes at Postgres, by pool and state.',
      each(({ sessions }) => sessions.map(({ pool, state: at, count }) => [{ pool, state: at }, count])),
    ),
    gauge(
      'gateway_database_sessions_used',
      'Sessions at Postgres, those of other programs included.',
      known(({ sessionsUsed }) => sessionsUsed),
    ),
    gauge(
      'gateway_database_sessions_max',
      'Sessions that Postgres allows.',
      known(({ sessionsMax }) => sessionsMax),
    ),
    gauge(
      'gateway_database_bytes',
      'Size of the database.',
      known(({ bytes }) => bytes),
    ),
    gauge(
      'gateway_task_timestamp_seconds',
      'When a task that one process runs on behalf of all last began, in seconds since 1970.',
      each(({ tasks }) => tasks.map(({ task, ranAtSeconds }) => [{ task }, ranAtSeconds])),
    ),
    gauge(
      'gateway_task_finished_timestamp_seconds',
      'When such a task last ended without an error, in seconds since 1970.',
      each(({ tasks }) => tasks.map(({ task, finishedAtSeconds }) => [{ task }, finishedAtSeconds])),
    ),
  ]
}
