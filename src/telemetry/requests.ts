/** Metric families of what calls take: memory for bodies and long replies, connections, and refusals by the limit on calls in flight. */

import { counter, type Family, gauge } from '../lib/metrics.ts'

export interface RequestMetrics {
  /** One element each for bodies sent with API keys, for notifications and forms, and for long replies. */
  readonly bodies: readonly BodyMetrics[]
  /** Number of connections on which a body that is refused or not read is being discarded. */
  readonly lingering: number
  /** Number of calls refused since the process started because their key had too many in flight. */
  readonly refusedInFlight: number
}

export interface BodyMetrics {
  readonly kind: 'keys' | 'strangers' | 'replies'
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
      'Bytes of bodies in memory: of requests with API keys, of notifications and forms (strangers), and of long replies.',
      each(({ bytes }) => bytes),
    ),
    gauge(
      'gateway_bodies_bytes_max',
      'Bytes of bodies that may be in memory; see gateway_bodies_bytes.',
      each(({ bytesMax }) => bytesMax),
    ),
    gauge(
      'gateway_bodies_waiting',
      'Bodies waiting for others to finish.',
      each(({ waiting }) => waiting),
    ),
    counter(
      'gateway_bodies_refused_total',
      'Bodies refused for lack of room.',
      each(({ refused }) => refused),
    ),
    gauge(
      'gateway_connections_lingering',
      'Connections on which a body that is refused or not read is being discarded.',
      lingering,
    ),
    counter(
      'gateway_calls_refused_in_flight_total',
      'Calls refused because their key had too many in flight.',
      refusedInFlight,
    ),
  ]
}
