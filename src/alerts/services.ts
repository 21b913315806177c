/** Creates the services for alerts, once per process. */

import { ALERT_LIMITS, type AlertLimits } from './limits.ts'
import type { AlertServices } from './types.ts'

export type AlertOptions = Omit<AlertServices, 'limits'> & { readonly limits?: Partial<AlertLimits> }

export function createAlerts({ limits, ...rest }: AlertOptions): AlertServices {
  return { ...rest, limits: { ...ALERT_LIMITS, ...limits } }
}
