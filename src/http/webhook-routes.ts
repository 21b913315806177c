/** `POST /webhooks/bank/<provider>`: one route per provider whose secret is set. */

import type { FastifyInstance } from 'fastify'
import { GatewayError } from '../errors.ts'
import { inPageTurn } from '../lib/loop-turns.ts'
import { receiveNotification } from '../payments/notification.ts'
import type { BankProvider, PaymentServices } from '../payments/types.ts'
import type { Services } from '../pipeline/call.ts'
import { webhookRoute } from './endpoints.ts'
import type { Readiness } from './readiness.ts'

export interface Banking {
  readonly payments: PaymentServices
  readonly providers: ReadonlyMap<string, BankProvider>
}

export function addWebhookRoutes(
  server: FastifyInstance,
  { payments, providers }: Banking,
  { readiness, services }: { readonly readiness: Readiness; readonly services: Pick<Services, 'log' | 'observer'> },
): void {
  const { log, observer } = services
  for (const provider of providers.values()) {
    const { method, path, authentication } = webhookRoute(provider.name)
    server.route({
      method,
      url: path,
      config: { authentication },
      bodyLimit: payments.limits.notificationBytesMax,
      onRequest: async () => {
        if (readiness.draining()) throw new GatewayError('draining', { retryAfterSeconds: 1 })
      },
      handler: async (request, reply) => {
        const { requestId } = request.state
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const work = inPageTurn(() => receiveNotification(payments, provider, body, request.headers))
        void readiness.track(work)
        const received = await work.catch((error: unknown) => {
          const code = error instanceof GatewayError ? error.code : 'internal'
          observer.notificationHandled(provider.name, [code])
          log.warn({ requestId, provider: provider.name, code }, 'a bank notification was refused')
          throw error
        })
        const outcomes = received.map(({ outcome }) => outcome)
        observer.notificationHandled(provider.name, outcomes)
        log.info({ requestId, provider: provider.name, outcomes }, 'bank notification')
        return reply.send({ success: true })
      },
    })
  }
}
