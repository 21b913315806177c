/** Creates the services for alerts, once per process. */

import { DeliveryCounts } from './delivery-counts.ts'
import { ALERT_LIMITS, type AlertLimits } from './limits.ts'
import type { AlertServices } from './types.ts'

export type AlertOptions = Omit<AlertServices, 'limits' | 'counts'> & { readonly limits?: Partial<AlertLimits> }

export function createAlerts({ limits, ...rest }: AlertOptions): AlertServices {
  return { ...rest, counts: new DeliveryCounts(), limits: { ...ALERT_LIMITS, ...limits } }
}
