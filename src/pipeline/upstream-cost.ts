/** What a call cost the operator, for the usage row and the metrics. A customer's charge does not depend on it. */

import { costIfReported } from '../catalogue/cost.ts'
import { AMOUNT_MICRO_VND_MAX } from '../ledger/check.ts'
import { type MicroVnd, ZERO_MICRO_VND } from '../lib/money.ts'
import { listedTarget } from '../translate/wired.ts'
import type { Call, Services } from './call.ts'
import type { Metered } from './meter.ts'

/**
 * The cost, at current prices, of the attempt that served the call; 0 if nothing was attempted. Null (unknown) if the catalogue
 * has no price or if the usage is unknown. Also null if the call is not charged, because its provider may still bill for work
 * done before the failure. Earlier attempts are left out, because it is also unknown what providers bill for them.
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
