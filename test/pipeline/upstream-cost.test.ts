/** What a call cost the operator, where no gateway is needed to tell. */

import { expect, test } from 'vitest'
import type { CostRates } from '../../src/catalogue/cost.ts'
import type { Call, Services } from '../../src/pipeline/call.ts'
import { NOTHING_USED } from '../../src/pipeline/meter.ts'
import { upstreamCostOf } from '../../src/pipeline/upstream-cost.ts'

/** The cost of a call that was attempted once at an upstream with a price per call, in VND. */
function cost(vndPerCall: bigint | null, { charged }: { charged: boolean }) {
  const rates: CostRates = { tokens: null, tiers: [], image: null, call: (vndPerCall ?? 0n) * 10n ** 18n }
  const services = { catalogue: { costRates: () => (vndPerCall === null ? null : rates) } } as unknown as Services
  const call = { attempts: [{ target: {} }] } as unknown as Call
  return upstreamCostOf(services, call, { used: NOTHING_USED, charged })
}

test('a price per call is the cost of a call that was served; whether a failed one costs anything is unknown', () => {
  expect(cost(70n, { charged: true })).toBe(70_000_000n)
  expect(cost(70n, { charged: false })).toBe(null)
})

test('a cost without a price, or above any that the journal accepts, is unknown', () => {
  expect(cost(null, { charged: true })).toBe(null)
  expect(cost(1_000_000_000n, { charged: true })).toBe(10n ** 15n)
  expect(cost(1_000_000_001n, { charged: true })).toBe(null)
})
