/** Shared by hooks and routes: the server's options, the state of a request, and sending errors. */

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
import { answerHeaders, errorBody, errorHeaders } from './error-body.ts'
import { hasLongRest, type Lingering, type LingerLimits } from './lingering.ts'
import type { Readiness } from './readiness.ts'
import type { Banking } from './webhook-routes.ts'

export interface ServerLimits extends BodyLimits, LingerLimits {
  /** Largest header section, in bytes. */
  readonly headerBytesMax: number
  /** Time to receive a request's headers, in ms; at most the time for the whole request. */
  readonly headersTimeoutMs: number
  /** Time to receive a whole request, in ms. */
  readonly requestTimeoutMs: number
  /** Idle time of a kept-alive connection, in ms. */
  readonly keepAliveTimeoutMs: number
}

export interface ServerOptions {
  readonly services: Services
  readonly authenticator: Authenticator
  /**
   * The caller behind a request of the playground. Rejects with GatewayError; absent: there is no playground.
   */
  readonly playgroundCaller?: (request: FastifyRequest) => Promise<Caller>
  readonly pinger: Pinger
  readonly readiness: Readiness
  readonly rateLimiter: RateLimiter
  readonly flightLimiter: FlightLimiter
  readonly banking: Banking
  /** Null when the key has been erased. */
  readonly keyReport: (key: KeyRow) => Promise<KeyReport | null>
  readonly limits: ServerLimits
  /** Whether to refuse routes that are for development only. */
  readonly production: boolean
  /** Addresses and networks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies?: readonly string[]
  /** The address that clients use, without a trailing slash. */
  readonly publicUrl: string
}

/** What the hooks know of a request, kept until its handler runs. */
export interface RequestState {
  readonly callId: string
  readonly requestId: string
  readonly openedAt: Date
  readonly startedMs: number
  /** Kept, because Fastify builds `routeOptions` anew at each access. */
  readonly route: FastifyRequest['routeOptions']
  caller: Caller | null
  readonly pass: CallPass
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts an error sent to a client. */
    errorSent(code: ErrorCode): void
    /** The service's own name, as in its headers. */
    readonly service: string
    readonly bodies: Bodies
    readonly lingering: Lingering
  }
  interface FastifyRequest {
    state: RequestState
  }
  interface FastifyContextConfig {
    /** Set on routes whose calls are logged as usage. */
    endpoint?: Endpoint
  }
}

/** Request ids that a client may choose: safe in a header and in a log line. */
const CLIENT_REQUEST_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/

/** An unusable `x-request-id` of the client is replaced. */
export function newState({ headers, routeOptions }: FastifyRequest, startedMs: number): RequestState {
  const callId = uuidv7()
  const offered = headers['x-request-id']
  const requestId = typeof offered === 'string' && CLIENT_REQUEST_ID.test(offered) ? offered : requestIdOf(callId)
  const openedAt = new Date()
  return { callId, requestId, openedAt, startedMs, route: routeOptions, caller: null, pass: new CallPass() }
}

/** A request's call, as the pipeline sees it. */
export function callOf(request: FastifyRequest, endpoint: Endpoint, caller: Caller): Call {
  const { state } = request
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
  // Fastify closes the connection after an unreadable body; Node discards the rest of a short one.
  if (reply.getHeader('connection') === 'close') reply.removeHeader('connection')
  reply.code(error.status).headers(errorHeaders(error, server.service)).send(bodyOf(request, error))
}

function bodyOf({ state }: FastifyRequest, error: GatewayError): string {
  const { endpoint } = state.route.config
  return errorBody(error, state.requestId, endpoint && endpointOf(endpoint).codeOf?.(error))
}

/** Answers before the body has arrived, in such a way that the client can still read the answer. */
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
