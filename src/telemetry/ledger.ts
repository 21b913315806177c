/** Metric families of this process's ledger. */

import { statfs } from 'node:fs/promises'
import type { LedgerState } from '../ledger/metrics.ts'
import type { PoolLoad } from '../lib/database.ts'
import { counter, type Family, gauge, histogram } from '../lib/metrics.ts'

const MICRO = 1_000_000

export interface LedgerSource {
  readonly state: LedgerState
  /** Whether the ledger's last statement got a response from Postgres. */
  readonly available: boolean
  /** How often the ledger has reported each event, by the event's code. */
  readonly events: ReadonlyMap<string, number>
  /** The load of each connection pool other than the ledger's. */
  readonly pools: readonly PoolLoad[]
  readonly spoolDir: string
}

export async function ledgerFamilies(source: LedgerSource): Promise<readonly Family[]> {
  const { state, available, events, spoolDir } = source
  const { counts, spool, oldestOpenedMs } = state
  const pools = [...state.pools, ...source.pools]
  const disk = await statfs(spoolDir).catch(() => null)
  const ageSeconds = oldestOpenedMs === null ? 0 : Math.max(0, (Date.now() - oldestOpenedMs) / 1000)
  return [
    gauge('gateway_database_up', '1 while Postgres answers the ledger.', available ? 1 : 0),
    gauge(
      'gateway_database_connections_used',
      'Connections of a pool that are running a statement.',
      pools.map(pool => [{ pool: pool.name }, Math.min(pool.statements, pool.connectionsMax)]),
    ),
    gauge(
      'gateway_database_connections_max',
      'Connections that a pool may open.',
      pools.map(pool => [{ pool: pool.name }, pool.connectionsMax]),
    ),
    gauge(
      'gateway_database_statements_waiting',
      'Statements waiting for a connection of their pool.',
      pools.map(pool => [{ pool: pool.name }, Math.max(0, pool.statements - pool.connectionsMax)]),
    ),
    gauge('gateway_calls_awaiting_funds', 'Calls waiting for money that other calls hold.', state.waiting),
    gauge('gateway_holds_open', 'Calls of this process between asking for a hold and settling it.', state.open),
    gauge('gateway_oldest_hold_age_seconds', 'Age of the oldest open hold of this process; 0: none.', ageSeconds),
    counter(
      'gateway_hold_requests_total',
      'Calls that requested a hold, by outcome.',
      Object.entries(counts.admissions).map(([outcome, count]) => [{ outcome }, count]),
    ),
    histogram('gateway_hold_batch_calls', 'Holds placed by one statement.', counts.holdBatches.calls.samples()),
    histogram(
      'gateway_hold_batch_seconds',
      'Time of a statement that places holds.',
      counts.holdBatches.seconds.samples(),
    ),
    counter(
      'gateway_hold_extensions_total',
      'Streams that requested a larger hold, by outcome; cut: the wallet had less.',
      Object.entries(counts.extensions).map(([outcome, count]) => [{ outcome }, count]),
    ),
    histogram('gateway_extend_batch_calls', 'Holds extended by one statement.', counts.extendBatches.calls.samples()),
    histogram(
      'gateway_extend_batch_seconds',
      'Time of a statement that extends holds.',
      counts.extendBatches.seconds.samples(),
    ),
    histogram('gateway_settle_batch_calls', 'Calls settled by one statement.', counts.settleBatches.calls.samples()),
    histogram(
      'gateway_settle_batch_seconds',
      'Time of a statement that settles.',
      counts.settleBatches.seconds.samples(),
    ),
    gauge('gateway_settlements_waiting', 'Settlements not yet durable in Postgres.', state.owed),
    gauge('gateway_spool_settlements', 'Settlements in the spool that Postgres lacks.', spool.owed),
    gauge('gateway_spool_bytes', 'Size of the spool of this process.', spool.bytes),
    gauge('gateway_spool_set_aside', 'Spool contents that need an operator, by kind; each must be 0.', [
      [{ kind: 'lines' }, state.setAside.lines],
      [{ kind: 'files' }, state.setAside.files],
    ]),
    gauge(
      'gateway_spool_disk_free_bytes',
      'Space left on the disk of the spool.',
      disk === null ? [] : disk.bavail * disk.bsize,
    ),
    gauge(
      'gateway_spool_disk_size_bytes',
      'Size of the disk of the spool.',
      disk === null ? [] : disk.blocks * disk.bsize,
    ),
    counter('gateway_holds_swept_total', 'Holds freed because their call never ended.', counts.holdsSwept),
    counter('gateway_settlements_replayed_total', 'Settlements resent from a spool.', counts.settlementsReplayed),
    counter(
      'gateway_charged_vnd_total',
      'Money charged, in dong.',
      counts.money.entries().map(([entry, money]) => [{ entry }, money.charged / MICRO] as const),
    ),
    counter(
      'gateway_uncollected_vnd_total',
      'Cost that the balance could not cover, in dong.',
      counts.money.entries().map(([entry, money]) => [{ entry }, money.uncollected / MICRO] as const),
    ),
    counter(
      'gateway_ledger_events_total',
      'Events logged by the ledger, by code.',
      events.entries().map(([code, count]) => [{ code }, count] as const),
    ),
  ]
}
