/**
 * Lets pages of other origins call the API, as they can call the vendors': chat apps, browser extensions and editors built on a
 * browser run SDKs in a page. Only the paths of the API are open to them. These paths authenticate by key, never by cookie, so a
 * page can do nothing without a key.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RouteFacts } from '../lib/route.ts'
import { methodsOf } from './endpoints.ts'

/** Every path of the API, and no other: the playground and the pages, which read cookies, are elsewhere. */
const API_PATH = /^\/+v1(?:\/|\?|$)/
/** How long a browser may remember the answer to a preflight, in seconds. No browser takes more than a day. */
const REMEMBERED_SECONDS = 86_400

/** Adds the headers to replies, errors too, and answers preflights (`OPTIONS`), which ask for permission and carry no key. */
export function addCrossOrigin(server: FastifyInstance, configured: readonly RouteFacts[]): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { headers, raw } = request
    if (headers.origin === undefined || !API_PATH.test(raw.url ?? '')) return done()
    // Calls write their replies without Fastify, so the headers are set on the response itself.
    reply.raw.setHeader('access-control-allow-origin', '*')
    if (!isPreflight(request)) {
      reply.raw.setHeader('access-control-expose-headers', '*')
      return done()
    }
    const path = (raw.url as string).split('?')[0] as string
    reply
      .code(204)
      .headers({
        'access-control-allow-methods': methodsOf(path, configured).join(', ') || 'GET, POST',
        // `*` would not include `authorization`.
        'access-control-allow-headers': headers['access-control-request-headers'] ?? '*',
        'access-control-max-age': String(REMEMBERED_SECONDS),
      })
      .send()
  })
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}
