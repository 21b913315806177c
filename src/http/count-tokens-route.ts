/** `POST /v1/messages/count_tokens`: free, and no row in the usage log. */

import type { FastifyInstance } from 'fastify'
import { countInput } from '../pipeline/count-tokens.ts'
import { COUNT_TOKENS_ROUTE } from './endpoints.ts'
import type { ServerOptions } from './request.ts'

export function addCountTokensRoute(server: FastifyInstance, options: ServerOptions): void {
  const { services } = options
  server.route({
    method: COUNT_TOKENS_ROUTE.method,
    url: COUNT_TOKENS_ROUTE.path,
    config: { authentication: COUNT_TOKENS_ROUTE.authentication },
    handler: async (request, reply) => {
      const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const { inputTokens, headers } = await countInput(services.catalogue, raw, services.limits)
      return reply.headers(headers).send({ input_tokens: inputTokens })
    },
  })
}
