/** Every route of the gateway: method, path, how it authenticates, what it is for. */

import type { Endpoint } from '../generated/types.ts'
import type { RouteFacts } from '../lib/route.ts'
import type { ChatFormat } from '../translate/translator.ts'

/** A route of the API. */
export interface ApiRoute extends RouteFacts {
  /** Its row in the table of operations, for those that the API's description lists. */
  readonly operationId?: string
}

/** A route that runs a model. */
export interface CallRoute extends ApiRoute {
  readonly endpoint: Endpoint
}

export interface ChatRoute extends CallRoute {
  readonly endpoint: Extract<Endpoint, ChatFormat>
}

export const CHAT_ROUTES: readonly ChatRoute[] = [
  {
    method: 'POST',
    path: '/v1/messages',
    authentication: 'key',
    purpose: 'Messages format',
    operationId: 'createMessage',
    endpoint: 'messages',
  },
  {
    method: 'POST',
    path: '/v1/chat/completions',
    authentication: 'key',
    purpose: 'Chat Completions format',
    operationId: 'createChatCompletion',
    endpoint: 'chat_completions',
  },
]

export const RESPONSES_ROUTE: CallRoute = {
  method: 'POST',
  path: '/v1/responses',
  authentication: 'key',
  purpose: 'Responses format',
  operationId: 'createResponse',
  endpoint: 'responses',
}

export const IMAGE_ROUTES: readonly CallRoute[] = [
  {
    method: 'POST',
    path: '/v1/images/generations',
    authentication: 'key',
    purpose: 'Image generation',
    operationId: 'createImage',
    endpoint: 'images_generations',
  },
  {
    method: 'POST',
    path: '/v1/images/edits',
    authentication: 'key',
    purpose: 'Edit of a reference image, as JSON or as a form',
    operationId: 'editImage',
    endpoint: 'images_edits',
  },
]

export const SPEECH_ROUTE: CallRoute = {
  method: 'POST',
  path: '/v1/audio/speech',
  authentication: 'key',
  purpose: 'Text to speech',
  operationId: 'createSpeech',
  endpoint: 'audio_speech',
}

export const COUNT_TOKENS_ROUTE: ApiRoute = {
  method: 'POST',
  path: '/v1/messages/count_tokens',
  authentication: 'key',
  purpose: 'Input tokens of a messages request; free',
  operationId: 'countTokens',
}

/** Notifications of movements on the bank account; there only when the provider's secret is set. */
export function webhookRoute(provider: string): RouteFacts {
  return {
    method: 'POST',
    path: `/webhooks/bank/${provider}`,
    authentication: 'signature',
    purpose: 'Notifications of bank transfers',
  }
}

export const OTHER_ROUTES: readonly ApiRoute[] = [
  RESPONSES_ROUTE,
  ...IMAGE_ROUTES,
  SPEECH_ROUTE,
  COUNT_TOKENS_ROUTE,
  { method: 'GET', path: '/v1/responses', authentication: 'none', purpose: 'Refuses WebSocket upgrades: use POST' },
  {
    method: 'GET',
    path: '/v1/models',
    authentication: 'key',
    purpose: 'Model list with prices',
    operationId: 'listModels',
  },
  { method: 'GET', path: '/v1/models/*', authentication: 'key', purpose: 'One model', operationId: 'readModel' },
  { method: 'GET', path: '/', authentication: 'none', purpose: 'What this service is' },
  { method: 'GET', path: '/healthz', authentication: 'none', purpose: 'The process answers' },
  {
    method: 'GET',
    path: '/readyz',
    authentication: 'none',
    purpose: 'Calls are taken: database, catalogue, not draining',
  },
]

/** Methods that a path takes; none for a path that does not exist. */
export function methodsOf(path: string, configured: readonly RouteFacts[] = []): readonly string[] {
  const plain = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  const found = [...CHAT_ROUTES, ...OTHER_ROUTES, ...configured].filter(route => {
    return route.path === plain || (route.path.endsWith('/*') && plain.startsWith(route.path.slice(0, -1)))
  })
  return [...new Set(found.flatMap(route => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])))]
}

const TAILS = [
  '/messages/count_tokens',
  '/messages',
  '/chat/completions',
  '/responses',
  '/images/generations',
  '/images/edits',
  '/audio/speech',
  '/models',
] as const

/**
 * What to say to a client that called a path that does not exist: mostly a base address with a `/v1` too many or too few.
 * `publicUrl` has no slash at its end.
 */
export function notFoundMessage(method: string, path: string, publicUrl: string): string {
  const known = TAILS.find(tail => path.endsWith(tail) || path.includes(`${tail}/`))
  if (known === undefined) return `There is no ${method} ${path}. The endpoints are listed at ${publicUrl}/.`
  if (path.startsWith(`/v1${known}/`)) {
    return `There is no ${method} ${path}; of these paths only ${publicUrl}/v1${known} is served.`
  }
  return `There is no ${method} ${path}; the endpoint is ${publicUrl}/v1${known}. ${baseAdvice(known, publicUrl)}`
}

function baseAdvice(known: (typeof TAILS)[number], publicUrl: string): string {
  const advice = 'Check the base address of the client:'
  const messages = `Messages-style SDKs usually want ${publicUrl} (some want ${publicUrl}/v1)`
  const chat = `Chat-completions-style SDKs usually want ${publicUrl}/v1`
  if (known === '/models') return `${advice} ${messages}; ${chat}.`
  return `${advice} ${known.startsWith('/messages') ? messages : chat}.`
}
