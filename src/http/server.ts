/** The HTTP server, built on Fastify. Checks API keys before it reads bodies, and sends every error in our own format. */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type ErrorCode, GatewayError } from '../errors.ts'
import { requestIdOf, uuidv7 } from '../lib/ids.ts'
import { recordUnread } from '../pipeline/bill.ts'
import type { CallObserver } from '../pipeline/call.ts'
import { addCallGates } from './call-gates.ts'
import { Bodies } from './call-pass.ts'
import { addEndpoints } from './call-route.ts'
import { Connections, PIPELINED } from './connections.ts'
import { addCrossOrigin } from './cross-origin.ts'
import { methodsOf, notFound, webhookRoute } from './endpoints.ts'
import { answerHeaders, errorBody, errorHeaders } from './error-body.ts'
import { requestsWith } from './gathered-request.ts'
import { addKeyRoute } from './key-route.ts'
import { Lingering } from './lingering.ts'
import { addModelRoutes } from './model-routes.ts'
import { tooLarge } from './read-body.ts'
import { callOf, newState, type ServerOptions, sendError } from './request.ts'
import { addServiceRoutes } from './service-routes.ts'
import { addUpgradeRoute } from './upgrade-route.ts'
import { addWebhookRoutes } from './webhook-routes.ts'

/** Converts Fastify's own errors to ours. */
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

const CLIENT_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** A socket with Node's internal reference to the response being sent on it. */
interface BusySocket extends Socket {
  readonly _httpMessage?: { readonly headersSent: boolean } | null
}

/** How long a client may take to read the reply to a malformed request before its connection is closed, in ms. */
const LINGER_MS = 1_000

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}

/** Replies to input that never became a request: headers that are too large or too slow, or bytes that are not HTTP. */
function answerRawError(error: NodeJS.ErrnoException, socket: BusySocket, observer: CallObserver): void {
  if (error.code === PIPELINED) return
  const answering = socket._httpMessage?.headersSent === true
  if (error.code === 'ECONNRESET' || !socket.writable || answering) return void socket.destroy()
  const code = CLIENT_ERRORS[error.code ?? '']
  const fault = code
    ? new GatewayError(code)
    : new GatewayError('invalid_request', { message: 'This is not a valid HTTP request.' })
  endWith(fault, socket, observer)
}

/** Replies to CONNECT, which Node would answer by closing the connection. */
function refuseTunnel(socket: BusySocket, observer: CallObserver): void {
  // Node has removed its own listener.
  socket.on('error', () => socket.destroy())
  if (socket._httpMessage) return void socket.destroy()
  const message = 'CONNECT is not supported: this is not a proxy. Send requests to the paths listed at /.'
  endWith(new GatewayError('method_not_allowed', { message }), socket, observer, { allow: 'GET, HEAD, POST' })
}

/** Writes an error to a socket without a response, and closes the connection. */
function endWith(
  fault: GatewayError,
  socket: BusySocket,
  observer: CallObserver,
  headers: Readonly<Record<string, string>> = {},
): void {
  const requestId = requestIdOf(uuidv7())
  const body = errorBody(fault, requestId)
  // A client that never closes its side would keep the connection half-open for ever.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.on('close', () => clearTimeout(timer))
  observer.errorSent(fault.code)
  socket.end(
    `HTTP/1.1 ${fault.status} Error\r\n${headerLines({
      ...headers,
      ...errorHeaders(fault),
      ...answerHeaders(requestId),
      connection: 'close',
      'content-length': String(Buffer.byteLength(body)),
    })}\r\n${body}`,
  )
}

/** The error for a request without exactly one `Host` header, which HTTP/1.1 requires. */
function hostFault({ rawHeaders, httpVersion }: IncomingMessage): GatewayError | undefined {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) if (isHost(rawHeaders[index] as string)) hosts++
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return undefined
  return new GatewayError('invalid_request', { message: 'The request must have exactly one Host header.' })
}

function isHost(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === 'host'
}

function nameRequest({ state }: FastifyRequest, reply: FastifyReply): void {
  reply.headers(answerHeaders(state.requestId))
}

/** Routes that have a query parse it themselves. */
function unparsed(): Record<string, never> {
  return {}
}

/** Routes validate their own input; compiling schemas would make Fastify load 100 files. */
const NO_SCHEMAS = {
  buildValidator: noSchemas,
  buildSerializer: noSchemas,
}

function noSchemas(): never {
  throw new Error('a route declares a schema, but schemas are not compiled; validate in the handler')
}

export function createServer(options: ServerOptions): FastifyInstance {
  const { services, limits, publicUrl, readiness } = options
  const webhooks = [...options.banking.providers.keys()].map(webhookRoute)
  const lingering = new Lingering(limits)
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
      // By default, the router parses the query of every request, which for thousands of fields takes half a millisecond.
      querystringParser: unparsed,
    },
    http: {
      IncomingMessage: requestsWith(request => lingering.discard(request)),
      maxHeaderSize: limits.headerBytesMax,
      requireHostHeader: false,
      insecureHTTPParser: false,
      requestTimeout: limits.requestTimeoutMs,
      headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
      // By default Node checks every 30 s, however short the timeouts are.
      connectionsCheckingInterval: Math.ceil(Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs) / 4),
    },
    frameworkErrors: (_error, request, reply) => {
      request.state ??= newState(request, services.nowMs())
      // Fastify runs no hook for a malformed path.
      nameRequest(request, reply)
      const message = 'The path is not valid: it contains a percent sign that does not begin an escape.'
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
  const connections = new Connections(server.server, limits)
  readiness.onRetire = idleMs => {
    lingering.stop()
    return connections.end(idleMs)
  }
  server.addHook('onRequest', (request, _reply, done) => {
    request.state = newState(request, services.nowMs())
    done(hostFault(request.raw))
  })
  addCrossOrigin(server, webhooks)
  // Node emits this instead of `request` if the client waits for `100 Continue`, which is sent just before the body is read.
  server.server.on('checkContinue', (request, response) => server.server.emit('request', request, response))
  const bodies = new Bodies(limits)
  server.decorate('errorSent', (code: ErrorCode) => services.observer.errorSent(code))
  server.decorate('service', services.catalogue.settings.service)
  server.decorate('bodies', bodies)
  server.decorate('lingering', lingering)
  server.addHook('onSend', (request, reply, _payload, done) => {
    nameRequest(request, reply)
    done()
  })
  addCallGates(server, options)
  server.removeAllContentTypeParsers()
  // The body of a request to an unknown path is not read.
  server.addContentTypeParser('*', async (request: FastifyRequest) => {
    return request.is404 ? null : bodies.read(request, request.state.route.bodyLimit ?? limits.bodyBytesMax)
  })
  const answerNotFound = (request: FastifyRequest, reply: FastifyReply): void => {
    const path = pathOf(request.raw)
    const methods = methodsOf(path, webhooks).join(', ')
    if (methods === '') {
      sendError(request, reply, notFound(request.method, path, publicUrl))
      return
    }
    const message = `${path} supports ${methods}, not ${request.method}.`
    sendError(request, reply.header('allow', methods), new GatewayError('method_not_allowed', { message }))
  }
  server.setErrorHandler<FastifyError>(async (error, request, reply) => {
    // Fastify looks at the content type before it looks whether anything is there.
    if (request.is404 && !(error instanceof GatewayError)) return answerNotFound(request, reply)
    const fault = fromFastify(error, request.state.route.bodyLimit ?? limits.bodyBytesMax)
    if (fault.code === 'internal') {
      services.log.error({ requestId: request.state.requestId, cause: fault.details.cause }, 'request failed')
    }
    const { endpoint } = request.state.route.config
    if (endpoint && request.state.caller) {
      // Record the call before replying: if the process is killed now, the call must still have its row.
      await readiness.track(recordUnread(services, callOf(request, endpoint, request.state.caller), fault))
    }
    return sendError(request, reply, fault)
  })
  server.setNotFoundHandler(answerNotFound)
  server.server.on('connect', (_request, socket) => refuseTunnel(socket as BusySocket, services.observer))
  server.server.on('checkExpectation', (_request, response) => {
    const requestId = requestIdOf(uuidv7())
    const fault = new GatewayError('invalid_request', {
      status: 417,
      message: 'This expectation cannot be met; leave out the Expect header.',
    })
    services.observer.errorSent(fault.code)
    response.writeHead(417, { ...errorHeaders(fault), ...answerHeaders(requestId) })
    response.end(errorBody(fault, requestId))
  })
  addEndpoints(server, options)
  addUpgradeRoute(server)
  addModelRoutes(server, options)
  addKeyRoute(server, options)
  addServiceRoutes(server, options)
  addWebhookRoutes(server, options.banking, { readiness, services })
  return server
}

function pathOf(request: IncomingMessage): string {
  const path = (request.url ?? '/').split('?')[0] as string
  return path.length > 200 ? `${path.slice(0, 200)}…` : path
}
