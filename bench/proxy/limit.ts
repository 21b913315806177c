/** The cheapest proxy that Node's HTTP server and undici allow: it calls `dispatch` and passes reply headers on unchanged. */

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Dispatcher, Pool } from 'undici-7'
import { serveBench } from './serve-process.ts'

const pool = new Pool(process.env.UPSTREAM_URL as string, { connections: 4096 })

/** Uses undici's internal handler interface; the documented one is built on top of it and costs more. */
function relayTo(response: ServerResponse): Dispatcher.DispatchHandler {
  return {
    onConnect: abort => void response.once('close', () => response.writableFinished || abort()),
    onHeaders(status, headers, resume) {
      response.on('drain', resume)
      response.writeHead(status, headers.map(String))
      return true
    },
    onData: chunk => response.write(chunk),
    onComplete: () => void response.end(),
    onError: () => void response.destroy(),
  }
}

const server = createServer({ keepAliveTimeout: 600_000, noDelay: true }, (request, response) => {
  const pieces: Buffer[] = []
  request.on('data', piece => pieces.push(piece))
  request.on('end', () => {
    const body = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)
    const headers = { 'content-type': 'application/json', 'x-api-key': 'key' }
    const path = request.url as string
    pool.dispatch({ method: 'POST', path, headers, body: body as Buffer }, relayTo(response))
  })
})
server.listen(0, '127.0.0.1', () => {
  serveBench({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      await pool.destroy()
      server.closeAllConnections()
      server.close()
    },
  })
})
