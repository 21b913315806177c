/** Serves `GET /metrics` on a separate port, which must not be public. */

import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHttpServer } from '../lib/http-server.ts'
import { EXPOSITION_TYPE } from '../lib/metrics.ts'

export interface MetricsServerOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** Renders the metrics for one scrape. */
  readonly text: () => Promise<string>
  readonly report: (event: { level: 'error'; message: string; cause?: unknown }) => void
}

export interface MetricsServer {
  readonly url: string
  close(): Promise<void>
}

const CONNECTIONS_MAX = 32

export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    if (path !== '/metrics') return void send(response, 404, 'GET /metrics\n')
    try {
      send(response, 200, await options.text(), EXPOSITION_TYPE)
    } catch (cause) {
      options.report({ level: 'error', message: 'metrics could not be collected', cause })
      send(response, 500, 'metrics could not be collected\n')
    }
  }
  const server = createHttpServer({ requestTimeout: 10_000, headersTimeout: 10_000, keepAliveTimeout: 75_000 })
  server.maxConnections = CONNECTIONS_MAX
  server.on('request', (request, response) => {
    request.resume()
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead) void answer((request.url ?? '').split('?')[0] as string, response)
    else send(response.setHeader('allow', 'GET, HEAD'), 405, 'GET /metrics\n')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  const { address, port, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
}
