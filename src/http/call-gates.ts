/**
 * What a request passes before its body is read, whatever its route: the gateway takes calls, the key is known, and it keeps
 * to its limit.
 */

import type { FastifyInstance } from 'fastify'
import { keysIn } from '../pipeline/authenticate.ts'
import type { ServerOptions } from './request.ts'

/** Guards routes by what their config says: those with an endpoint run models, those of class `key` need one. */
export function addCallGates(server: FastifyInstance, options: ServerOptions): void {
  const { services, readiness, rateLimiter, authenticator } = options
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
  server.addHook('onRequest', (request, _reply, done) => {
    const { authentication, endpoint } = request.routeOptions.config
    if (authentication !== 'key') return done()
    // Routes with an endpoint place a hold, which verifies the key once more; for all others it is looked up afresh.
    const keys = keysIn(request.headers)
    if (endpoint !== undefined) request.state.caller = authenticator.remembered(keys)
    if (request.state.caller !== null) return done()
    const found = endpoint === undefined ? authenticator.verify(keys) : authenticator.recall(keys)
    found.then(caller => {
      request.state.caller = caller
      done()
    }, done)
  })
  server.addHook('preParsing', (request, _reply, payload, done) => {
    const { caller } = request.state
    const limit = caller?.rateLimitPerMinute ?? rateLimitPerMinute
    if (limit === 0 || caller === null || request.routeOptions.config.endpoint === undefined) return done(null, payload)
    rateLimiter.take(caller.keyId, limit).then(() => done(null, payload), done)
  })
}
