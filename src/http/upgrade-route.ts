/** Refuses WebSocket upgrades on the responses endpoint; clients then send the same request by POST at once. */

import type { FastifyInstance } from 'fastify'
import { GatewayError } from '../errors.ts'
import { UPGRADE_ROUTE } from './endpoints.ts'
import { sendError } from './request.ts'

export function addUpgradeRoute(server: FastifyInstance): void {
  const { path, authentication } = UPGRADE_ROUTE
  // HEAD is not served here, nor is GET without an upgrade.
  server.get(path, { exposeHeadRoute: false, config: { authentication } }, (request, reply) => {
    const wantsUpgrade = request.headers.upgrade !== undefined
    reply.header('allow', 'POST')
    if (wantsUpgrade) reply.headers({ upgrade: 'HTTP/1.1', connection: 'Upgrade, close' })
    const message = `${path} supports POST, not GET.`
    sendError(
      request,
      reply,
      wantsUpgrade ? new GatewayError('upgrade_refused') : new GatewayError('method_not_allowed', { message }),
    )
  })
}
