/** Resolves the requested name to an entry, and records the entry in the call's bill and headers. */

import type { ModelEntry } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { modelHeaders } from './billing-headers.ts'
import { CallExtras } from './extras.ts'
import { type Resolution, refuseWrongEndpoint, resolve } from './resolve.ts'
import type { CallScope } from './run-billed.ts'

/** Throws GatewayError `model_not_found` or `wrong_endpoint`. */
export function chooseEntry({ services, call, bill, headers }: CallScope, requestedName: string): Resolution {
  const resolution = resolve(services.catalogue, requestedName, call.endpoint, services.unknownModels)
  // Record the resolution before any check, so that a refused call's usage row names its entry too.
  bill.resolved(resolution)
  refuseWrongEndpoint(resolution, call.endpoint)
  Object.assign(headers, modelHeaders(services.catalogue.settings.service, resolution, call.openedAt))
  return resolution
}

/**
 * Finds the extras that the body requests (fields and provider-run tools that cost more than tokens), and plans which of them
 * pass, are left out or are charged for. Throws GatewayError `invalid_request` if one is refused.
 */
export function chooseExtras({ services, call, bill }: CallScope, entry: ModelEntry, body: JsonObject): CallExtras {
  const { extras: vocabulary } = services.catalogue.settings
  const extras = new CallExtras({ vocabulary, endpoint: call.endpoint, entry, body })
  bill.extras = extras
  return extras
}
