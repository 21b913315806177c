/** What every route declares: API endpoints, pages, webhooks and service routes alike. */

/**
 * How a route authenticates its caller.
 *
 * - `none`: not at all; the route is public.
 * - `key`: by API key.
 * - `session`: by the session of a signed-in person.
 * - `operator`: by an operator's session; to anyone else the route seems not to exist.
 * - `playground`: a signed-in person's call from our own page.
 * - `signature`: by the signature of a bank service.
 * - `development`: public, but only outside production; a production server with such a route refuses to start.
 */
export type RouteAuthentication = 'none' | 'key' | 'session' | 'operator' | 'playground' | 'signature' | 'development'

export interface RouteFacts {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly authentication: RouteAuthentication
  readonly purpose: string
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Required on every route: the server refuses to start if one lacks it. */
    authentication?: RouteAuthentication
    /** Accepts forms posted from other sites, in any encoding. */
    fromAnywhere?: boolean
  }
}
