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
  const served = catalogue.servedOn(endpoint).map(item => item.entry.id)
  const quoted = name.length > 100 ? `${name.slice(0, 100)}…` : name
  return new GatewayError('model_not_found', {
    message: `model: ${quoted} is not in the catalogue. ${ENDPOINT_FACTS[endpoint].path} serves: ${served.join(', ')}.`,
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
