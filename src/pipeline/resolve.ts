/** Resolves a client's model name to an entry: by id, then by alias; on chat endpoints, finally to the fallback entry. */

import type { Catalogue, Resolution } from '../catalogue/catalogue.ts'
import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import { GatewayError } from '../errors.ts'
import type { Endpoint, ModelEntry } from '../generated/types.ts'
import type { Services } from './call.ts'

export type { Resolution } from '../catalogue/catalogue.ts'

function wrongEndpoint(entry: ModelEntry, endpoint: Endpoint): GatewayError {
  const paths = entry.endpoints.map(served => `POST ${ENDPOINT_FACTS[served].path}`).join(' or ')
  return new GatewayError('wrong_endpoint', {
    message: `model: ${entry.id} is not served on ${ENDPOINT_FACTS[endpoint].path}. Call it with ${paths}.`,
  })
}

function unknownModel(catalogue: Catalogue, name: string, endpoint: Endpoint): GatewayError {
  const quoted = name.length > 100 ? `${name.slice(0, 100)}…` : name
  return new GatewayError('model_not_found', {
    message: `model: ${quoted} is not in the catalogue. ${servedText(catalogue, endpoint)}`,
  })
}

/** Names the models to call instead. The chat endpoints serve too many to list. */
function servedText(catalogue: Catalogue, endpoint: Endpoint, except?: ModelEntry): string {
  const { makes, path } = ENDPOINT_FACTS[endpoint]
  if (makes === 'chat') return 'GET /v1/models lists the models.'
  const served = catalogue.servedOn(endpoint).filter(({ entry }) => entry !== except && !catalogue.hasEnded(entry))
  if (served.length === 0) return `${path} serves no ${except === undefined ? '' : 'other '}model.`
  return `${path} serves: ${served.map(({ entry }) => entry.id).join(', ')}.`
}

/** Statuses of errors that concern our account with the provider, not the model. */
const ACCOUNT_STATUSES: ReadonlySet<number> = new Set([401, 402, 403])

/**
 * Replaces the error of an upstream that refuses an entry whose last day is over: the client is told so, instead of being asked
 * for patience. Returns any other error unchanged.
 */
export function explainEnd(catalogue: Catalogue, entry: ModelEntry, endpoint: Endpoint, error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'upstream_misconfigured') return error
  const { upstreamStatus, cause } = error.details
  if (upstreamStatus === undefined || ACCOUNT_STATUSES.has(upstreamStatus) || !catalogue.hasEnded(entry)) return error
  const ended = `model: ${entry.id} was shut down on ${entry.deprecated?.retiresOn}.`
  return new GatewayError('model_not_found', {
    message: `${ended} ${servedText(catalogue, endpoint, entry)}`,
    upstreamStatus,
    cause,
  })
}

/**
 * Returns the named entry, even if the endpoint does not serve it. Throws GatewayError `model_not_found` if the name is unknown
 * and there is no fallback. Reports unknown names to `unknownModels`.
 */
export function resolve(
  catalogue: Catalogue,
  name: string,
  endpoint: Endpoint,
  unknownModels?: Services['unknownModels'],
): Resolution {
  const found = catalogue.resolve(name)
  if (found !== null) return found
  const fallsBack = ENDPOINT_FACTS[endpoint].makes === 'chat'
  unknownModels?.count(name, fallsBack ? 'fell_back' : 'refused')
  if (!fallsBack) throw unknownModel(catalogue, name, endpoint)
  return catalogue.fallback(name)
}

/** Throws GatewayError `wrong_endpoint` if the endpoint does not serve the entry. */
export function refuseWrongEndpoint({ item, entry }: Resolution, endpoint: Endpoint): void {
  if (!item.endpoints.has(endpoint)) throw wrongEndpoint(entry, endpoint)
}
