/** The frame of every route that runs a model: key first, then the body, then the pipeline on a hijacked reply. */

import type { FastifyInstance } from 'fastify'
import type { Call, Caller, ClientChannel, Services } from '../pipeline/call.ts'
import type { Pinger } from '../pipeline/pinger.ts'
import { ResponseChannel } from './client-channel.ts'
import type { CallRoute } from './endpoints.ts'
import { callOf, type ServerOptions } from './request.ts'

/** What runs a call; it never rejects. */
export type RunCall = (
  services: Services,
  call: Call,
  client: ClientChannel,
  extras: { readonly pinger: Pinger },
) => Promise<void>

export function addCallRoute(server: FastifyInstance, options: ServerOptions, route: CallRoute, run: RunCall): void {
  const { services, pinger, readiness } = options
  server.route({
    method: route.method,
    url: route.path,
    config: { endpoint: route.endpoint, authentication: route.authentication },
    handler: (request, reply) => {
      reply.hijack()
      const { state } = request
      const client = new ResponseChannel({
        response: reply.raw,
        requestId: state.requestId,
        startedMs: state.startedMs,
        nowMs: services.nowMs,
        namedEvents: route.endpoint === 'messages',
        errorTold: code => services.observer.errorTold(code),
      })
      const call = callOf(request, route.endpoint, state.caller as Caller)
      state.pass.running = true
      void readiness.track(run(services, call, client, { pinger })).finally(() => state.pass.release())
    },
  })
}
