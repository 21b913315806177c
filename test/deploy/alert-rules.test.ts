/** Alert rules, evaluated over made-up series: faults that leave a metric without the series that a rule reads. */

import { expect, test } from 'vitest'
import { writeExposition } from '../../src/lib/metrics.ts'
import { DatabaseMetrics } from '../../src/telemetry/database.ts'
import { parseExposition } from '../support/exposition.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { readRules } from '../support/prometheus.ts'
import { evaluate, type Labels, parseQuery, SampleStore } from '../support/promql.ts'

const EVERY_S = 15
const MINUTE_S = 60
const HOUR_S = 3_600

/** A series with a sample every 15 seconds. `value` gets the seconds since its first sample. */
interface Series {
  readonly name: string
  readonly labels?: Labels
  readonly fromS: number
  readonly toS: number
  readonly value: (ageS: number) => number
}

function storeOf(all: readonly Series[]): SampleStore {
  const store = new SampleStore()
  for (const { name, labels = {}, fromS, toS, value } of all) {
    for (let at = fromS; at < toS; at += EVERY_S) store.add(name, { job: 'gateway', ...labels }, at, value(at - fromS))
  }
  return store
}

/** Whether the alert's expression is true at that time; `for` is left out. */
function holds(alert: string, store: SampleStore, at: number): boolean {
  const { expr } = readRules().find(rule => rule.alert === alert) ?? { expr: '' }
  return evaluate(parseQuery(expr), store, at).length > 0
}

/** A gateway that gets a call each second for a day, and another one that replaces it at `DEPLOYED_S`. */
const DEPLOYED_S = 24 * HOUR_S
const END_S = DEPLOYED_S + 2 * HOUR_S
const before = { fromS: 0, toS: DEPLOYED_S, labels: { instance: 'a', status: '2xx' } }
const after = { fromS: DEPLOYED_S, toS: END_S, labels: { instance: 'a', status: '2xx' } }
const perSecond = (ageS: number) => ageS
const INFO: readonly Series[] = [before, after].map(each => ({ ...each, name: 'gateway_info', value: () => 1 }))
const CALLS: Series = { ...before, name: 'gateway_calls_total', value: perSecond }
const CHARGES: Series = { ...before, name: 'gateway_charged_vnd_total', value: perSecond }

test('GatewayNoCalls: the gateways were restarted, and no call has arrived since', () => {
  const restarted = { ...after, name: 'gateway_calls_total', labels: { instance: 'a', status: '2xx', entry: 'other' } }
  const silent = storeOf([...INFO, CALLS])
  const busy = storeOf([...INFO, CALLS, { ...restarted, value: perSecond }])
  expect(holds('GatewayNoCalls', silent, DEPLOYED_S + 5 * MINUTE_S)).toBe(false)
  for (const minutes of [15, 30, 60]) {
    expect(holds('GatewayNoCalls', silent, DEPLOYED_S + minutes * MINUTE_S)).toBe(true)
    expect(holds('GatewayNoCalls', busy, DEPLOYED_S + minutes * MINUTE_S)).toBe(false)
  }
})

test('GatewayRevenueStopped: since a restart, no call has been charged', () => {
  const calls: Series = { ...after, name: 'gateway_calls_total', value: perSecond }
  const free = storeOf([...INFO, CALLS, CHARGES, calls])
  const paid = storeOf([...INFO, CALLS, CHARGES, calls, { ...calls, name: 'gateway_charged_vnd_total' }])
  for (const minutes of [35, 60]) {
    expect(holds('GatewayRevenueStopped', free, DEPLOYED_S + minutes * MINUTE_S)).toBe(true)
    expect(holds('GatewayRevenueStopped', paid, DEPLOYED_S + minutes * MINUTE_S)).toBe(false)
  }
})

test('GatewayBooksStale: since a restart, the books have not been counted once', () => {
  const name = 'gateway_books_read_timestamp_seconds'
  const read = (from: typeof before): Series => ({ ...from, name, value: ageS => from.fromS + ageS })
  const blind = storeOf([...INFO, read(before)])
  expect(holds('GatewayBooksStale', blind, DEPLOYED_S + 15 * MINUTE_S)).toBe(true)
  expect(holds('GatewayBooksStale', storeOf([...INFO, read(before), read(after)]), DEPLOYED_S + 15 * MINUTE_S)).toBe(
    false,
  )
  expect(holds('GatewayBooksStale', storeOf([]), DEPLOYED_S)).toBe(false)
})

test('GatewayTaskStopped: a task begins again and again, but always fails', async () => {
  const { sql, url, drop } = await createTestDatabase()
  const metrics = new DatabaseMetrics({ url, report: () => {}, auditEveryMs: 0 })
  const stopped = async () => {
    await metrics.refresh()
    const store = new SampleStore()
    const at = Date.now() / 1000
    for (const { samples } of parseExposition(writeExposition(metrics.families())).values()) {
      for (const { name, labels, value } of samples) store.add(name, labels, at, value)
    }
    return holds('GatewayTaskStopped', store, at)
  }
  try {
    await sql`insert into housekeeping (task) values ('found alerts')`
    expect(await stopped()).toBe(false)
    await sql`update housekeeping set finished_at = now() - interval '181 minutes'`
    expect(await stopped()).toBe(true)
  } finally {
    await metrics.close()
    await drop()
  }
})

test.each([
  ['chat_completions', true],
  ['images_generations', false],
  ['images_edits', false],
])('GatewayFirstByteSlow: calls to %s that take a minute (fires: %s), for images always do', (endpoint, fires) => {
  const labels = { instance: 'a', status: '2xx', entry: 'x', endpoint }
  const bucket = (le: string, value: (ageS: number) => number): Series => ({
    ...after,
    name: 'gateway_first_byte_seconds_bucket',
    labels: { ...labels, le },
    value,
  })
  const store = storeOf([bucket('30', () => 0), bucket('60', perSecond), bucket('+Inf', perSecond)])
  expect(holds('GatewayFirstByteSlow', store, DEPLOYED_S + HOUR_S)).toBe(fires)
})
