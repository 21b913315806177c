import { DeliveryCounts } from './delivery-counts.ts'
import { ALERT_LIMITS, type AlertLimits } from './limits.ts'
import type { AlertServices } from './types.ts'

export type AlertOptions = Omit<AlertServices, 'limits' | 'counts'> & { readonly limits?: Partial<AlertLimits> }

/** Call once per process: the delivery counts feed its metrics. */
export function createAlerts({ limits, ...rest }: AlertOptions): AlertServices {
  return { ...rest, counts: new DeliveryCounts(), limits: { ...ALERT_LIMITS, ...limits } }
}
