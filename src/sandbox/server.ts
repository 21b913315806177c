/** The sandbox: stands in for the gateway's providers on a loopback port, so that no credentials are needed. */

import type { AddressInfo } from 'node:net'
import { createHttpServer } from '../lib/http-server.ts'
import { checkSignature, isSigned } from './bedrock/signature.ts'
import { chatErrors } from './chat/errors.ts'
import { BodyTooLargeError, Exchange, type Pace, type SandboxLimits } from './exchange.ts'
import type { ErrorFormat } from './format.ts'
import { helpText } from './help.ts'
import { type ModelFacts, ProviderError } from './model.ts'
import { createRoutes, type Route } from './routes.ts'

export type { Pace, SandboxLimits } from './exchange.ts'
export type { ModelFacts } from './model.ts'

export const SANDBOX_PACE: Pace = { firstTokenMs: 150, tokensPerSecond: 80 }

export const SANDBOX_LIMITS: SandboxLimits = {
  bodyBytesMax: 64 * 2 ** 20,
  replyTokensMax: 16_000,
  echoCharactersMax: 400,
  hangMsMax: 15 * 60_000,
  replyWaitMsMax: 2_000,
  connectionsMax: 4_000,
}

export interface SandboxOptions {
  /** Looks up a model by the upstream's own name for it. If this returns null, the sandbox answers 404. */
  readonly modelFacts: (upstreamId: string, upstreamModel: string) => ModelFacts | null
  /** Names of the models that an upstream lists. */
  readonly modelNames?: (upstreamId: string) => readonly string[]
  /** Port on the loopback address; any free port if 0 or omitted. */
  readonly port?: number
  readonly pace?: Partial<Pace>
  readonly limits?: Partial<SandboxLimits>
}

export interface Sandbox {
  /** Base URL, without a trailing slash. The base URL of an upstream is `<url>/<upstream id>`. */
  readonly url: string
  /** Stops the sandbox and aborts open replies. */
  close(): Promise<void>
}

/** Starts a sandbox. Rejects when the port is taken. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const pace = { ...SANDBOX_PACE, ...options.pace }
  const limits = { ...SANDBOX_LIMITS, ...options.limits }
  const table = createRoutes()
  const server = createHttpServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const exchange = new Exchange(request, response, { pace, limits })
    void handle(exchange, table, options)
  })
  server.maxConnections = limits.connectionsMax
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    // Opens a separate socket even in a cluster worker, whose sockets are otherwise shared through the supervisor.
    server.listen({ port: options.port ?? 0, host: '127.0.0.1', exclusive: true }, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function handle(exchange: Exchange, table: readonly Route[], options: SandboxOptions): Promise<void> {
  const path = (exchange.request.url ?? '').replace(/[?#].*$/s, '').replace(/\/+$/, '')
  if (path === '') return exchange.send(200, 'text/plain; charset=utf-8', helpText())
  const upstreamId = path.split('/')[1] ?? ''
  const rest = path.slice(upstreamId.length + 1)
  const route = table.find(candidate => candidate.path.test(rest))
  const errors = route?.errors ?? chatErrors
  try {
    if (route === undefined) throw errors.fault('404')
    if (exchange.request.method !== route.method)
      throw new ProviderError(405, 'invalid_request_error', 'Method Not Allowed')
    if (!hasCredentials(exchange)) throw errors.fault('401')
    if (isSigned(exchange)) await checkSignature(exchange)
    const upstream = {
      lookUp: (model: string) => options.modelFacts(upstreamId, model),
      modelNames: options.modelNames?.(upstreamId) ?? [],
    }
    await route.answer(exchange, upstream, route.path.exec(rest)!)
  } catch (error) {
    fail(exchange, error, errors)
  }
}

/** Whether the request carries any API key. AWS signatures are checked elsewhere. */
function hasCredentials(exchange: Exchange): boolean {
  return ['x-api-key', 'authorization', 'api-key'].some(name => exchange.header(name).replace(/^Bearer\s*/, '') !== '')
}

function fail(exchange: Exchange, error: unknown, errors: ErrorFormat): void {
  const { request, response } = exchange
  if (response.headersSent || exchange.signal.aborted) {
    response.destroy()
    return
  }
  if (error instanceof ProviderError) exchange.error(error, errors)
  else if (error instanceof BodyTooLargeError) {
    response.setHeader('connection', 'close')
    exchange.error(errors.fault('413'), errors)
  } else {
    const why = error instanceof Error ? error.message : String(error)
    exchange.error(new ProviderError(500, 'api_error', `The sandbox itself failed: ${why}`), errors)
  }
  request.resume()
}
