/** The baseline: a proxy of Fastify and undici with minimal overhead, which forwards requests and replies unchanged. */

import Fastify from 'fastify'
import { Pool } from 'undici-7'
import { serveBench } from './serve-process.ts'

const pool = new Pool(process.env.UPSTREAM_URL as string, { connections: 4096 })
const server = Fastify({ bodyLimit: 20 * 1024 * 1024, keepAliveTimeout: 600_000, logger: false })
server.removeAllContentTypeParsers()
server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
server.post('/*', async (request, reply) => {
  const { statusCode, headers, body } = await pool.request({
    method: 'POST',
    path: request.url,
    headers: { 'content-type': 'application/json', 'x-api-key': 'key' },
    body: request.body as Buffer,
  })
  reply.code(statusCode).header('content-type', headers['content-type'])
  if (headers['content-length'] !== undefined) reply.header('content-length', headers['content-length'])
  return reply.send(body)
})
let list = Buffer.alloc(0)
server.get('/v1/models', (_request, reply) => reply.type('application/json').send(list))
const url = await server.listen({ host: '127.0.0.1', port: 0 })
serveBench({
  url,
  onMessage(message) {
    list = Buffer.from((message as { list: string }).list)
  },
  async stop() {
    await pool.destroy()
    server.server.closeAllConnections()
    await server.close()
  },
})
