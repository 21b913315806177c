/** From a requested name to the entry that serves it, noted in the call's account and headers. */

import { modelHeaders } from './billing-headers.ts'
import { type Resolution, resolve } from './resolve.ts'
import type { CallScope } from './run-accounted.ts'

/** Throws GatewayError as `resolve` does. */
export function chooseEntry({ services, call, account, headers }: CallScope, requestedName: string): Resolution {
  const resolution = resolve(services.catalogue, requestedName, call.endpoint)
  account.resolved(resolution)
  Object.assign(headers, modelHeaders(services.catalogue.settings.service, resolution, call.openedAt))
  return resolution
}
