/** What a call cost the operator. It goes on the usage row and into the metrics, and has no part in any charge. */

import { costIfReported } from '../catalogue/cost.ts'
import { AMOUNT_MICRO_VND_MAX } from '../ledger/check.ts'
import { type MicroVnd, ZERO_MICRO_VND } from '../lib/money.ts'
import { listedTarget } from '../translate/wired.ts'
import type { Call, Services } from './call.ts'
import type { Metered } from './meter.ts'

/**
 * At the prices in force now, for the attempt that served. Nothing where nothing was tried. Null, for unknown, where the
 * catalogue has no price or nobody told what was used, and for a call without a charge: its provider may have billed what it
 * did before it failed, and did not say. Attempts before the one that served are not counted for the same reason.
 */
export function upstreamCostOf(
  { catalogue }: Services,
  { attempts }: Call,
  { used, charged }: { readonly used: Metered; readonly charged: boolean },
): MicroVnd | null {
  const served = attempts.at(-1)
  if (served === undefined) return ZERO_MICRO_VND
  if (!charged) return null
  const rates = catalogue.costRates(listedTarget(served.target))
  const cost = rates && costIfReported(rates, used)
  return cost !== null && cost <= AMOUNT_MICRO_VND_MAX ? cost : null
}
