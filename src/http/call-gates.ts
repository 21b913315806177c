/**
 * Checks on every route before the body is read: the gateway accepts calls, the caller is known and within the key's limits, the
 * wallet is not empty, and the body is not too long.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { GatewayError } from '../errors.ts'
import { insufficientBalance } from '../pipeline/admit.ts'
import { keysIn } from '../pipeline/authenticate.ts'
import type { Caller } from '../pipeline/call.ts'
import type { CallPass } from './call-pass.ts'
import { endsWithClient } from './connections.ts'
import { askForBody } from './lingering.ts'
import { refuseTooLarge } from './read-body.ts'
import type { ServerOptions } from './request.ts'

/**
 * Guards routes as their configuration says: `endpoint` marks routes that run models, `authentication` says how the caller is
 * identified.
 */
export function addCallGates(server: FastifyInstance, options: ServerOptions): void {
  const { services, readiness, authenticator, limits, playgroundCaller = refuseAll } = options
  server.addHook('onRequest', (request, reply, done) => {
    const { pass, route } = request.state
    // Listen from the start: the client may disconnect while its key is being looked up.
    reply.raw.once('close', () => {
      if (!pass.running) pass.release()
    })
    if (route.config.endpoint === undefined) return done()
    endsWithClient(reply.raw)
    try {
      readiness.refuseWhenClosed()
      done()
    } catch (error) {
      done(error as Error)
    }
  })
  server.addHook('onRequest', (request, _reply, done) => {
    const { authentication, endpoint } = request.state.route.config
    if (authentication === 'playground') return awaitCaller(request, done, playgroundCaller(request))
    if (authentication !== 'key') return done()
    // Routes with an endpoint may use a cached key, because placing the hold verifies it again. All others query the database.
    const keys = keysIn(request.headers)
    if (endpoint !== undefined) request.state.caller = authenticator.cachedCaller(keys)
    if (request.state.caller !== null) return done()
    const found = endpoint === undefined ? authenticator.verify(keys) : authenticator.findCaller(keys)
    awaitCaller(request, done, found)
  })
  const withinLimits = keyLimits(options)
  server.addHook('preParsing', (request, _reply, payload, done) => {
    const waiting = withinLimits(request)
    if (waiting === null) return done(null, payload)
    waiting.then(() => done(null, payload), done)
  })
  server.addHook('preParsing', (request, reply, payload, done) => {
    try {
      const { caller, route } = request.state
      // A wrong base URL must not look like a body that is too long.
      if (request.is404) return done(null, payload)
      if (caller?.walletEmpty && route.config.endpoint) throw insufficientBalance(services.topUpUrl)
      refuseTooLarge(request.raw, route.bodyLimit ?? limits.bodyBytesMax)
      askForBody(request.raw, reply.raw)
      done(null, payload)
    } catch (error) {
      done(error as Error)
    }
  })
}

function awaitCaller(request: FastifyRequest, done: (error?: Error) => void, found: Promise<Caller>): void {
  found.then(caller => {
    request.state.caller = caller
    done()
  }, done)
}

function refuseAll(): Promise<Caller> {
  return Promise.reject(new GatewayError('authentication_failed'))
}

/**
 * Counts a call against its key's limits. Returns null if the call may continue at once, otherwise a promise, which may reject
 * with GatewayError `rate_limited`.
 */
function keyLimits(options: ServerOptions): (request: FastifyRequest) => Promise<void> | null {
  const { services, rateLimiter, flightLimiter } = options
  const { rateLimitPerMinute, concurrencyMax } = services.catalogue.settings
  const enter = (caller: Caller, pass: CallPass): Promise<void> | null => {
    const { keyId } = caller
    const limit = caller.concurrencyMax ?? concurrencyMax
    if (limit === 0) return null
    const waiting = flightLimiter.take(keyId, limit)
    const entered = () => pass.entered(() => flightLimiter.release(keyId))
    if (waiting !== null) return waiting.then(entered)
    entered()
    return null
  }
  return ({ state: { caller, pass, route } }) => {
    if (caller === null || route.config.endpoint === undefined) return null
    const limit = caller.rateLimitPerMinute ?? rateLimitPerMinute
    if (limit === 0) return enter(caller, pass)
    return rateLimiter.take(caller.keyId, limit).then(() => enter(caller, pass) ?? undefined)
  }
}
