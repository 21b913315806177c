/**
 * Adds finished calls to hourly sums in the background, so that reports by upstream do not slow down the calls themselves. A
 * table stores the time up to which all calls have been counted, called the mark. The transaction that counts calls also moves
 * the mark, so each call is counted once.
 */

import type { Sql, TransactionSql } from '../lib/database.ts'

export interface RollUpOptions {
  /** Maximum number of transactions per run; each counts the calls of one period. */
  readonly turnsMax?: number
  /** Minimum length of the period that one transaction counts, in seconds. */
  readonly secondsMin?: number
  readonly secondsMax?: number
  /**
   * Calls that ended fewer seconds ago than this are not counted yet. Must exceed the time from a settlement's timestamp to its
   * first lock (see `finalBefore`).
   */
  readonly lagSeconds?: number
  readonly signal?: AbortSignal
}

export interface RolledUp {
  readonly calls: number
  /** Whether every call that ended more than `lagSeconds` ago has been counted, if its settlement has been committed. */
  readonly done: boolean
}

/** If a transaction counted more than MANY_CALLS, the next period is shorter; if fewer than FEW_CALLS, longer. */
const MANY_CALLS = 20_000
const FEW_CALLS = 2_000
/** Number of days for which the counts of attempts, and of calls by time to first byte, are kept. */
const ATTEMPT_DAYS = 35
export const CALL_DAYS = 400

/** The SQL statements that maintain one kind of sums. */
export interface RollUp {
  /** Locks and reads the mark; $1: length of the period in seconds, $2: the lag in seconds. Made by `markOf`. */
  readonly mark: string
  /** Counts the calls that ended from $1 to before $2. Returns one row with the number of `calls`. */
  readonly count: string
  /** Moves the mark to $1. */
  readonly move: string
  /** Statements that merge or delete old sums. They are run after all calls have been counted. */
  readonly tidy: readonly string[]
}

/**
 * SQL for the time before which no row will be added to a journal table any more. A row has the time at which its transaction
 * began. Until that has locked the table, `seconds` is the wait for it; then only its commit ends the wait, because a stalled disk
 * or a lost standby can keep a commit waiting for minutes.
 */
export const finalBefore = (table: 'usage' | 'credit', seconds: string): string => `least(
    now() - make_interval(secs => ${seconds}::text::integer),
    (select min(writer.xact_start) from pg_stat_activity writer join pg_locks held using (pid)
      where writer.datname = current_database() and held.database = writer.datid
        and held.relation = '${table}'::regclass and held.mode = 'RowExclusiveLock'))`

/** SQL that locks the mark in its one-row table, and returns it with the end of the next period. */
export const markOf = (table: string): string => `select closed_before::text as since,
    least(closed_before + make_interval(secs => $1::text::integer), final_before)::text as until,
    closed_before + make_interval(secs => $1::text::integer) >= final_before as is_last,
    closed_before >= final_before as is_done
  from ${table} cross join lateral (select ${finalBefore('usage', '$2')} as final_before) journal
   for no key update of ${table}`

export const moveOf = (table: string): string => `update ${table} set closed_before = $1::text::timestamptz`

/**
 * Counting a period looks up every account that had calls on the days of that period. With a million accounts, that exceeds the
 * usual statement timeout.
 */
const PATIENCE = `set local statement_timeout = '60s'`

/** Runs a transaction whose statements may take a minute each. */
export async function patiently<Result>(
  sql: Sql,
  work: (transaction: TransactionSql) => Promise<Result>,
): Promise<Awaited<Result>> {
  return sql.begin(async transaction => {
    await transaction.unsafe(PATIENCE)
    return await work(transaction)
  }) as Promise<Awaited<Result>>
}

const dayOf = (time: string): string => `(${time}::text::timestamptz at time zone 'Asia/Ho_Chi_Minh')::date`

/** SQL for the bucket of a duration in ms in a logarithmic histogram: eight buckets per doubling. */
const stepOf = (ms: string): string => `floor(8 * log(2, greatest(1, ${ms})::numeric))::smallint`

/**
 * Calls are indexed by time only within an account, so the daily sums are used to find the accounts that had calls. `offset 0`
 * stops the planner from starting with `usage` instead, whose statistics do not cover the last minutes.
 */
export const ENDED = `accounts as (
  select distinct account_id from usage_daily where day between ${dayOf('$1')} and ${dayOf('$2')}),
ended as materialized (
  select date_trunc('hour', calls.closed_at, 'UTC') as hour, calls.*
    from accounts cross join lateral (
      select * from usage
       where usage.account_id = accounts.account_id
         and closed_at >= $1::text::timestamptz and closed_at < $2::text::timestamptz offset 0) calls)`
const COUNT = `
with ${ENDED},
hours as (
  select hour, entry_id, coalesce(split_part(attempts -> -1 ->> 'credential', '#', 1), '') as upstream_id, status,
         count(*) as calls, sum(input_tokens) as input_tokens, sum(cached_input_tokens) as cached_input_tokens,
         sum(output_tokens) as output_tokens, sum(images) as images, sum(charged_micro_vnd) as charged,
         coalesce(sum(upstream_cost_micro_vnd), 0) as upstream_cost, count(upstream_cost_micro_vnd) as upstream_cost_calls,
         max(latency_ms) as latency_ms_max,
         min(call_id::text collate "C")::uuid as first_call_id, max(call_id::text collate "C")::uuid as last_call_id
    from ended group by 1, 2, 3, 4),
counted_calls as (
  insert into call_hourly as h (hour, entry_id, upstream_id, status, calls, input_tokens, cached_input_tokens, output_tokens,
                                images, charged_micro_vnd, upstream_cost_micro_vnd, upstream_cost_calls, latency_ms_max,
                                first_call_id, last_call_id)
  select * from hours
  on conflict (hour, entry_id, upstream_id, status) do update set
         calls = h.calls + excluded.calls, input_tokens = h.input_tokens + excluded.input_tokens,
         cached_input_tokens = h.cached_input_tokens + excluded.cached_input_tokens,
         output_tokens = h.output_tokens + excluded.output_tokens, images = h.images + excluded.images,
         charged_micro_vnd = h.charged_micro_vnd + excluded.charged_micro_vnd,
         upstream_cost_micro_vnd = h.upstream_cost_micro_vnd + excluded.upstream_cost_micro_vnd,
         upstream_cost_calls = h.upstream_cost_calls + excluded.upstream_cost_calls,
         latency_ms_max = greatest(h.latency_ms_max, excluded.latency_ms_max),
         first_call_id = least(h.first_call_id, excluded.first_call_id),
         last_call_id = greatest(h.last_call_id, excluded.last_call_id)),
-- The time to a stream's first byte is counted from the beginning of the attempt that served it.
tries as (
  select hour, split_part(attempt ->> 'credential', '#', 1) as upstream_id, attempt ->> 'outcome' as outcome,
         coalesce((attempt ->> 'status')::smallint, 0) as status,
         case when attempt ->> 'outcome' = 'ok' and streamed and first_byte_ms is not null
           then ${stepOf("first_byte_ms - (attempt ->> 'startedMs')::integer")}
           else -1 end as first_byte_step
    from ended cross join lateral jsonb_array_elements(attempts) as attempt),
counted_tries as (
  insert into attempt_hourly as h (hour, upstream_id, outcome, status, first_byte_step, attempts)
  select hour, upstream_id, outcome, status, first_byte_step, count(*) from tries group by 1, 2, 3, 4, 5
  on conflict (hour, upstream_id, outcome, status, first_byte_step) do update set attempts = h.attempts + excluded.attempts),
-- How long customers waited for the first byte: counted from the beginning of the call, over all attempts.
counted_first_bytes as (
  insert into first_byte_hourly as h (hour, entry_id, first_byte_step, calls)
  select hour, entry_id, ${stepOf('first_byte_ms')}, count(*) from ended
   where streamed and first_byte_ms is not null and status < 400 group by 1, 2, 3
  on conflict (hour, entry_id, first_byte_step) do update set calls = h.calls + excluded.calls)
select count(*)::integer as calls from ended`

const FORGET = [
  `delete from attempt_hourly where hour < now() - interval '${ATTEMPT_DAYS} days'`,
  `delete from first_byte_hourly where hour < now() - interval '${ATTEMPT_DAYS} days'`,
  `delete from call_hourly where hour < now() - interval '${CALL_DAYS} days'`,
]

export const CALLS: RollUp = {
  mark: markOf('call_roll_up'),
  count: COUNT,
  move: moveOf('call_roll_up'),
  tidy: FORGET,
}

/** Sums calls by hour, entry, upstream and status, and counts attempts by outcome, over all accounts. */
export function rollUpCalls(sql: Sql, options?: RollUpOptions): Promise<RolledUp> {
  return rollUp(sql, CALLS, options)
}

/**
 * Counts the calls that have ended since the last run, one period after another. Several processes may call it: they take turns.
 */
export async function rollUp(
  sql: Sql,
  { mark: markStatement, count: countStatement, move, tidy }: RollUp,
  options: RollUpOptions = {},
): Promise<RolledUp> {
  const { turnsMax = 500, secondsMin = 30, secondsMax = 3_600, lagSeconds = 60, signal } = options
  let calls = 0
  let seconds = secondsMin
  for (let turn = 0; turn < turnsMax && !signal?.aborted; turn++) {
    const counted = await patiently(sql, async transaction => {
      const [mark] = await transaction.unsafe(markStatement, [String(seconds), String(lagSeconds)])
      if (mark === undefined || mark.is_done) return null
      const [row] = await transaction.unsafe(countStatement, [mark.since, mark.until])
      await transaction.unsafe(move, [mark.until])
      return { calls: Number(row?.calls), isLast: Boolean(mark.is_last) }
    })
    if (counted === null || counted.isLast) {
      for (const statement of tidy) await patiently(sql, transaction => transaction.unsafe(statement))
      return { calls: calls + (counted?.calls ?? 0), done: true }
    }
    calls += counted.calls
    if (counted.calls < FEW_CALLS) seconds = Math.min(secondsMax, seconds * 2)
    else if (counted.calls > MANY_CALLS) seconds = Math.max(secondsMin, Math.floor(seconds / 2))
  }
  return { calls, done: false }
}

/** The time up to which all calls have been counted. */
export async function readRolledUpTo(sql: Pick<Sql, 'unsafe'>): Promise<Date> {
  const [row] = await sql.unsafe('select closed_before from call_roll_up')
  return row?.closed_before
}
