/** What every route declares, whichever room it belongs to. */

/**
 * How a route authenticates its caller. `none`: public. `key`: an API key. `session`: a signed-in person. `operator`:
 * an operator's session; for everyone else the route does not exist. `playground`: a signed-in person's call from our
 * own page. `signature`: signed by a bank service. `development`: public, outside production only; a production server
 * with such a route refuses to start.
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
    /** Required on every route: the server refuses to start with a route that lacks it. */
    authentication?: RouteAuthentication
    /** Accepts forms from other sites, in any encoding. */
    fromAnywhere?: boolean
  }
}
