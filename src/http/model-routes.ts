/** The routes `GET /v1/models` and `GET /v1/models/{id}`, answered from memory with an ETag. */

import { parse } from 'node:querystring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { allows } from '../catalogue/allowed.ts'
import { createModelList, type ModelListQuery, type RenderedBody } from '../catalogue/model-list.ts'
import { GatewayError } from '../errors.ts'
import { chosenCoding } from '../lib/content-coding.ts'
import { modelNotAllowed } from '../pipeline/admit.ts'
import { MODEL_ROUTE, MODELS_ROUTE } from './endpoints.ts'
import type { ServerOptions } from './request.ts'

/** Maximum number of fields that are read of a query; further ones are ignored. */
const QUERY_FIELDS_MAX = 50

export function addModelRoutes(server: FastifyInstance, options: ServerOptions): void {
  const { services } = options
  const models = createModelList(services.catalogue)
  const config = { authentication: 'key' } as const
  server.get(MODELS_ROUTE.path, { config }, (request, reply) => {
    const result = models.list(queryOf(request), request.state.caller?.allowedModels)
    if ('problem' in result) throw new GatewayError('invalid_request', { message: result.problem })
    return sendRendered(request, reply, result)
  })
  server.get<{ Params: { '*': string } }>(MODEL_ROUTE.path, { config }, (request, reply) => {
    const name = request.params['*']
    const result = models.one(name)
    if (result === null) {
      throw new GatewayError('unknown_model', {
        message: `There is no model ${JSON.stringify(name.slice(0, 200))}; GET /v1/models lists them.`,
      })
    }
    const resolution = services.catalogue.resolve(name)
    const allowed = request.state.caller?.allowedModels ?? null
    if (resolution !== null && !allows(services.catalogue, allowed, resolution.entry)) {
      throw modelNotAllowed(resolution.entry)
    }
    return sendRendered(request, reply, result)
  })
}

function queryOf({ url }: FastifyRequest): ModelListQuery {
  const start = url.indexOf('?') + 1
  return start === 0 ? {} : parse(url.slice(start), '&', '=', { maxKeys: QUERY_FIELDS_MAX })
}

async function sendRendered(
  request: FastifyRequest,
  reply: FastifyReply,
  rendered: RenderedBody,
): Promise<FastifyReply> {
  const coding = chosenCoding(request.headers['accept-encoding'])
  // Each content coding is a separate representation and needs its own ETag.
  const etag = coding === null ? rendered.etag : rendered.etag.replace(/"$/, `-${coding}"`)
  reply.headers({ etag, 'cache-control': 'private, no-cache', vary: 'accept-encoding' })
  const known = request.headers['if-none-match']?.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
  if (known) return reply.code(304).send()
  reply.type('application/json; charset=utf-8')
  if (coding === null) return reply.send(rendered.body)
  return reply.header('content-encoding', coding).send(await rendered.coded(coding))
}
