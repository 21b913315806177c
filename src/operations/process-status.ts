/** Status reports of running gateways, one row each, for the command line. */

import type { AnySql } from '../lib/database.ts'

export interface ProcessStatus<Status> {
  readonly name: string
  readonly seenSecondsAgo: number
  readonly status: Status
}

/** A process counts as gone after this many seconds without a report. */
export const LOST_AFTER_SECONDS = 30

const WRITE = `insert into process_status (name, status) values ($1, $2::text::jsonb)
  on conflict (name) do update set seen_at = now(), status = excluded.status`
const FORGET = `delete from process_status where name = $1 or seen_at < now() - interval '1 day'`
const READ = `select name, greatest(0, extract(epoch from now() - seen_at))::integer as seconds, status::text as status
  from process_status where seen_at > now() - make_interval(secs => $1::text::integer) order by name`

const OTHERS = `select count(*)::integer as others from process_status
  where name <> $1 and seen_at > now() - make_interval(secs => $2::text::integer)`

/** Counts the serving processes, except the one called `name`. */
export async function countOthers(sql: AnySql, name: string): Promise<number> {
  return (await sql.unsafe(OTHERS, [name, String(LOST_AFTER_SECONDS)]))[0]?.others
}

export async function writeProcessStatus(sql: AnySql, name: string, status: object): Promise<void> {
  await sql.unsafe(WRITE, [name, JSON.stringify(status)])
}

/** Deletes the row of a process, and the rows of processes long gone. */
export async function forgetProcess(sql: AnySql, name: string): Promise<void> {
  await sql.unsafe(FORGET, [name])
}

/** Reads the reports. `Status` is their type, but processes of the previous version may have written some of them. */
export async function readProcessStatus<Status>(sql: AnySql): Promise<readonly ProcessStatus<Status>[]> {
  const rows = await sql.unsafe(READ, [String(LOST_AFTER_SECONDS)])
  return rows.map(row => ({
    name: row.name,
    seenSecondsAgo: row.seconds,
    status: JSON.parse(row.status) as Status,
  }))
}
