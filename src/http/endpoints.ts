/** Every API route: method, path, authentication, purpose. Routes that run models are defined in `src/endpoints/`. */

import type { ApiRoute } from '../endpoints/endpoint.ts'
import { FREE_ENDPOINTS, MODEL_ENDPOINTS } from '../endpoints/index.ts'
import { RESPONSES } from '../endpoints/responses.ts'
import { GatewayError } from '../errors.ts'
import type { RouteFacts } from '../lib/route.ts'

/** The route for a provider's notifications of bank transactions. Served only if that provider's secret is set. */
export function webhookRoute(provider: string): RouteFacts {
  return {
    method: 'POST',
    path: `/webhooks/bank/${provider}`,
    authentication: 'signature',
    purpose: 'Notifications of bank transfers',
  }
}

export const UPGRADE_ROUTE: ApiRoute = {
  method: 'GET',
  path: RESPONSES.path,
  authentication: 'none',
  purpose: 'Refuses WebSocket upgrades: use POST',
}

export const MODELS_ROUTE = {
  method: 'GET',
  path: '/v1/models',
  authentication: 'key',
  purpose: 'Model list with prices',
  operationId: 'listModels',
  operation: {
    summary: 'List models with their prices',
    description: 'Filters: `channel`, `endpoint`, `capability`. Pages: `limit`, `after_id`, `before_id`.',
    request: null,
    reply: 'ModelList',
    billed: false,
  },
} as const satisfies ApiRoute

export const MODEL_ROUTE = {
  method: 'GET',
  path: '/v1/models/*',
  authentication: 'key',
  purpose: 'One model',
  operationId: 'readModel',
  operation: {
    summary: 'One model, by id or alias',
    description: 'A slash in the id may be written as it is or as `%2F`.',
    request: null,
    reply: 'Model',
    billed: false,
  },
} as const satisfies ApiRoute

export const KEY_ROUTE = {
  method: 'GET',
  path: '/v1/key',
  authentication: 'key',
  purpose: "The key's limits and cost, and the balance",
  operationId: 'readKey',
  operation: {
    summary: 'Limits and cost of the key, and the balance',
    description: 'Amounts are in VND; days, weeks (from Monday) and months are those of Vietnam.',
    request: null,
    reply: 'Key',
    billed: false,
  },
} as const satisfies ApiRoute

export const API_ROUTES: readonly ApiRoute[] = [
  ...MODEL_ENDPOINTS,
  ...FREE_ENDPOINTS,
  UPGRADE_ROUTE,
  MODELS_ROUTE,
  MODEL_ROUTE,
  KEY_ROUTE,
  { method: 'GET', path: '/', authentication: 'none', purpose: 'What this service is' },
  { method: 'GET', path: '/healthz', authentication: 'none', purpose: 'Whether the process is responding' },
  {
    method: 'GET',
    path: '/readyz',
    authentication: 'none',
    purpose: 'Whether calls are accepted: the database is responding and the process is not draining',
  },
]

/** Methods served on a path; empty if the path is unknown. */
export function methodsOf(path: string, configured: readonly RouteFacts[] = []): readonly string[] {
  const plain = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  const found = [...API_ROUTES, ...configured].filter(route => {
    return route.path === plain || (route.path.endsWith('/*') && plain.startsWith(route.path.slice(0, -1)))
  })
  return [...new Set(found.flatMap(route => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])))]
}

/** The served paths without their leading `/v1`, longest first. */
const TAILS: readonly string[] = [...new Set(API_ROUTES.map(({ path }) => path))]
  .filter(path => path.startsWith('/v1/') && !path.includes('*'))
  .map(path => path.slice('/v1'.length))
  .sort((a, b) => b.length - a.length)

const STORED_RESPONSE = /^\/v1\/responses\/([^/]+)(\/cancel|\/input_items)?$/
const COMPACT = `${RESPONSES.path}/compact`

/** The error for an unknown path. `publicUrl` has no trailing slash. */
export function notFound(method: string, path: string, publicUrl: string): GatewayError {
  if (path === COMPACT) {
    const message = `There is no ${method} ${path}: this service does not compact responses. Let the client do it: coding agents do if their configuration gives this provider a separate name.`
    return new GatewayError('route_not_found', { message })
  }
  const id = STORED_RESPONSE.exec(path)?.[1]
  if (id === undefined)
    return new GatewayError('route_not_found', { message: notFoundMessage(method, path, publicUrl) })
  const message = `There is no response ${id}: this service stores none. Use the reply to POST ${RESPONSES.path}, and send the whole conversation with each request.`
  return new GatewayError('response_not_found', { message })
}

/**
 * Advice for a client that called an unknown path: usually its base URL has one `/v1` too many or too few. `publicUrl` has no
 * trailing slash.
 */
function notFoundMessage(method: string, path: string, publicUrl: string): string {
  const known = TAILS.find(tail => path.endsWith(tail) || path.includes(`${tail}/`))
  if (known === undefined) return `There is no ${method} ${path}. The endpoints are listed at ${publicUrl}/.`
  if (path.startsWith(`/v1${known}/`)) {
    return `There is no ${method} ${path}; only ${publicUrl}/v1${known} itself is served, and no path below it.`
  }
  return `There is no ${method} ${path}; the endpoint is ${publicUrl}/v1${known}. ${baseAdvice(known, publicUrl)}`
}

function baseAdvice(known: string, publicUrl: string): string {
  const advice = 'Check the base URL in your client:'
  const messages = `Messages-style SDKs usually want ${publicUrl} (some want ${publicUrl}/v1)`
  const chat = `Chat-completions-style SDKs usually want ${publicUrl}/v1`
  if (known === '/models') return `${advice} ${messages}; ${chat}.`
  return `${advice} ${known.startsWith('/messages') ? messages : chat}.`
}
