/** Metric families of this process's upstreams. */

import { counter, type Family, gauge } from '../lib/metrics.ts'
import type { UpstreamStatus } from '../upstream/registry.ts'

export function upstreamFamilies(upstreams: readonly UpstreamStatus[]): readonly Family[] {
  const each = (pick: (status: UpstreamStatus) => number) =>
    upstreams.map(status => [{ upstream: status.id }, pick(status)] as const)
  return [
    gauge(
      'gateway_upstream_up',
      '0 while the circuit of an upstream is open or half-open after faults.',
      each(({ state }) => (state === 'well' ? 1 : 0)),
    ),
    gauge(
      'gateway_upstream_cooldown_seconds',
      'Time until an upstream with an open circuit is tried again.',
      each(({ waitSeconds }) => waitSeconds),
    ),
    gauge(
      'gateway_upstream_out_seconds',
      'Time until an upstream that an operator took out of service gets calls again; 0 while it is in service.',
      each(({ outSeconds }) => outSeconds),
    ),
    gauge(
      'gateway_upstream_simulated',
      '1 where the sandbox stands in for an upstream without credentials.',
      each(({ sandbox }) => (sandbox ? 1 : 0)),
    ),
    gauge(
      'gateway_upstream_credentials',
      'Credentials of an upstream.',
      each(({ credentials }) => credentials.length),
    ),
    gauge(
      'gateway_upstream_credentials_aside',
      'Credentials refused by the provider and cooling down.',
      each(({ credentials }) => credentials.filter(({ state }) => state !== 'well').length),
    ),
    gauge(
      'gateway_upstream_models_aside',
      'Models that the provider limits or refuses, across all credentials.',
      each(({ credentials }) => credentials.reduce((sum, { modelsCoolingDown }) => sum + modelsCoolingDown.length, 0)),
    ),
    gauge(
      'gateway_upstream_calls_in_flight',
      'Calls at an upstream.',
      each(({ callsInFlight }) => callsInFlight),
    ),
    counter(
      'gateway_upstream_tries_total',
      'Attempts at an upstream.',
      each(({ tries }) => tries),
    ),
    counter(
      'gateway_upstream_failures_total',
      'Failed attempts, by cause.',
      upstreams.flatMap(({ id, failuresByClass }) =>
        Object.entries(failuresByClass).map(([what, count]) => [{ upstream: id, class: what }, count] as const),
      ),
    ),
  ]
}
