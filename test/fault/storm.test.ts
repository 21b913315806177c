/**
 * A short storm: gateways and Postgres are killed at random under load. `make faults` runs a long one. A failure prints how to
 * repeat it: `make faults SEED=…`.
 */

import { expect, test } from 'vitest'
import { faultsOf, tableOf } from './report.ts'
import { runStorm } from './storm.ts'

const seed = Date.now() % 1_000_000_007

test('gateways and Postgres killed at random under load: nothing is lost, doubled or wrong', async () => {
  await runStorm(
    {
      seed,
      durationMs: 14_000,
      gateways: 3,
      clients: 16,
      gatewayKillMs: [1_500, 4_000],
      databaseKillMs: [4_000, 7_000],
    },
    async report => {
      const faults = faultsOf(report)
      const none = Object.fromEntries(Object.keys(faults).map(name => [name, []]))
      expect(faults, `seed ${seed}\n${tableOf(report)}`).toEqual(none)
      // Check that the storm did take place.
      expect(report.verdict.finished).toBeGreaterThan(50)
      expect(report.gatewayKills).toBeGreaterThan(3)
      expect(report.databaseKills + report.brownOuts).toBeGreaterThan(0)
      expect(report.acknowledged).toBeGreaterThan(0)
    },
  )
})
