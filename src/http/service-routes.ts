/** Routes about the service itself: front page, health, readiness. */

import type { FastifyInstance } from 'fastify'
import { API_ROUTES } from './endpoints.ts'
import type { ServerOptions } from './request.ts'

export function addServiceRoutes(server: FastifyInstance, options: ServerOptions): void {
  const { services, readiness, publicUrl } = options
  const front = {
    service: services.catalogue.settings.service,
    what: 'A prepaid gateway to many AI models, billed in VND.',
    base_url: { messages_style_clients: publicUrl, chat_completions_style_clients: `${publicUrl}/v1` },
    endpoints: API_ROUTES.map(({ method, path, purpose }) => ({ method, path, purpose })),
    models: services.catalogue.items.length,
  }
  const config = { authentication: 'none' } as const
  // Browsers get the dashboard's front page at the same address.
  server.get('/', { config }, (_request, reply) => reply.header('vary', 'accept').send(front))
  server.get('/healthz', { config }, (_request, reply) => reply.send({ ok: true }))
  server.get('/readyz', { config }, async (_request, reply) => {
    const state = await readiness.state()
    return reply.code(state.ready ? 200 : 503).send({ ...state, catalogue: services.catalogue.settings.digest })
  })
}
