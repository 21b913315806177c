/** The frame of every route that runs a model: key, then body, then the pipeline on a hijacked reply. */

import type { FastifyInstance } from 'fastify'
import type { FreeEndpoint, ModelEndpoint } from '../endpoints/endpoint.ts'
import { FREE_ENDPOINTS, MODEL_ENDPOINTS } from '../endpoints/index.ts'
import type { Caller } from '../pipeline/call.ts'
import { runCall } from '../pipeline/run.ts'
import { ResponseChannel } from './client-channel.ts'
import { callOf, type ServerOptions } from './request.ts'

export function addEndpoints(server: FastifyInstance, options: ServerOptions): void {
  for (const endpoint of MODEL_ENDPOINTS) addCallRoute(server, options, endpoint)
  for (const endpoint of FREE_ENDPOINTS) addFreeRoute(server, options, endpoint)
}

function addCallRoute(server: FastifyInstance, options: ServerOptions, endpoint: ModelEndpoint): void {
  const { services, pinger, readiness } = options
  const { name, kind, namedEvents, codeOf } = endpoint
  server.route({
    method: endpoint.method,
    url: endpoint.path,
    config: { endpoint: name, authentication: endpoint.authentication },
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
      void readiness.track(runCall(services, call, client, { kind, pinger })).finally(() => state.pass.release())
    },
  })
}

function addFreeRoute(server: FastifyInstance, { services }: ServerOptions, endpoint: FreeEndpoint): void {
  server.route({
    method: endpoint.method,
    url: endpoint.path,
    config: { authentication: endpoint.authentication },
    handler: async (request, reply) => {
      const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const { headers, body } = await endpoint.answer(services, raw)
      return reply.headers(headers).send(body)
    },
  })
}
