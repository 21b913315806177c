/** What every call passes before its body is read, whatever its endpoint: the gateway takes calls, the key keeps to its limit. */

import type { FastifyInstance } from 'fastify'
import type { ServerOptions } from './request.ts'

/** Guards all routes that have an endpoint in their config; their own `onRequest` finds the caller between the two gates. */
export function addCallGates(server: FastifyInstance, { services, readiness, rateLimiter }: ServerOptions): void {
  const { rateLimitPerMinute } = services.catalogue.settings
  server.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.endpoint === undefined) return done()
    try {
      readiness.refuseWhenClosed()
      done()
    } catch (error) {
      done(error as Error)
    }
  })
  server.addHook('preParsing', (request, _reply, payload, done) => {
    const { caller } = request.state
    const limit = caller?.rateLimitPerMinute ?? rateLimitPerMinute
    if (limit === 0 || caller === null || request.routeOptions.config.endpoint === undefined) return done(null, payload)
    rateLimiter.take(caller.keyId, limit).then(() => done(null, payload), done)
  })
}
