/** The HTTP server: Fastify with our own bodies for every error, keys checked before bodies are read. */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type ErrorCode, GatewayError } from '../errors.ts'
import { uuidv7 } from '../lib/ids.ts'
import type { CallObserver } from '../pipeline/call.ts'
import { recordUnread } from '../pipeline/settle.ts'
import { addCallGates } from './call-gates.ts'
import { addChatRoutes } from './chat-routes.ts'
import { Connections } from './connections.ts'
import { addCountTokensRoute } from './count-tokens-route.ts'
import { decodeBody, tooLarge } from './decode-body.ts'
import { methodsOf, notFoundMessage, webhookRoute } from './endpoints.ts'
import { errorBody, errorHeaders } from './error-body.ts'
import { addMediaRoutes } from './media-routes.ts'
import { addModelRoutes } from './model-routes.ts'
import { callOf, newState, requestIdOf, type ServerOptions, sendError } from './request.ts'
import { addResponsesRoutes } from './responses-routes.ts'
import { addServiceRoutes } from './service-routes.ts'
import { addWebhookRoutes } from './webhook-routes.ts'

/** Fastify's own faults in our words. */
function fromFastify(error: FastifyError, bodyBytesMax: number): GatewayError {
  if (error instanceof GatewayError) return error
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge(bodyBytesMax)
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new GatewayError('unsupported_media_type')
  if (error.code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH' || error.code?.startsWith('Z_') || error.statusCode === 400) {
    return new GatewayError('malformed_json', {
      message: 'The request body is damaged or incomplete; send it again.',
      cause: error,
    })
  }
  return new GatewayError('internal', { cause: error })
}

/** A body that Node may read to its end and throw away, so that the connection can be used again. */
const DISCARDED_BYTES_MAX = 1024 * 1024

function isSmall(request: IncomingMessage): boolean {
  return Number(request.headers['content-length'] ?? Number.NaN) <= DISCARDED_BYTES_MAX
}

const CLIENT_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Node's link from a socket to the response that it carries at the moment. */
interface BusySocket extends Socket {
  readonly _httpMessage?: { readonly headersSent: boolean } | null
}

/** Time for a client to read the answer to what was no request, before its connection is gone. */
const LINGER_MS = 1_000

/** What never became a request: headers too large or too slow, or bytes that are not HTTP. */
function answerRawError(error: NodeJS.ErrnoException, socket: BusySocket, observer: CallObserver): void {
  const answering = socket._httpMessage?.headersSent === true
  if (error.code === 'ECONNRESET' || !socket.writable || answering) return void socket.destroy()
  const code = CLIENT_ERRORS[error.code ?? '']
  const fault = code
    ? new GatewayError(code)
    : new GatewayError('invalid_request', { message: 'This is not a valid HTTP request.' })
  const requestId = requestIdOf(uuidv7())
  const body = errorBody(fault, requestId)
  // Nothing more is read from it: a client that does not close would keep it half open for ever.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.on('close', () => clearTimeout(timer))
  observer.errorTold(fault.code)
  socket.end(
    `HTTP/1.1 ${fault.status} Error\r\ncontent-type: application/json\r\nconnection: close\r\n` +
      `request-id: ${requestId}\r\nx-request-id: ${requestId}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

function nameRequest({ state }: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ 'request-id': state.requestId, 'x-request-id': state.requestId })
}

/** Routes check their input themselves; what Fastify would load to compile schemas is 100 files. */
const NO_SCHEMAS = {
  buildValidator: noSchemas,
  buildSerializer: noSchemas,
}

function noSchemas(): never {
  throw new Error('a route has a schema: nothing here compiles one')
}

export function createServer(options: ServerOptions): FastifyInstance {
  const { services, limits, publicUrl, readiness } = options
  const webhooks = [...options.banking.providers.keys()].map(webhookRoute)
  const server: FastifyInstance = Fastify({
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestTimeoutMs,
    trustProxy: options.trustedProxies === undefined ? false : [...options.trustedProxies],
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    logger: false,
    exposeHeadRoutes: true,
    clientErrorHandler: (error, socket) => answerRawError(error, socket, services.observer),
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: 512,
    },
    http: {
      maxHeaderSize: limits.headerBytesMax,
      requireHostHeader: false,
      insecureHTTPParser: false,
      requestTimeout: limits.requestTimeoutMs,
      headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
      // Node looks every 30 s unless told otherwise, however short the times are.
      connectionsCheckingInterval: Math.ceil(Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs) / 4),
    },
    frameworkErrors: (_error, request, reply) => {
      request.state ??= newState(services.nowMs(), request.headers['x-request-id'])
      // No hook runs for such a path.
      nameRequest(request, reply)
      const message = 'The path is not valid: it has a percent sign that begins no escape.'
      sendError(request, reply, new GatewayError('invalid_request', { message }))
    },
    forceCloseConnections: 'idle',
    schemaController: { compilersFactory: NO_SCHEMAS },
  })
  server.addHook('onRoute', ({ method, url, config }) => {
    const authentication = config?.authentication
    if (authentication === undefined) throw new Error(`${method} ${url} does not say how it authenticates`)
    if (authentication === 'development' && options.production)
      throw new Error(`${method} ${url} is for development only`)
  })
  server.decorateRequest('state', null as never)
  const connections = new Connections(server.server)
  readiness.onRetire = idleMs => connections.end(idleMs)
  server.addHook('onRequest', (request, reply, done) => {
    request.state = newState(services.nowMs(), request.headers['x-request-id'])
    connections.onRequest(request.raw, reply.raw)
    done()
  })
  server.decorate('errorTold', (code: ErrorCode) => services.observer.errorTold(code))
  server.addHook('onSend', (request, reply, _payload, done) => {
    nameRequest(request, reply)
    done()
  })
  addCallGates(server, options)
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  server.addHook('preParsing', (request, _reply, payload, done) => {
    try {
      done(null, decodeBody(request, payload, limits.bodyBytesMax))
    } catch (error) {
      done(error as Error)
    }
  })
  server.setErrorHandler<FastifyError>((error, request, reply) => {
    const fault = fromFastify(error, request.routeOptions.bodyLimit ?? limits.bodyBytesMax)
    if (fault.code === 'internal') {
      services.log.error({ requestId: request.state.requestId, cause: fault.details.cause }, 'request failed')
    }
    if (!request.raw.complete && !isSmall(request.raw)) reply.header('connection', 'close')
    const { endpoint } = request.routeOptions.config
    if (endpoint && request.state.caller) {
      void readiness.track(recordUnread(services, callOf(request, endpoint, request.state.caller), fault))
    }
    sendError(request, reply, fault)
  })
  server.setNotFoundHandler((request, reply) => {
    const path = pathOf(request.raw)
    const methods = methodsOf(path, webhooks)
    if (methods.length > 0) {
      reply.header('allow', methods.join(', '))
      const message = `${path} takes ${methods.join(', ')}, not ${request.method}.`
      return sendError(request, reply, new GatewayError('method_not_allowed', { message }))
    }
    sendError(
      request,
      reply,
      new GatewayError('route_not_found', { message: notFoundMessage(request.method, path, publicUrl) }),
    )
  })
  server.server.on('checkExpectation', (_request, response) => {
    const requestId = requestIdOf(uuidv7())
    const fault = new GatewayError('invalid_request', {
      status: 417,
      message: 'This expectation cannot be met; leave out the Expect header.',
    })
    services.observer.errorTold(fault.code)
    response.writeHead(417, { ...errorHeaders(fault), 'request-id': requestId, 'x-request-id': requestId })
    response.end(errorBody(fault, requestId))
  })
  addChatRoutes(server, options)
  addResponsesRoutes(server, options)
  addMediaRoutes(server, options)
  addCountTokensRoute(server, options)
  addModelRoutes(server, options)
  addServiceRoutes(server, options)
  addWebhookRoutes(server, options.banking, { readiness, services })
  return server
}

function pathOf(request: IncomingMessage): string {
  const path = (request.url ?? '/').split('?')[0] as string
  return path.length > 200 ? `${path.slice(0, 200)}…` : path
}
