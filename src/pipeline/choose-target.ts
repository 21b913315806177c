/** From a requested name to the place that a call of one of the single-format endpoints goes to. */

import { GatewayError } from '../errors.ts'
import type { ModelEntry, UpstreamTarget } from '../generated/types.ts'
import { modelHeaders } from './billing-headers.ts'
import { findUpstream } from './dispatch.ts'
import { type Resolution, resolve } from './resolve.ts'
import type { CallScope } from './run-accounted.ts'

export interface Chosen {
  readonly resolution: Resolution
  readonly entry: ModelEntry
  readonly target: UpstreamTarget
}

/** Notes the entry in the account and its headers in the scope. Throws GatewayError as `resolve` and `findUpstream` do. */
export function chooseTarget(scope: CallScope, requestedName: string): Chosen {
  const { services, call, account, headers } = scope
  const { service } = services.catalogue.settings
  const resolution = resolve(services.catalogue, requestedName, call.endpoint)
  account.resolved(resolution)
  Object.assign(headers, modelHeaders(service, resolution))
  const { entry } = resolution
  const target = entry.upstreams[0]
  if (target === undefined) throw new GatewayError('internal', { cause: `${entry.id} has no upstream` })
  if (findUpstream(services, { target, body: NO_BODY }).sandbox) headers[`x-${service}-simulated`] = 'true'
  return { resolution, entry, target }
}

const NO_BODY = Buffer.alloc(0)
