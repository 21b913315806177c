/**
 * Counts calls by unknown model name: each name is a missing alias or somebody's typo. The counts are kept in memory and added
 * to daily totals in Postgres, so that operators see the calls of all processes. Counts still in memory when a process dies are
 * lost.
 */

import { maskSecrets } from '../conversation/mask.ts'
import type { QueueLoad } from '../lib/batcher.ts'
import { type AnySql, plainArray, textArray } from '../lib/database.ts'

/** `fell_back`: the fallback model served the call. `refused`: the endpoint has no fallback. */
export type UnknownOutcome = 'fell_back' | 'refused'

export interface UnknownModelsOptions {
  readonly sql: AnySql
  readonly report: (event: { level: 'info' | 'warn'; fields: object; message: string }) => void
  /** Maximum number of names in memory between two writes. Calls with any further name are counted only in `unnamed`. */
  readonly namesMax: number
  /** Maximum number of names stored per day; further names are ignored. */
  readonly namesPerDayMax: number
  /** Interval between writes, in ms. */
  readonly writeMs: number
}

export interface UnknownModels {
  /** On the hot path: must be cheap. */
  count(name: string, outcome: UnknownOutcome): void
  /** Number of calls with an unknown model since the process started. */
  readonly calls: Readonly<Record<UnknownOutcome, number>>
  /** Number of calls since the process started whose name was not recorded, because `namesMax` had been reached. */
  readonly unnamed: number
  readonly queue: QueueLoad
  /** Adds the counts to Postgres. Never rejects: counts that could not be written are retried next time. */
  write(): Promise<void>
  close(): Promise<void>
}

/** Names are truncated to this many characters, as in usage rows. */
const NAME_MAX = 256
/** Maximum number of names in one log line. */
const LOGGED_MAX = 20
/** Days after which a name is forgotten. */
export const UNKNOWN_MODELS_KEPT_DAYS = 90

const TODAY = `(now() at time zone 'Asia/Ho_Chi_Minh')::date`

/**
 * Updates rows in order of name, so that processes cannot deadlock. $4 is the maximum number of names per day; once a day has
 * that many, new names are ignored.
 */
const WRITE = `
with asked as (
  select name, fell_back, refused,
         exists (select from unknown_model known where known.day = ${TODAY} and known.name = given.name) as is_known
    from unnest($1::text[], $2::text::bigint[], $3::text::bigint[]) as given(name, fell_back, refused)),
  room as (
  select $4::text::integer - count(*) as names
    from (select from unknown_model where day = ${TODAY} limit $4::text::integer) as listed),
  ranked as (select *, row_number() over (partition by is_known order by fell_back + refused desc, name) as rank from asked)
insert into unknown_model as u (day, name, fell_back, refused)
select ${TODAY}, name, fell_back, refused from ranked, room where is_known or rank <= room.names order by name
on conflict (day, name) do update set fell_back = u.fell_back + excluded.fell_back, refused = u.refused + excluded.refused,
  last_at = now()`

/** Deletes old names, except for rows that another process is deleting. */
const FORGET = `delete from unknown_model where (day, name) in (
  select day, name from unknown_model where day < ${TODAY} - ${UNKNOWN_MODELS_KEPT_DAYS}
   order by day, name limit 10000 for update skip locked)`

interface Counts {
  fell_back: number
  refused: number
}

/** Starts counting, and writes periodically until closed. */
export function countUnknownModels(options: UnknownModelsOptions): UnknownModels {
  const { sql, report, namesMax, namesPerDayMax } = options
  const calls: Counts = { fell_back: 0, refused: 0 }
  let unnamed = 0
  let waiting = new Map<string, Counts>()
  let writing: Promise<void> = Promise.resolve()

  const add = (name: string, counts: Readonly<Counts>) => {
    const known = waiting.get(name)
    if (known !== undefined) {
      known.fell_back += counts.fell_back
      known.refused += counts.refused
    } else if (waiting.size < namesMax) waiting.set(name, { ...counts })
    else unnamed += counts.fell_back + counts.refused
  }

  const writeOnce = async () => {
    if (waiting.size === 0) return
    const taken = waiting
    waiting = new Map()
    const rows = [...taken].map(([name, counts]) => ({ name, ...counts }))
    try {
      await sql.unsafe(WRITE, [
        textArray(rows.map(row => row.name)),
        plainArray(rows.map(row => row.fell_back)),
        plainArray(rows.map(row => row.refused)),
        String(namesPerDayMax),
      ])
    } catch (cause) {
      for (const [name, counts] of taken) add(name, counts)
      return report({ level: 'warn', fields: { cause }, message: 'could not record unknown model names' })
    }
    report({
      level: 'info',
      fields: summaryOf(rows),
      message: 'clients requested unknown models; add aliases or check their settings',
    })
    await sql.unsafe(FORGET).catch(() => {})
  }
  const write = () => {
    writing = writing.then(writeOnce)
    return writing
  }
  const timer = setInterval(write, options.writeMs).unref()

  return {
    count(name, outcome) {
      calls[outcome]++
      add(cleanName(name), { fell_back: 0, refused: 0, [outcome]: 1 })
    },
    calls,
    get unnamed() {
      return unnamed
    },
    get queue() {
      return { name: 'unknown models', items: waiting.size, itemsMax: namesMax }
    },
    write,
    async close() {
      clearInterval(timer)
      await write()
    },
  }
}

/** Matches an API key that a client has put into the wrong setting: operators must not see it. */
const KEY = /sk-[\w-]{8,}/g

/** Returns the model's name as usage rows store it, but with API keys masked. */
function cleanName(name: string): string {
  return maskSecrets(name.slice(0, NAME_MAX).toWellFormed().replaceAll('\0', '').replace(KEY, 'sk-…'))
}

function summaryOf(rows: readonly (Counts & { readonly name: string })[]): object {
  const counted = rows.map(({ name, fell_back, refused }) => ({ name, calls: fell_back + refused }))
  const most = counted.toSorted((a, b) => b.calls - a.calls).slice(0, LOGGED_MAX)
  return {
    names: most,
    otherNames: counted.length - most.length,
    calls: counted.reduce((sum, row) => sum + row.calls, 0),
  }
}

export interface UnknownModel {
  readonly name: string
  /** Number of calls that the fallback served. */
  readonly fellBack: number
  /** Number of calls refused, on endpoints without a fallback. */
  readonly refused: number
  readonly lastAt: Date
}

const READ = `
select name, sum(fell_back)::text as fell_back, sum(refused)::text as refused, max(last_at) as last_at
  from unknown_model where day > ${TODAY} - $1::text::integer
 group by name order by sum(fell_back) desc, sum(refused) desc, name limit $2::text::integer`

/** The most frequent names of the last `days` days, today included. */
export async function readUnknownModels(
  sql: AnySql,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<readonly UnknownModel[]> {
  const rows = await sql.unsafe(READ, [String(days), String(limit)])
  return rows.map(row => ({
    name: row.name,
    fellBack: Number(row.fell_back),
    refused: Number(row.refused),
    lastAt: new Date(row.last_at),
  }))
}
