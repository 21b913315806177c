/**
 * Finds calls whose usage row is missing. Holds are not flushed to disk immediately, so two simultaneous faults can erase all
 * traces of a call, charge included: Postgres is killed before the hold reaches the disk, and the gateway before the call ends.
 * A call is excused as traceless only if both kills are known to have happened then; every other missing row is a finding.
 */

import type { ClientCall } from './client.ts'
import type { ProcessRun } from './gateways.ts'

/** A period in which Postgres was unavailable or paused, in ms since 1970. */
export interface Outage {
  readonly from: number
  readonly to: number
  /** When Postgres' processes were killed; null if Postgres was only paused, and so lost nothing. */
  readonly killedAt: number | null
}

interface Evidence {
  readonly calls: readonly ClientCall[]
  readonly databaseAway?: readonly Outage[]
  readonly runs: ReadonlyMap<string, readonly ProcessRun[]>
}

/**
 * Latest time after a call's start at which its hold reaches the disk, in ms: up to 400 ms until the commit, then up to 600 ms
 * until the WAL writer flushes it.
 */
const ON_ITS_WAY_MS = 1_000
/** At most one call in this many is tolerated without a trace. */
const CALLS_PER_TRACELESS = 1_000

/** Finds the calls without a usage row. `known`: ids of the calls that have one. */
export function findMissing(evidence: Evidence, known: ReadonlySet<string>) {
  const { calls } = evidence
  // A call that is refused early (no key, no database, gateway shutting down) gets no row.
  const without = calls.filter(
    ({ callId, status }) => callId !== null && status !== 401 && status !== 503 && !known.has(callId),
  )
  const { traceless = [], others = [] } = Object.groupBy(without, call =>
    isTraceless(call, evidence) ? 'traceless' : 'others',
  )
  const tracelessMax = Math.ceil(calls.length / CALLS_PER_TRACELESS)
  const missing = others.map(call => describe(call, evidence))
  if (traceless.length > tracelessMax) {
    missing.push(`${traceless.length} of ${calls.length} calls left no trace; at most ${tracelessMax} may`)
  }
  return { missing, traceless: traceless.length, tracelessMax }
}

function isTraceless(call: ClientCall, evidence: Evidence): boolean {
  const { complete, startedAt, endedAt } = call
  const { database, gateway } = killsOf(call, evidence)
  return (
    !complete &&
    database.some(at => at >= startedAt && at <= startedAt + ON_ITS_WAY_MS) &&
    gateway.some(at => at >= startedAt && at <= endedAt)
  )
}

function killsOf({ gateway }: ClientCall, { databaseAway = [], runs }: Evidence) {
  const times = (all: readonly { readonly killedAt: number | null }[]) =>
    all.flatMap(({ killedAt }) => (killedAt === null ? [] : [killedAt]))
  return { database: times(databaseAway), gateway: times(runs.get(gateway) ?? []) }
}

function describe(call: ClientCall, evidence: Evidence): string {
  const { callId, status, startedAt, endedAt } = call
  const { database, gateway } = killsOf(call, evidence)
  const first = (times: readonly number[]): string => {
    const after = times.map(at => at - startedAt).filter(ms => ms >= 0)
    return after.length === 0 ? 'never' : `after ${Math.min(...after)} ms`
  }
  const kills = `Postgres killed ${first(database)}, its gateway ${first(gateway)}`
  return `call ${callId}, status ${status}, took ${endedAt - startedAt} ms: ${kills}`
}
