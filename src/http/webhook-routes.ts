/** `POST /webhooks/bank/<provider>`: one route for each provider that has its secret, and none for the others. */

import type { FastifyInstance } from 'fastify'
import { GatewayError } from '../errors.ts'
import { receiveNotification } from '../payments/notification.ts'
import type { BankProvider, PaymentServices } from '../payments/types.ts'
import type { PipelineLog } from '../pipeline/call.ts'
import { webhookRoute } from './endpoints.ts'
import type { Readiness } from './readiness.ts'

export interface Banking {
  readonly payments: PaymentServices
  readonly providers: ReadonlyMap<string, BankProvider>
}

export function addWebhookRoutes(
  server: FastifyInstance,
  { payments, providers }: Banking,
  { readiness, log }: { readonly readiness: Readiness; readonly log: PipelineLog },
): void {
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
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const work = receiveNotification(payments, provider, body, request.headers)
        void readiness.track(work)
        const received = await work.catch((error: unknown) => {
          const code = error instanceof GatewayError ? error.code : 'internal'
          log.warn({ provider: provider.name, code }, 'a bank notification was not taken')
          throw error
        })
        const outcomes = received.map(({ outcome }) => outcome)
        log.info({ provider: provider.name, outcomes }, 'bank notification')
        const { requestId } = request.state
        return reply.headers({ 'request-id': requestId, 'x-request-id': requestId }).send({ success: true })
      },
    })
  }
}
