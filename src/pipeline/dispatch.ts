/**
 * Sends a call to its targets in turn until one gives a good reply. Until then the client gets nothing; the price is
 * the entry's whichever target serves.
 */

import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import { readErrorText } from '../conversation/error-body.ts'
import { gatewayErrorOf, readUpstreamFailure, type UpstreamFailure } from '../conversation/upstream-error.ts'
import { type ErrorCode, GatewayError } from '../errors.ts'
import { refusesSeals, withoutSeals } from '../formats/responses/seals.ts'
import type { Endpoint, UpstreamTarget } from '../generated/types.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import { NestingError } from '../lib/json-text.ts'
import { wireOf } from '../translate/wired.ts'
import { callUpstream, EndpointMissingError } from '../upstream/call.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { ReachableUpstream } from '../upstream/registry.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import { Attempt, type Place } from './attempt.ts'
import type { Call, HeaderMap, Services } from './call.ts'
import { Places } from './places.ts'

/** Most bytes read of an error body. */
const ERROR_BODY_BYTES_MAX = 256 * 1024
/** Least time left, in ms, for another attempt to be worthwhile. */
const TRY_MS_MIN = 1_000
/** Cap on `retry-after`, in s, while the upstreams are out of service: an operator may put them back at any time. */
const OUT_RETRY_SECONDS_MAX = 60

/** A call's body for one target, and whatever later stages need to know about it. */
export interface PreparedBody {
  readonly body: Buffer
  /** Headers of this call, sent along with the upstream's own. */
  readonly headers?: HeaderMap
  /** Content type of the body; absent: JSON. */
  readonly contentType?: string
  /** Accepted content type; absent: JSON, or an event stream for a streamed call. */
  readonly accept?: string
  /** Beta flags that the target takes; the upstream's facts say how they are sent. */
  readonly betas?: readonly string[]
  /** The client asks to continue the last message; absent: it does not. */
  readonly prefilled?: boolean
}

export interface DispatchPlan<Prepared extends PreparedBody, Received> {
  /** Where the call may go, as the entry lists it. */
  readonly targets: readonly UpstreamTarget[]
  /** Makes the body for one target when its turn comes. If it throws a GatewayError, the call ends. */
  readonly prepare: (target: UpstreamTarget) => Prepared | Promise<Prepared>
  /**
   * Reads enough of a 2xx reply to know that it is good, before anything goes to the client. A GatewayError that blames
   * the upstream (`upstream_…`) sends the call to the next target.
   */
  readonly receive: (reply: UpstreamReply, prepared: Prepared, target: UpstreamTarget) => Promise<Received>
  /** The reply should be an event stream. */
  readonly streamed: boolean
  /** Aborts the call while it waits for a reply. */
  readonly signal: Cancellation
}

/** The upstream endpoint that serves a call: for conversations, the one of the target's wire. */
export function upstreamEndpoint(endpoint: Endpoint, target: UpstreamTarget): Endpoint {
  return ENDPOINT_FACTS[endpoint].makes === 'chat' ? wireOf(target) : endpoint
}

/**
 * Resolves with what `receive` made of a good reply. Rejects with GatewayError when no target gave one; the client has
 * received nothing by then.
 */
export async function dispatch<Prepared extends PreparedBody, Received>(
  services: Services,
  call: Call,
  plan: DispatchPlan<Prepared, Received>,
): Promise<Received> {
  const places = new Places(plan.targets, call.caller.keyId, services.upstreams)
  const { upstreamTriesMax } = services.limits
  let place = places.next()
  let worst: GatewayError | null = null
  while (place !== null) {
    // A body that cannot be converted ends the call: converted for another target, it might mean something else.
    const preparing = plan.prepare(place.target)
    const prepared = preparing instanceof Promise ? await preparing : preparing
    const attempt = begin(services, call, place)
    try {
      const reply = await tryOne(services, call, { plan, prepared, attempt })
      const received = await plan.receive(reply, prepared, place.target)
      attempt.succeed()
      return received
    } catch (cause) {
      const error = gatewayErrorFor(cause)
      attempt.fail(error, services.nowMs())
      if (!isWorthAnotherTry(error) || plan.signal.aborted) throw error
      const { message, level } = loudness(error)
      services.log[level](
        { requestId: call.requestId, credential: place.credential.label, code: error.code, cause: error.details.cause },
        message,
      )
      worst = worse(worst, error)
      if (attempt.isBroken) places.broken(place.upstream)
      if (call.attempts.length >= upstreamTriesMax || timeLeftMs(services, call, place) < TRY_MS_MIN) break
      place = places.next() ?? (attempt.isConnectionLost ? places.again() : null)
    }
  }
  throw worst ?? shortageError(places, plan.targets)
}

function begin(services: Services, call: Call, place: Place): Attempt {
  const attempt = new Attempt(place, services.nowMs())
  call.attempts.push(attempt)
  return attempt
}

interface Trying<Prepared extends PreparedBody, Received> {
  readonly plan: DispatchPlan<Prepared, Received>
  readonly prepared: Prepared
  readonly attempt: Attempt
}

/** Resolves with a 2xx reply whose body has not been read. */
async function tryOne<Prepared extends PreparedBody, Received>(
  services: Services,
  call: Call,
  { plan, prepared, attempt }: Trying<Prepared, Received>,
): Promise<UpstreamReply> {
  const { target, upstream } = attempt
  const endpoint = upstreamEndpoint(call.endpoint, target)
  const reply = await send(services, call, { plan, prepared, attempt })
  if (isGood(reply)) return reply
  const failure = await readFailure(reply, upstream)
  const bare = endpoint === 'responses' ? bodyWithoutSeals(prepared.body, failure, target) : null
  if (bare === null) throw gatewayErrorOf(readUpstreamFailure(failure))
  // The reasoning was sealed too long ago or for another organisation. No upstream is at fault, so this is no new attempt.
  services.log.info(
    { requestId: call.requestId, upstream: upstream.facts.id },
    'upstream refused sealed reasoning; resending without it',
  )
  attempt.askedAgain()
  const again = await send(services, call, { plan, prepared: { ...prepared, body: bare }, attempt })
  if (isGood(again)) return again
  throw gatewayErrorOf(readUpstreamFailure(await readFailure(again, upstream)))
}

function isGood({ status }: UpstreamReply): boolean {
  return status >= 200 && status < 300
}

/** Reads an upstream's error reply, and lists the upstream's credentials, which must be masked in its text. */
export async function readFailure(
  reply: UpstreamReply,
  { credentials, facts }: ReachableUpstream,
): Promise<UpstreamFailure> {
  const body = await reply.readBody(ERROR_BODY_BYTES_MAX).catch(() => Buffer.alloc(0))
  return {
    status: reply.status,
    body: body.toString('utf8'),
    headers: reply.headers,
    nowMs: Date.now(),
    secrets: credentials.secrets,
    places: facts.errors,
  }
}

/** The body to resend when the error says that sealed reasoning cannot be opened; null for any other error. */
function bodyWithoutSeals(
  body: Buffer,
  { status, body: text, places = null }: UpstreamFailure,
  { dialect }: UpstreamTarget,
): Buffer | null {
  const error = readErrorText(text, places)
  return error !== null && refusesSeals(status, error, dialect.reasoning.refusedSeal) ? withoutSeals(body) : null
}

/** Resolves with the reply, whatever its status. */
function send<Prepared extends PreparedBody, Received>(
  services: Services,
  call: Call,
  { plan, prepared, attempt }: Trying<Prepared, Received>,
): Promise<UpstreamReply> {
  const { target, upstream, credential } = attempt
  return callUpstream(
    upstream,
    credential,
    {
      endpoint: upstreamEndpoint(call.endpoint, target),
      model: target.model,
      body: prepared.body,
      headers: prepared.headers ?? {},
      contentType: prepared.contentType ?? null,
      accept: prepared.accept ?? null,
      streamed: plan.streamed,
      prefilled: prepared.prefilled ?? false,
      betas: prepared.betas ?? [],
      clientHeader: name => (name === 'traceparent' ? services.tracer.traceparentOf(call, attempt) : call.header(name)),
    },
    {
      totalTimeoutMs: timeLeftMs(services, call, attempt),
      frameBytesMax: services.limits.eventBytesMax,
      signal: plan.signal,
      onClose: attempt.closed,
    },
  )
}

/** The upstream's own limit covers the whole call, retries included. */
function timeLeftMs(services: Services, call: Call, { upstream }: Place): number {
  return upstream.facts.totalTimeoutMs - (services.nowMs() - call.startedMs)
}

export function gatewayErrorFor(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  if (cause instanceof EndpointMissingError) return new GatewayError('upstream_misconfigured', { cause })
  // The reply is nested too deeply to process.
  if (cause instanceof NestingError || cause instanceof RangeError)
    return new GatewayError('upstream_failed', { cause })
  if (cause instanceof UpstreamFault) return new GatewayError('upstream_failed', { cause })
  return new GatewayError('internal', { cause })
}

/** Ranks errors by how much they tell the client; of several attempts it gets the most informative one. */
const TELLING: readonly ErrorCode[] = [
  'upstream_misconfigured',
  'upstream_failed',
  'upstream_overloaded',
  'upstream_rate_limited',
]

/** True for errors that are the upstream's fault. A reply that is too large would be too large elsewhere, too. */
function isWorthAnotherTry(error: GatewayError): boolean {
  const { cause } = error.details
  if (cause instanceof UpstreamFault && (cause.kind === 'aborted' || cause.kind === 'oversized')) return false
  return TELLING.includes(error.code)
}

function worse(known: GatewayError | null, error: GatewayError): GatewayError {
  if (known === null || TELLING.indexOf(error.code) > TELLING.indexOf(known.code)) return error
  if (known.code !== error.code) return known
  const [before, now] = [known.details.retryAfterSeconds, error.details.retryAfterSeconds]
  return now !== undefined && (before === undefined || now < before) ? error : known
}

function loudness(error: GatewayError): { level: 'warn' | 'error'; message: string } {
  return error.code === 'upstream_misconfigured'
    ? { level: 'error', message: 'upstream rejected our credential, model or path; operator action required' }
    : { level: 'warn', message: 'upstream failed; trying another one if there is any' }
}

function shortageError(places: Places, targets: readonly UpstreamTarget[]): GatewayError {
  const { reachable, limitedMs, full, outMs } = places.shortage
  if (limitedMs !== null) {
    const retryAfterSeconds = Math.max(1, Math.ceil(limitedMs / 1000))
    return new GatewayError('upstream_rate_limited', { retryAfterSeconds, cause: 'all credentials are rate-limited' })
  }
  if (outMs !== null) {
    const retryAfterSeconds = Math.min(OUT_RETRY_SECONDS_MAX, Math.max(1, Math.ceil(outMs / 1000)))
    return new GatewayError('upstream_overloaded', {
      retryAfterSeconds,
      cause: 'an operator has taken its upstreams out of service',
    })
  }
  if (full) {
    const cause = 'every upstream has reached its limit of calls in flight'
    return new GatewayError('upstream_overloaded', { retryAfterSeconds: 1, cause })
  }
  const names = targets.map(target => target.via).join(', ')
  const cause = reachable ? `nothing left to try at ${names}` : `no credentials for the upstream ${names}`
  return new GatewayError('upstream_misconfigured', { cause })
}
