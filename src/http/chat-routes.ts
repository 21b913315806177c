/** The two chat endpoints. */

import type { FastifyInstance } from 'fastify'
import { runChatCall } from '../pipeline/run.ts'
import { addCallRoute } from './call-route.ts'
import { CHAT_ROUTES } from './endpoints.ts'
import type { ServerOptions } from './request.ts'

export function addChatRoutes(server: FastifyInstance, options: ServerOptions): void {
  for (const route of CHAT_ROUTES) {
    addCallRoute(server, options, route, (services, call, client, { pinger }) =>
      runChatCall(services, call, client, { format: route.endpoint, pinger }),
    )
  }
}
