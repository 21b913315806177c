/**
 * How upstreams have performed lately, across all processes: attempts by outcome, times to the first byte, calls, tokens, cost.
 */

import type { AnySql } from '../../lib/database.ts'
import { type MicroVnd, microVnd, ZERO_MICRO_VND } from '../../lib/money.ts'
import { percentile, sum } from './first-bytes.ts'

export interface OutcomeCount {
  /** `ok`, `client_gone`, or a code of errors.ts. */
  readonly outcome: string
  /** HTTP status of the upstream's error reply; 0 if there was none. */
  readonly status: number
  readonly attempts: number
}

export interface UpstreamFigures {
  readonly upstreamId: string
  readonly attempts: number
  /** Number of attempts that failed through the upstream's fault. */
  readonly failures: number
  /** How many attempts had each outcome; the most frequent outcome comes first. */
  readonly outcomes: readonly OutcomeCount[]
  /** Time to the first byte; null if no attempt got one. */
  readonly firstByteMs: { readonly p50: number; readonly p95: number } | null
  /** Number of calls that this upstream served, or that failed and were last tried at this upstream. */
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly revenueMicroVnd: MicroVnd
  readonly costMicroVnd: MicroVnd
}

/**
 * One statement reads both outcomes and times to the first byte, so that `attempt_hourly`, the larger table, is read only once.
 */
const ATTEMPTS = `select upstream_id, outcome, status, first_byte_step, sum(attempts)::text as attempts from attempt_hourly
  where hour >= $1::text::timestamptz group by 1, 2, 3, 4 order by first_byte_step`
const CALLS = `select upstream_id, sum(calls)::text as calls, sum(input_tokens)::text as input_tokens,
    sum(output_tokens)::text as output_tokens, sum(charged_micro_vnd)::text as revenue,
    sum(upstream_cost_micro_vnd)::text as cost
  from call_hourly where hour >= $1::text::timestamptz and upstream_id <> '' group by 1`

/** Whether an outcome is the upstream's fault, rather than the request's or the client's. */
export function isUpstreamFailure(outcome: string): boolean {
  return ['upstream_failed', 'upstream_overloaded', 'upstream_rate_limited', 'upstream_misconfigured'].includes(outcome)
}

/**
 * Returns figures by upstream id, for upstreams with at least one attempt or call since the start of the hour that contains
 * `since`.
 */
export async function readUpstreamFigures(sql: AnySql, since: Date): Promise<ReadonlyMap<string, UpstreamFigures>> {
  const from = [new Date(Math.floor(since.getTime() / 3_600_000) * 3_600_000).toISOString()]
  const [attempts, calls] = await Promise.all([ATTEMPTS, CALLS].map(statement => sql.unsafe(statement, from)))
  const attemptsOf = Map.groupBy((attempts ?? []).map(toAttempts), ({ upstreamId }) => upstreamId)
  const callsOf = new Map((calls ?? []).map(row => [String(row.upstream_id), row]))
  const ids = [...new Set([...attemptsOf.keys(), ...callsOf.keys()])].sort()
  return new Map(
    ids.map(upstreamId => {
      const own = attemptsOf.get(upstreamId) ?? []
      const counted = outcomesIn(own)
      const steps = own.filter(({ step }) => step >= 0)
      const sums = callsOf.get(upstreamId)
      const figures: UpstreamFigures = {
        upstreamId,
        attempts: sum(counted),
        failures: sum(counted.filter(({ outcome }) => isUpstreamFailure(outcome))),
        outcomes: counted,
        firstByteMs: steps.length === 0 ? null : { p50: percentile(steps, 0.5), p95: percentile(steps, 0.95) },
        calls: Number(sums?.calls ?? 0),
        inputTokens: Number(sums?.input_tokens ?? 0),
        outputTokens: Number(sums?.output_tokens ?? 0),
        revenueMicroVnd: sums === undefined ? ZERO_MICRO_VND : microVnd(BigInt(sums.revenue)),
        costMicroVnd: sums === undefined ? ZERO_MICRO_VND : microVnd(BigInt(sums.cost)),
      }
      return [upstreamId, figures]
    }),
  )
}

interface Attempts extends OutcomeCount {
  readonly upstreamId: string
  /** Logarithmic step of the time to the first byte; negative if there was none. */
  readonly step: number
}

function toAttempts(row: Readonly<Record<string, unknown>>): Attempts {
  return {
    upstreamId: String(row.upstream_id),
    outcome: String(row.outcome),
    status: Number(row.status),
    step: Number(row.first_byte_step),
    attempts: Number(row.attempts),
  }
}

function outcomesIn(attempts: readonly Attempts[]): OutcomeCount[] {
  const groups = Map.groupBy(attempts, ({ outcome, status }) => `${outcome} ${status}`)
  return [...groups.values()]
    .map(same => ({ outcome: same[0]!.outcome, status: same[0]!.status, attempts: sum(same) }))
    .sort((one, other) => other.attempts - one.attempts)
}
