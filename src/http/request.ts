/** What hooks and routes share: the server's options, the state of a request, and how errors are sent. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyReport } from '../accounts/key-report.ts'
import type { KeyRow } from '../accounts/key-secret.ts'
import { endpointOf } from '../endpoints/index.ts'
import type { ErrorCode, GatewayError } from '../errors.ts'
import type { Endpoint } from '../generated/types.ts'
import { requestIdOf, uuidv7 } from '../lib/ids.ts'
import type { FlightLimiter } from '../operations/flight-limit.ts'
import type { RateLimiter } from '../operations/rate-limit.ts'
import type { Authenticator } from '../pipeline/authenticate.ts'
import type { Call, Caller, Services } from '../pipeline/call.ts'
import type { Pinger } from '../pipeline/pinger.ts'
import { type Bodies, type BodyLimits, CallPass } from './call-pass.ts'
import type { CountLimits } from './count-budget.ts'
import { answerHeaders, errorBody, errorHeaders } from './error-body.ts'
import { hasLongRest, type Lingering, type LingerLimits } from './lingering.ts'
import type { Readiness } from './readiness.ts'
import type { Banking } from './webhook-routes.ts'

export interface ServerLimits extends BodyLimits, LingerLimits, CountLimits {
  /** Largest header section, in bytes. */
  readonly headerBytesMax: number
  /** Time to receive a request's headers, in ms; at most the time for the whole request. */
  readonly headersTimeoutMs: number
  /** Time to receive a whole request, in ms. */
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  /** How long a client may read nothing of a finished reply, in ms. */
  readonly unreadMs: number
}

export interface ServerOptions {
  readonly services: Services
  readonly authenticator: Authenticator
  /** Identifies the caller of a playground request. Rejects with GatewayError. Without it, there is no playground. */
  readonly playgroundCaller?: (request: FastifyRequest) => Promise<Caller>
  readonly pinger: Pinger
  readonly readiness: Readiness
  readonly rateLimiter: RateLimiter
  readonly flightLimiter: FlightLimiter
  readonly banking: Banking
  /** Resolves to null if the key has been erased. */
  readonly keyReport: (key: KeyRow) => Promise<KeyReport | null>
  readonly limits: ServerLimits
  /** Whether to refuse routes that are for development only. */
  readonly production: boolean
  /** Addresses and networks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies?: readonly string[]
  /** Base URL at which clients reach the gateway, without a trailing slash. */
  readonly publicUrl: string
}

/** What the hooks learn about a request, kept until its handler runs. */
export interface RequestState {
  readonly callId: string
  readonly requestId: string
  readonly openedAt: Date
  readonly startedMs: number
  /** Kept because Fastify builds `routeOptions` anew on every access. */
  readonly route: FastifyRequest['routeOptions']
  caller: Caller | null
  readonly pass: CallPass
}

declare module 'fastify' {
  interface FastifyInstance {
    errorSent(code: ErrorCode): void
    /** The service's name as it appears in header names (`x-<service>-…`). */
    readonly service: string
    readonly bodies: Bodies
    readonly lingering: Lingering
  }
  interface FastifyRequest {
    state: RequestState
  }
  interface FastifyContextConfig {
    /** Set on routes whose calls get a usage row. */
    endpoint?: Endpoint
  }
}

/** Request ids accepted from clients: safe in a header and in a log line. */
const CLIENT_REQUEST_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/

/** The state of a new request. If the client's `x-request-id` is not acceptable, a new id replaces it. */
export function newState({ headers, routeOptions }: FastifyRequest, startedMs: number): RequestState {
  const callId = uuidv7()
  const offered = headers['x-request-id']
  const requestId = typeof offered === 'string' && CLIENT_REQUEST_ID.test(offered) ? offered : requestIdOf(callId)
  const openedAt = new Date()
  return { callId, requestId, openedAt, startedMs, route: routeOptions, caller: null, pass: new CallPass() }
}

/** A request as the pipeline sees it. */
export function callOf(request: FastifyRequest, endpoint: Endpoint, caller: Caller): Call {
  const { state, server } = request
  const replyPermit = () => state.pass.replyPermit(server.bodies.replies, caller.accountId)
  return {
    id: state.callId,
    requestId: state.requestId,
    endpoint,
    caller,
    openedAt: state.openedAt,
    startedMs: state.startedMs,
    attempts: [],
    takeBody() {
      const { body } = request
      request.body = null
      return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
    },
    bodyDone: () => state.pass.bodyDone(),
    reserve: bytes => state.pass.reserve(bytes),
    replyRoom: {
      grow: bytes => replyPermit().grow(bytes),
      settle: bytes => replyPermit().settle(bytes),
    },
    header: name => {
      if (name === 'x-request-id') return state.requestId
      const value = request.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
  }
}

export function sendError(request: FastifyRequest, reply: FastifyReply, error: GatewayError): void {
  const { server, state } = request
  server.errorSent(error.code)
  state.pass.release()
  if (hasLongRest(request.raw)) {
    answerEarly(request, reply, error)
    return
  }
  // After a body that it cannot read, Fastify sets `connection: close`. But Node discards the rest of a short body, so the
  // connection can stay open.
  if (reply.getHeader('connection') === 'close') reply.removeHeader('connection')
  reply.code(error.status).headers(errorHeaders(error, server.service)).send(bodyOf(request, error))
}

function bodyOf({ state }: FastifyRequest, error: GatewayError): string {
  const { endpoint } = state.route.config
  return errorBody(error, state.requestId, { code: endpoint && endpointOf(endpoint).codeOf?.(error) })
}

/**
 * Replies before the whole body has arrived. The rest of the body is read and discarded, so that the client can read the reply.
 */
function answerEarly(request: FastifyRequest, reply: FastifyReply, error: GatewayError): void {
  const { requestId } = request.state
  const set = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)])
  const headers = {
    ...Object.fromEntries(set),
    ...errorHeaders(error, request.server.service),
    ...answerHeaders(requestId),
  }
  reply.hijack()
  request.server.lingering.answer(request.raw, reply.raw, {
    status: error.status,
    headers,
    body: bodyOf(request, error),
  })
}
