/** Metric families of requests before a call begins: body memory, connections, and refusals by the limit on calls in flight. */

import { counter, type Family, gauge } from '../lib/metrics.ts'

export interface RequestMetrics {
  /** Two elements: one for bodies sent with API keys, one for notifications and forms. */
  readonly bodies: readonly BodyMetrics[]
  /** Number of connections on which the rest of a refused body is being discarded. */
  readonly lingering: number
  /** Number of calls refused since the process started because their key had too many in flight. */
  readonly refusedInFlight: number
}

export interface BodyMetrics {
  readonly kind: 'keys' | 'strangers'
  readonly bytes: number
  readonly bytesMax: number
  readonly waiting: number
  readonly refused: number
}

export function requestFamilies({ bodies, lingering, refusedInFlight }: RequestMetrics): readonly Family[] {
  const each = (pick: (metrics: BodyMetrics) => number) =>
    bodies.map(metrics => [{ kind: metrics.kind }, pick(metrics)] as const)
  return [
    gauge(
      'gateway_bodies_bytes',
      'Bytes of request bodies in memory: of those sent with API keys, and of notifications and forms (strangers).',
      each(({ bytes }) => bytes),
    ),
    gauge(
      'gateway_bodies_bytes_max',
      'Bytes of request bodies that may be in memory; see gateway_bodies_bytes.',
      each(({ bytesMax }) => bytesMax),
    ),
    gauge(
      'gateway_bodies_waiting',
      'Request bodies waiting for others to finish.',
      each(({ waiting }) => waiting),
    ),
    counter(
      'gateway_bodies_refused_total',
      'Request bodies refused for lack of room.',
      each(({ refused }) => refused),
    ),
    gauge(
      'gateway_connections_lingering',
      'Connections on which the rest of a refused body is being discarded.',
      lingering,
    ),
    counter(
      'gateway_calls_refused_in_flight_total',
      'Calls refused because their key had too many in flight.',
      refusedInFlight,
    ),
  ]
}
