/**
 * Limits each key's calls per minute across all processes by counting them in Postgres: no 60-second window contains more calls
 * than the limit. A key's row lists when calls were granted. Up to a limit of EXACT_LIMIT_MAX, it has an entry for each time at
 * which calls were granted. For higher limits, all calls of a second share an entry with the time of the latest one, so a call
 * may count for up to a second too long. Keys without a limit never get here.
 */

import { GatewayError } from '../errors.ts'
import { createBatcher, NOTHING_AGAIN, type QueueLoad, queueLoad } from '../lib/batcher.ts'
import { openStatementPool, type PoolLoad, plainArray } from '../lib/database.ts'

export interface RateLimiterOptions {
  readonly url: string
  readonly nowMs: () => number
  /** Maximum number of calls waiting for an answer. */
  readonly waitingMax?: number
  readonly batchMax?: number
  /**
   * Maximum number of keys cached as having used up their limit. Further calls with a cached key are refused without asking
   * Postgres.
   */
  readonly rememberedMax?: number
  /** Replaces Postgres' clock in tests. */
  readonly clock?: () => Date
}

export interface RateLimiter {
  /** Counts one call. Throws GatewayError `rate_limited` with the seconds to wait, or `ledger_unavailable`. */
  take(keyId: number, limitPerMinute: number): Promise<void>
  /** Clears the cache. Call it when limits have changed. */
  forget(): void
  readonly load: PoolLoad
  readonly queue: QueueLoad
  close(): Promise<void>
}

/**
 * The highest limit that is counted exactly. It also bounds the size of a row: at most 60 entries for calls counted exactly.
 * For higher limits, a row has at most 61 entries, because a minute touches at most 61 seconds.
 */
export const EXACT_LIMIT_MAX = 60
const MINUTE_MS = 60_000

/**
 * Updates the rows in the keys' order, so that processes cannot deadlock. In `excluded`, the row that would have been inserted,
 * `granted` is the number of calls requested, at most the limit. `width_bucket` finds by bisection how many values of a sorted
 * array are at most a given one. `offset 0` keeps the planner from inlining a subquery (`gone`, `live`, `taken`, `ended`) into
 * those that use it, where it would be computed again and again.
 */
const TAKE = `
insert into rate_grant as g (key_id, granted_at, totals, total_before, granted, allowed)
select asked.key_id, array[clock.at], array[first.calls], 0, first.calls, asked.allowed
  from unnest($1::text[]::bigint[], $2::text[]::bigint[], $3::text[]::bigint[]) as asked(key_id, calls, allowed),
       (select coalesce($4::text::timestamptz, now()) as at) as clock,
       lateral (select least(asked.calls, asked.allowed) as calls) as first
 order by asked.key_id
on conflict (key_id) do update set (granted_at, totals, total_before, granted, allowed) = (
  select case when taken.calls = 0 then live.times else live.times[:ended.entries] || taken.at end,
         case when taken.calls = 0 then live.totals else live.totals[:ended.entries] || live.total + taken.calls end,
         live.total_before, taken.calls, excluded.allowed
         -- Entries a minute old no longer count; if the clock was set back, no entry does.
    from (select case when g.granted_at[cardinality(g.granted_at)] > excluded.granted_at[1] + interval '1 minute'
                      then cardinality(g.granted_at)
                      else width_bucket(excluded.granted_at[1] - interval '1 minute', g.granted_at) end as entries offset 0) as gone,
         lateral (select g.granted_at[gone.entries + 1:] as times, g.totals[gone.entries + 1:] as totals,
                         coalesce(g.totals[gone.entries], g.total_before) as total_before,
                         g.totals[cardinality(g.totals)] as total offset 0) as live,
         lateral (select greatest(0, least(excluded.granted, excluded.allowed - live.total + live.total_before)) as calls,
                         greatest(excluded.granted_at[1], live.times[cardinality(live.times)]) as at offset 0) as taken,
         -- A grant in the same second, or at the same moment, is added to the last entry.
         lateral (select cardinality(live.times) - case when live.times[cardinality(live.times)]
                         >= case when excluded.allowed > ${EXACT_LIMIT_MAX} then date_trunc('second', taken.at) else taken.at end
                         then 1 else 0 end as entries offset 0) as ended)
returning g.key_id, new.granted::integer,
  case when new.totals[cardinality(new.totals)] - new.total_before >= new.allowed
       then extract(epoch from new.granted_at[1 + width_bucket(new.totals[cardinality(new.totals)] - new.allowed, new.totals)]
            + interval '1 minute' - coalesce($4::text::timestamptz, now()))::double precision * 1000 end as wait_ms`

interface Row {
  readonly key_id: string
  readonly granted: number
  /** Time until the next call can be granted, in ms; null if one can be granted now. */
  readonly wait_ms: number | null
}

interface Question {
  readonly keyId: number
  readonly limit: number
  readonly grant: () => void
  readonly refuse: (error: GatewayError) => void
}

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { waitingMax = 20_000, batchMax = 500, rememberedMax = 100_000, nowMs, clock } = options
  const pool = openStatementPool({
    url: options.url,
    name: 'gateway rate limits',
    connectionsMax: 1,
    // Losing counters when Postgres crashes is acceptable.
    synchronousCommit: 'off',
    statementTimeoutMs: 2_000,
    deadlineMs: 3_000,
    connectTimeoutMs: 3_000,
  })
  /** For each key that has used up its limit: when its next call may be granted. */
  const usedUp = new Map<number, number>()
  const batcher = createBatcher<Question>({ concurrency: 1, batchMax, queueOf: () => 0, run: batch => answer(batch) })

  /** Grants each key as many of its calls as its limit allows, in order. */
  async function answer(batch: readonly Question[]) {
    const byKey = Map.groupBy(batch, question => question.keyId)
    const askedMs = nowMs()
    try {
      const rows = await pool.query<Row>(TAKE, [
        plainArray(byKey.keys()),
        plainArray([...byKey.values()].map(questions => questions.length)),
        plainArray([...byKey.values()].map(questions => (questions[0] as Question).limit)),
        clock === undefined ? null : clock().toISOString(),
      ])
      for (const row of rows) {
        const keyId = Number(row.key_id)
        const questions = byKey.get(keyId) ?? []
        for (const question of questions.slice(0, row.granted)) question.grant()
        if (questions.length <= row.granted) continue
        const waitMs = Math.min(row.wait_ms ?? 0, MINUTE_MS)
        if (usedUp.size < rememberedMax) usedUp.set(keyId, askedMs + waitMs)
        for (const question of questions.slice(row.granted)) question.refuse(limited(question.limit, waitMs))
      }
    } catch (cause) {
      for (const question of batch) question.refuse(unavailable(cause))
    }
    return NOTHING_AGAIN
  }

  return {
    take(keyId, limit) {
      const untilMs = usedUp.get(keyId)
      if (untilMs !== undefined) {
        const waitMs = untilMs - nowMs()
        if (waitMs > 0) return Promise.reject(limited(limit, waitMs))
        usedUp.delete(keyId)
      }
      if (batcher.size >= waitingMax)
        return Promise.reject(unavailable('too many calls are waiting for the rate limit'))
      return new Promise((grant, refuse) => batcher.push({ keyId, limit, grant, refuse }))
    },
    forget: () => usedUp.clear(),
    get load() {
      return pool.load
    },
    get queue() {
      return queueLoad('rate limits', batcher, waitingMax)
    },
    async close() {
      await batcher.drained()
      await pool.close()
    },
  }
}

/** `retry-after` is rounded up to whole seconds: from 1 to 60. */
function limited(limit: number, waitMs: number): GatewayError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  const calls = limit === 1 ? '1 call' : `${limit} calls`
  return new GatewayError('rate_limited', {
    message: `This key is limited to ${calls} per minute; try again in ${retryAfterSeconds} s.`,
    retryAfterSeconds,
    limit: { source: 'calls_per_minute', limit },
  })
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('ledger_unavailable', { cause, retryAfterSeconds: 2 })
}
