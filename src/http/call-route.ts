/**
 * What all routes that run a model have in common: they identify the caller, read the body, and run the pipeline on a hijacked
 * reply.
 */

import type { FastifyInstance } from 'fastify'
import type { FreeEndpoint, ModelEndpoint } from '../endpoints/endpoint.ts'
import { FREE_ENDPOINTS, MODEL_ENDPOINTS } from '../endpoints/index.ts'
import type { RouteFacts } from '../lib/route.ts'
import type { Caller, Services } from '../pipeline/call.ts'
import { runCall } from '../pipeline/run.ts'
import { ResponseChannel } from './client-channel.ts'
import { CountBudget } from './count-budget.ts'
import { callOf, type ServerOptions } from './request.ts'

/** Prefix of the paths for the playground's calls. They differ from API calls only in how the caller is identified. */
const PLAYGROUND = '/playground'

export function addEndpoints(server: FastifyInstance, options: ServerOptions): void {
  for (const endpoint of MODEL_ENDPOINTS) {
    addCallRoute(server, options, endpoint, endpoint)
    if (options.playgroundCaller !== undefined) {
      addCallRoute(server, options, endpoint, { path: PLAYGROUND + endpoint.path, authentication: 'playground' })
    }
  }
  const budget = new CountBudget(options.limits, options.services.nowMs)
  for (const endpoint of FREE_ENDPOINTS) addFreeRoute(server, options.services, { endpoint, budget })
}

function addCallRoute(
  server: FastifyInstance,
  options: ServerOptions,
  endpoint: ModelEndpoint,
  { path, authentication }: Pick<RouteFacts, 'path' | 'authentication'>,
): void {
  const { services, pinger, readiness } = options
  const { name, kind, namedEvents, codeOf } = endpoint
  server.route({
    method: endpoint.method,
    url: path,
    config: { endpoint: name, authentication },
    handler: (request, reply) => {
      reply.hijack()
      const { state } = request
      const client = new ResponseChannel({
        response: reply.raw,
        requestId: state.requestId,
        service: services.catalogue.settings.service,
        startedMs: state.startedMs,
        nowMs: services.nowMs,
        namedEvents,
        codeOf,
        errorSent: code => services.observer.errorSent(code),
      })
      const call = callOf(request, name, state.caller as Caller)
      state.pass.running = true
      void readiness
        .track(runCall(services, call, client, { kind, pinger }))
        .finally(() => state.pass.replied(reply.raw))
    },
  })
}

interface FreeRoute {
  readonly endpoint: FreeEndpoint
  readonly budget: CountBudget
}

function addFreeRoute(server: FastifyInstance, services: Services, { endpoint, budget }: FreeRoute): void {
  server.route({
    method: endpoint.method,
    url: endpoint.path,
    config: { authentication: endpoint.authentication },
    // Before the body is read.
    onRequest: async request => budget.check(request.state.caller as Caller),
    handler: async (request, reply) => {
      const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      budget.take(request.state.caller as Caller, raw.length)
      const { headers, body } = await endpoint.answer(services, raw)
      return reply.headers(headers).send(body)
    },
  })
}
