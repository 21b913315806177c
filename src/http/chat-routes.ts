/** The two chat endpoints: key first, then the body, then the pipeline on a hijacked reply. */

import type { FastifyInstance } from 'fastify'
import type { Caller } from '../pipeline/call.ts'
import { runChatCall } from '../pipeline/run.ts'
import { ResponseChannel } from './client-channel.ts'
import { CHAT_ROUTES, type ChatRoute } from './endpoints.ts'
import { callOf, keysOf, type ServerOptions } from './request.ts'

export function addChatRoutes(server: FastifyInstance, options: ServerOptions): void {
  for (const route of CHAT_ROUTES) addChatRoute(server, route, options)
}

function addChatRoute(server: FastifyInstance, route: ChatRoute, options: ServerOptions): void {
  const { services, authenticator, pinger, readiness } = options
  server.route({
    method: route.method,
    url: route.path,
    config: { endpoint: route.endpoint },
    onRequest: async request => {
      request.state.caller = await authenticator.recall(keysOf(request))
    },
    handler: (request, reply) => {
      reply.hijack()
      const { state } = request
      const client = new ResponseChannel({
        response: reply.raw,
        requestId: state.requestId,
        startedMs: state.startedMs,
        nowMs: services.nowMs,
        namedEvents: route.endpoint === 'messages',
      })
      const call = callOf(request, route.endpoint, state.caller as Caller)
      const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      void readiness.track(runChatCall(services, call, raw, client, { format: route.endpoint, pinger }))
    },
  })
}
