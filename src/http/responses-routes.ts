/** The responses endpoint, and the refusal of a WebSocket upgrade on it: clients then send the same as a POST at once. */

import type { FastifyInstance } from 'fastify'
import { GatewayError } from '../errors.ts'
import { runResponsesCall } from '../pipeline/responses.ts'
import { addCallRoute } from './call-route.ts'
import { RESPONSES_ROUTE } from './endpoints.ts'
import { type ServerOptions, sendError } from './request.ts'

export function addResponsesRoutes(server: FastifyInstance, options: ServerOptions): void {
  addCallRoute(server, options, RESPONSES_ROUTE, runResponsesCall)
  // HEAD of this path is none of the methods served, like GET without an upgrade.
  server.get(RESPONSES_ROUTE.path, { exposeHeadRoute: false, config: { authentication: 'none' } }, (request, reply) => {
    const wantsUpgrade = request.headers.upgrade !== undefined
    reply.header('allow', 'POST')
    if (wantsUpgrade) reply.headers({ upgrade: 'HTTP/1.1', connection: 'Upgrade, close' })
    const message = `${RESPONSES_ROUTE.path} takes POST, not GET.`
    sendError(
      request,
      reply,
      wantsUpgrade ? new GatewayError('upgrade_refused') : new GatewayError('method_not_allowed', { message }),
    )
  })
}
