/** From a requested name to the entry that serves it, noted in the call's account and headers. */

import { modelHeaders } from './billing-headers.ts'
import { type Resolution, refuseWrongEndpoint, resolve } from './resolve.ts'
import type { CallScope } from './run-accounted.ts'

/** Throws GatewayError `model_not_found` or `wrong_endpoint`. */
export function chooseEntry({ services, call, account, headers }: CallScope, requestedName: string): Resolution {
  const resolution = resolve(services.catalogue, requestedName, call.endpoint)
  // The usage row names the entry of a refused call too.
  account.resolved(resolution)
  refuseWrongEndpoint(resolution, call.endpoint)
  Object.assign(headers, modelHeaders(services.catalogue.settings.service, resolution, call.openedAt))
  return resolution
}
