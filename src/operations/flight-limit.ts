/**
 * Limits each key's calls in flight across all processes. Each process counts its own calls. It may use a small share of every
 * limit without asking; for more, it takes slots in the key's row in Postgres, which all processes update. Slots expire unless
 * the process that took them renews them. A process that serves alone never asks Postgres.
 */

import { GatewayError } from '../errors.ts'
import { createBatcher, NOTHING_AGAIN, type QueueLoad, queueLoad } from '../lib/batcher.ts'
import { openStatementPool, type PoolLoad, plainArray } from '../lib/database.ts'
import { TransientMap } from '../lib/transient.ts'

export interface FlightLimiterOptions {
  readonly url: string
  /** Unique among running processes. */
  readonly name: string
  readonly waitingMax?: number
  readonly batchMax?: number
  /** How long the slots of ended calls are kept before they are given back, in ms. */
  readonly giveBackMs?: number
  /** Pause between renewals of the slots taken, in ms. */
  readonly renewMs?: number
}

export interface FlightLimiter {
  /**
   * Takes a slot for a call. Returns null if the call may start at once, or else a promise that resolves when it may. Call
   * `release` once for each admitted call when it ends. Rejects with GatewayError `rate_limited`, or with `ledger_unavailable`
   * if the database was needed and is not responding.
   */
  take(keyId: number, limit: number): Promise<void> | null
  release(keyId: number): void
  /** Number of calls refused since the process started because their key had too many in flight. */
  readonly refused: number
  /** Sets the number of serving processes, this one included. */
  setProcesses(count: number): void
  readonly load: PoolLoad
  readonly queue: QueueLoad
  close(): Promise<void>
}

/** Fraction of a limit that is divided equally among the processes in advance. Each part is that process's own share. */
const SHARED_OUT = 1 / 8
const LEASE_SECONDS = 30

/**
 * Updates the rows in the keys' order, so that processes cannot deadlock. `shares` records the slots that each process has
 * taken. Each of the $6 other serving processes that is missing there may still use its own share without asking, so that share
 * stays reserved.
 */
const TAKE = `
insert into key_flight as f (key_id, allowed, asked, own_share, shares)
select asked.key_id, asked.allowed, asked.calls, asked.own_share,
       case when first.calls > 0 then jsonb_build_object($5::text, jsonb_build_array(first.calls, clock.until)) else '{}' end
  from unnest($1::text[]::bigint[], $2::text[]::integer[], $3::text[]::integer[], $4::text[]::integer[])
         as asked(key_id, allowed, calls, own_share),
       (select extract(epoch from now())::bigint + ${LEASE_SECONDS} as until) as clock,
       lateral (select least(asked.calls, asked.allowed - asked.own_share * $6::text::integer) as calls) as first
 order by asked.key_id
on conflict (key_id) do update set (allowed, asked, own_share, shares) = (
  select excluded.allowed, excluded.asked, excluded.own_share,
         others.shares || case when taken.calls > 0
           then jsonb_build_object($5::text, jsonb_build_array(taken.calls, extract(epoch from now())::bigint + ${LEASE_SECONDS}))
           else '{}' end
    from (select coalesce(jsonb_object_agg(s.key, s.value), '{}') as shares,
                 coalesce(sum((s.value ->> 0)::integer), 0) as calls, count(*) as processes
            from jsonb_each(f.shares) as s
           where s.key <> $5 and (s.value ->> 1)::bigint > extract(epoch from now())) as others,
         lateral (select least(excluded.asked, excluded.allowed - others.calls
           - excluded.own_share * greatest(0, $6::text::integer - others.processes)) as calls) as taken)
returning f.key_id, coalesce((new.shares -> $5 ->> 0)::integer, 0) as calls`

interface Row {
  readonly key_id: string
  readonly calls: number
}

interface Flight {
  limit: number
  count: number
  /** Number of calls that wait for a slot. Later calls must leave them enough of the slots that are asked for. */
  waiting: number
  /** Number of slots that Postgres is being asked for; 0 if it is not. */
  asked: number
  /** Number of slots taken in Postgres; null if none are: then calls may only use the process's own share. */
  taken: number | null
  giveBack: NodeJS.Timeout | undefined
  /** Number of batches in progress that ask about this key. Until they are answered, the key must stay in `flights`. */
  asking: number
}

interface Question {
  readonly keyId: number
  /** The call that waits for a slot; null if slots only need to be renewed, given back or recorded. */
  readonly call: { readonly grant: () => void; readonly refuse: (error: GatewayError) => void } | null
}

export function createFlightLimiter(options: FlightLimiterOptions): FlightLimiter {
  const { url, name, waitingMax = 20_000, batchMax = 500, giveBackMs = 200, renewMs = 10_000 } = options
  const pool = openStatementPool({
    url,
    name: 'gateway calls in flight',
    connectionsMax: 1,
    // Losing counters when Postgres crashes is acceptable.
    synchronousCommit: 'off',
    statementTimeoutMs: 2_000,
    deadlineMs: 3_000,
    connectTimeoutMs: 3_000,
  })
  const flights = new TransientMap<number, Flight>()
  let processes = 0
  let refused = 0
  const batcher = createBatcher<Question>({ concurrency: 1, batchMax, queueOf: () => 0, run: batch => answer(batch) })
  const renewal = setInterval(() => {
    for (const [keyId, { taken }] of flights) if (taken !== null) batcher.push({ keyId, call: null })
  }, renewMs).unref()

  function ownShare(limit: number): number {
    if (processes === 1) return limit
    return processes === 0 ? 0 : Math.floor((limit * SHARED_OUT) / processes)
  }

  function refusal(limit: number): GatewayError {
    refused++
    return tooMany(limit)
  }

  const roomOf = ({ taken, limit }: Flight): number => taken ?? ownShare(limit)

  function flightOf(keyId: number): Flight {
    let flight = flights.get(keyId)
    if (flight === undefined) {
      flight = { limit: 1, count: 0, waiting: 0, asked: 0, taken: null, giveBack: undefined, asking: 0 }
      flights.set(keyId, flight)
    }
    return flight
  }

  /** How many slots the process should hold in the key's row to admit `more` further calls; 0 while its own share suffices. */
  function wanted({ count, limit }: Flight, more: number): number {
    const share = ownShare(limit)
    return count + more <= share ? 0 : Math.max(count + more, share)
  }

  async function answer(batch: readonly Question[]) {
    const asked = [...Map.groupBy(batch, ({ keyId }) => keyId)].map(([keyId, questions]) => {
      const calls = questions.flatMap(({ call }) => call ?? [])
      const flight = flightOf(keyId)
      const slots = wanted(flight, calls.length)
      flight.asking++
      flight.asked = slots
      // Slots that this batch gives back must no longer be used.
      if (slots === 0) flight.taken = null
      else if (flight.taken !== null) flight.taken = Math.min(flight.taken, slots)
      return { keyId, calls, flight, slots }
    })
    try {
      const rows = await pool.query<Row>(TAKE, [
        plainArray(asked.map(({ keyId }) => keyId)),
        plainArray(asked.map(({ flight }) => flight.limit)),
        plainArray(asked.map(({ slots }) => slots)),
        plainArray(asked.map(({ flight }) => ownShare(flight.limit))),
        name,
        String(Math.max(0, processes - 1)),
      ])
      const taken = new Map(rows.map(row => [Number(row.key_id), row.calls]))
      for (const { keyId, calls, flight, slots } of asked) {
        if (slots > 0) flight.taken = taken.get(keyId) ?? 0
        flight.waiting -= calls.length
        for (const call of calls) {
          if (flight.count >= roomOf(flight)) call.refuse(refusal(flight.limit))
          else {
            flight.count++
            call.grant()
          }
        }
      }
    } catch (cause) {
      for (const { calls, flight } of asked) {
        flight.waiting -= calls.length
        for (const call of calls) call.refuse(unavailable(cause))
      }
    }
    for (const { keyId, flight } of asked) {
      flight.asking--
      flight.asked = 0
      tidy(keyId, flight)
    }
    return NOTHING_AGAIN
  }

  function tidy(keyId: number, flight: Flight): void {
    if (flight.asking > 0 || flight.waiting > 0) return
    if (flight.count === 0 && flight.taken === null && flight.giveBack === undefined) flights.delete(keyId)
    else if (flight.taken !== null && flight.count < flight.taken) giveBackSoon(keyId, flight)
  }

  function giveBackSoon(keyId: number, flight: Flight): void {
    flight.giveBack ??= setTimeout(() => {
      flight.giveBack = undefined
      batcher.push({ keyId, call: null })
    }, giveBackMs).unref()
  }

  return {
    take(keyId, limit) {
      const flight = flightOf(keyId)
      flight.limit = limit
      const room = roomOf(flight)
      if (flight.count < room && flight.count + flight.waiting < Math.max(room, flight.asked)) {
        flight.count++
        return null
      }
      if (flight.count >= limit) return Promise.reject(refusal(limit))
      if (batcher.size >= waitingMax) return Promise.reject(unavailable('too many calls are waiting for a slot'))
      flight.waiting++
      return new Promise((grant, refuse) => batcher.push({ keyId, call: { grant, refuse } }))
    },
    release(keyId) {
      const flight = flights.get(keyId)
      if (flight === undefined) return
      flight.count--
      tidy(keyId, flight)
    },
    get refused() {
      return refused
    },
    setProcesses(count) {
      if (count === processes) return
      processes = count
      // Calls beyond this process's new share must be recorded in Postgres, where all processes see them.
      for (const [keyId, flight] of flights) {
        if (flight.taken === null && flight.count > ownShare(flight.limit)) batcher.push({ keyId, call: null })
      }
    },
    get load() {
      return pool.load
    },
    get queue() {
      return queueLoad('calls in flight', batcher, waitingMax)
    },
    async close() {
      clearInterval(renewal)
      for (const { giveBack } of flights.values()) clearTimeout(giveBack)
      await batcher.drained()
      await pool.close()
    },
  }
}

function tooMany(limit: number): GatewayError {
  const calls = limit === 1 ? '1 call' : `${limit} calls`
  return new GatewayError('rate_limited', {
    message: `This key is limited to ${calls} in flight; try again when one has ended.`,
    retryAfterSeconds: 1,
    limit: { source: 'calls_in_flight', limit },
  })
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('ledger_unavailable', { cause, retryAfterSeconds: 2 })
}
