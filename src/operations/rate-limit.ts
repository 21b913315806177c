/**
 * Calls per minute and key, counted for all processes in Postgres. The minute slides: what counts is the calls of this minute
 * of the clock and, of the minute before, the share that lies less than 60 s back. Keys without a limit never come here.
 */

import { GatewayError } from '../errors.ts'
import { openStatementPool, type PoolLoad, plainArray, type StatementPool } from '../lib/database.ts'
import { createLanes, NOTHING_AGAIN } from '../lib/lanes.ts'

export interface RateLimiterOptions {
  readonly url: string
  readonly nowMs: () => number
  /** Questions that wait at the same time. */
  readonly waitingMax?: number
  readonly batchMax?: number
  /** Keys whose limit is known to be used up, so that their further calls need no statement. */
  readonly rememberedMax?: number
}

export interface RateLimiter {
  /** Counts one call. Throws GatewayError `rate_limited` with the seconds to wait, or `ledger_unavailable`. */
  take(keyId: number, limitPerMinute: number): Promise<void>
  /** Limits have changed: what is known of them is forgotten. */
  forget(): void
  readonly load: PoolLoad
  close(): Promise<void>
}

/** In key order, so that processes never wait for each other in a circle. `excluded.used` is what is asked for. */
const TAKE = `
insert into rate_window as w (key_id, started_at, used, previous, allowed)
select r.key_id, date_trunc('minute', now()), least(r.calls, r.allowed), 0, r.allowed
  from unnest($1::text[]::bigint[], $2::text[]::integer[], $3::text[]::integer[]) as r(key_id, calls, allowed)
 order by r.key_id
on conflict (key_id) do update set
  started_at = greatest(w.started_at, excluded.started_at),
  previous = case when w.started_at >= excluded.started_at then w.previous
                  when w.started_at = excluded.started_at - interval '1 minute' then w.used else 0 end,
  used = case when w.started_at >= excluded.started_at then w.used else 0 end
    + greatest(0, least(excluded.used, floor(excluded.allowed - (
        case when w.started_at >= excluded.started_at then w.used + w.previous * (1 - extract(second from now()) / 60)
             when w.started_at = excluded.started_at - interval '1 minute' then w.used * (1 - extract(second from now()) / 60)
             else 0 end))))::integer,
  allowed = excluded.allowed
returning w.key_id, new.used, new.previous,
  new.used - case when old.started_at = new.started_at then old.used else 0 end as granted,
  extract(second from now())::double precision as elapsed_seconds`

interface Row {
  readonly key_id: string
  readonly used: number
  readonly previous: number
  readonly granted: number
  readonly elapsed_seconds: number
}

interface Question {
  readonly keyId: number
  readonly limit: number
  readonly grant: () => void
  readonly refuse: (error: GatewayError) => void
}

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { waitingMax = 20_000, batchMax = 500, rememberedMax = 100_000, nowMs } = options
  const pool = openStatementPool({
    url: options.url,
    name: 'gateway rate limits',
    connectionsMax: 1,
    // Counters may be lost with the server.
    synchronousCommit: 'off',
    statementTimeoutMs: 2_000,
    deadlineMs: 3_000,
    connectTimeoutSeconds: 3,
  })
  /** By key: when its next call may be granted. */
  const usedUp = new Map<number, number>()
  const lanes = createLanes<Question>({ lanes: 1, batchMax, laneOf: () => 0, run: batch => answer(pool, batch) })

  return {
    take(keyId, limit) {
      const untilMs = usedUp.get(keyId)
      if (untilMs !== undefined) {
        const waitMs = untilMs - nowMs()
        if (waitMs > 0) return Promise.reject(limited(limit, Math.ceil(waitMs / 1000)))
        usedUp.delete(keyId)
      }
      if (lanes.size >= waitingMax) return Promise.reject(unavailable('too many calls wait for their rate limit'))
      return new Promise((resolve, reject) => {
        const refuse = (error: GatewayError): void => {
          const { retryAfterSeconds } = error.details
          if (error.code === 'rate_limited' && retryAfterSeconds !== undefined && usedUp.size < rememberedMax) {
            usedUp.set(keyId, nowMs() + retryAfterSeconds * 1000)
          }
          reject(error)
        }
        lanes.push({ keyId, limit, grant: resolve, refuse })
      })
    },
    forget: () => usedUp.clear(),
    get load() {
      return pool.load
    },
    async close() {
      await lanes.drained()
      await pool.close()
    },
  }
}

/** Grants each key as many of its questions as there is room for, the first ones first. */
async function answer(pool: StatementPool, batch: readonly Question[]) {
  const byKey = Map.groupBy(batch, question => question.keyId)
  try {
    const rows = await pool.query<Row>(TAKE, [
      plainArray(byKey.keys()),
      plainArray([...byKey.values()].map(questions => questions.length)),
      plainArray([...byKey.values()].map(questions => (questions[0] as Question).limit)),
    ])
    for (const row of rows) {
      const questions = byKey.get(Number(row.key_id)) ?? []
      for (const question of questions.slice(0, row.granted)) question.grant()
      for (const question of questions.slice(row.granted))
        question.refuse(limited(question.limit, waitSeconds(row, question)))
    }
  } catch (cause) {
    for (const question of batch) question.refuse(unavailable(cause))
  }
  return NOTHING_AGAIN
}

/** Whole seconds until one more call fits, if no other is made; from 1 to 120. */
export function waitSeconds(
  { used, previous, elapsed_seconds: elapsed }: Pick<Row, 'used' | 'previous' | 'elapsed_seconds'>,
  { limit }: { readonly limit: number },
): number {
  const room = limit - 1
  // In this minute: the share of the minute before shrinks until there is room beside what was used.
  const at = used <= room && previous > 0 ? 60 * (1 - (room - used) / previous) : Number.POSITIVE_INFINITY
  // In the next: what was used now is the minute before.
  const later = 60 + (used > room ? 60 * (1 - room / used) : 0)
  return Math.max(1, Math.ceil(Math.min(at, later) - elapsed))
}

function limited(limit: number, retryAfterSeconds: number): GatewayError {
  return new GatewayError('rate_limited', {
    message: `This key may make ${limit} calls per minute; try again in ${retryAfterSeconds} s.`,
    retryAfterSeconds,
  })
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('ledger_unavailable', { cause, retryAfterSeconds: 2 })
}
