/** What every route of the process says of itself, whichever room it belongs to. */

/**
 * How a route knows who calls. `none`: public. `key`: an API key. `session`: a person who has signed in. `operator`: a
 * session of an operator; for all others the route does not exist. `signature`: signed by a bank service. `development`:
 * public, and only outside production; a production server with such a route does not start.
 */
export type RouteAuthentication = 'none' | 'key' | 'session' | 'operator' | 'signature' | 'development'

export interface RouteFacts {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly authentication: RouteAuthentication
  readonly purpose: string
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Required on every route: a server with a route that lacks it does not start. */
    authentication?: RouteAuthentication
  }
}
