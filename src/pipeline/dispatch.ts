/**
 * Tries a call's targets in order until one gives a usable reply. Until then, nothing is sent to the client. The entry sets the
 * price, whichever target serves the call.
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
import { Attempt, type Candidate } from './attempt.ts'
import type { Call, HeaderMap, Services } from './call.ts'
import { Candidates } from './candidates.ts'

/** Minimum time left, in ms, for another attempt to be worthwhile. */
const TRY_MS_MIN = 1_000
/** Highest `retry-after`, in seconds, while upstreams are out of service: an operator may bring them back at any time. */
const OUT_RETRY_SECONDS_MAX = 60

/** A call's body for one target, with what later stages need to know about it. */
export interface PreparedBody {
  readonly body: Buffer
  /** Headers for this call, sent in addition to the upstream's own. */
  readonly headers?: HeaderMap
  /** Content type of the body. Default: JSON. */
  readonly contentType?: string
  /** Accepted content type. Default: JSON, or an event stream for a streamed call. */
  readonly accept?: string
  /** Beta flags that the target accepts. The upstream's configuration says how to send them. */
  readonly betas?: readonly string[]
  /** Whether the model should continue the last message. Default: false. */
  readonly prefilled?: boolean
}

export interface DispatchPlan<Prepared extends PreparedBody, Received> {
  /** Targets to which the call may go, in the entry's order. */
  readonly targets: readonly UpstreamTarget[]
  /** Builds the body for a target, just before the attempt. If this throws a GatewayError, the call ends. */
  readonly prepare: (target: UpstreamTarget) => Prepared | Promise<Prepared>
  /**
   * Reads enough of a 2xx reply to know that it is usable, before anything is sent to the client. If this throws a GatewayError
   * that blames the upstream (`upstream_…`), the call goes to the next target.
   */
  readonly receive: (reply: UpstreamReply, prepared: Prepared, target: UpstreamTarget) => Promise<Received>
  /** Whether the reply should be an event stream. */
  readonly streamed: boolean
  /** Aborts the call while it is waiting for a reply. */
  readonly signal: Cancellation
  /** Aborted when the client leaves. From then on, no attempt is begun, even if those under way are finished. */
  readonly gone: Cancellation
}

/** The upstream endpoint that a call is sent to. For chat calls, it depends on the target's wire format. */
export function upstreamEndpoint(endpoint: Endpoint, target: UpstreamTarget): Endpoint {
  return ENDPOINT_FACTS[endpoint].makes === 'chat' ? wireOf(target) : endpoint
}

/**
 * Resolves with the result of `receive` for the first usable reply. Rejects with GatewayError if no target gave a usable reply;
 * nothing has been sent to the client in that case.
 */
export async function dispatch<Prepared extends PreparedBody, Received>(
  services: Services,
  call: Call,
  plan: DispatchPlan<Prepared, Received>,
): Promise<Received> {
  const candidates = new Candidates(plan.targets, call.caller.keyId, services.upstreams)
  const { upstreamTriesMax } = services.limits
  const line = { waitMs: services.limits.placeWaitMs, gone: plan.gone }
  const waited = () => candidates.waitForPlace(call.caller.accountId, line)
  let worst: GatewayError | null = null
  try {
    let candidate = candidates.next() ?? (await waited())
    while (candidate !== null) {
      // A body that cannot be converted for one target ends the call: converted for another target, it might mean something else.
      const preparing = plan.prepare(candidate.target)
      const prepared = preparing instanceof Promise ? await preparing : preparing
      if (plan.gone.aborted) throw gatewayErrorFor(new UpstreamFault('aborted', 'the client disconnected'))
      // Meanwhile, other calls may have taken the upstream's last place.
      if (candidates.isFull(candidate.upstream)) {
        candidates.putBack(candidate)
        candidate = candidates.next() ?? (await waited())
        continue
      }
      const attempt = begin(services, call, candidate)
      try {
        const replying = tryOne(services, call, { plan, prepared, attempt })
        candidates.unkeepPlace()
        const received = await plan.receive(await replying, prepared, candidate.target)
        attempt.begin()
        return received
      } catch (cause) {
        const error = gatewayErrorFor(cause)
        attempt.fail(error, services.nowMs())
        if (!isWorthAnotherTry(error) || plan.signal.aborted) throw error
        logFailure(services, call, { candidate, error })
        worst = worse(worst, error)
        if (error.code === 'upstream_failed' || error.code === 'upstream_overloaded')
          candidates.failed(candidate.upstream)
        if (attempt.isBroken) candidates.broken(candidate.upstream)
        if (call.attempts.length >= upstreamTriesMax || timeLeftMs(services, call, candidate) < TRY_MS_MIN) break
        candidate = candidates.next() ?? (attempt.isConnectionLost ? candidates.again() : null) ?? (await waited())
      }
    }
  } finally {
    candidates.unkeepPlace()
  }
  throw worst ?? shortageError(candidates, plan.targets)
}

function logFailure(
  { log }: Services,
  { requestId }: Call,
  { candidate, error }: { candidate: Candidate; error: GatewayError },
): void {
  const { message, level } = loudness(error)
  const { code, details } = error
  log[level]({ requestId, credential: candidate.credential.label, code, cause: details.cause }, message)
}

function begin(services: Services, call: Call, candidate: Candidate): Attempt {
  const attempt = new Attempt(candidate, services.nowMs())
  call.attempts.push(attempt)
  return attempt
}

interface Trying<Prepared extends PreparedBody, Received> {
  readonly plan: DispatchPlan<Prepared, Received>
  readonly prepared: Prepared
  readonly attempt: Attempt
}

/** Makes one attempt. Resolves with a 2xx reply whose body has not been read. */
async function tryOne<Prepared extends PreparedBody, Received>(
  services: Services,
  call: Call,
  { plan, prepared, attempt }: Trying<Prepared, Received>,
): Promise<UpstreamReply> {
  const { target, upstream } = attempt
  const endpoint = upstreamEndpoint(call.endpoint, target)
  const reply = await send(services, call, { plan, prepared, attempt })
  if (isGood(reply)) return reply
  const failure = { ...(await readFailure(reply, upstream)), request: prepared.body }
  const bare = endpoint === 'responses' ? bodyWithoutSeals(prepared.body, failure, target) : null
  if (bare === null) throw gatewayErrorOf(readUpstreamFailure(failure))
  // The upstream cannot decrypt the reasoning in the history, which is too old or comes from another organisation. That is not
  // the upstream's fault, so sending the request again does not count as a new attempt.
  services.log.info(
    { requestId: call.requestId, upstream: upstream.facts.id },
    'upstream refused sealed reasoning; resending without it',
  )
  const again = await send(services, call, { plan, prepared: { ...prepared, body: bare }, attempt })
  if (isGood(again)) return again
  throw gatewayErrorOf(readUpstreamFailure({ ...(await readFailure(again, upstream)), request: bare }))
}

function isGood({ status }: UpstreamReply): boolean {
  return status >= 200 && status < 300
}

/** Reads an upstream's error reply. The result includes the upstream's credentials, so that they can be masked in the text. */
export async function readFailure(
  reply: UpstreamReply,
  { credentials, facts }: ReachableUpstream,
): Promise<UpstreamFailure> {
  const body = await reply.readError()
  return {
    status: reply.status,
    body: body.toString('utf8'),
    headers: reply.headers,
    nowMs: Date.now(),
    secrets: credentials.secrets,
    places: facts.errors,
  }
}

/** The body without sealed reasoning, if the error says that the upstream cannot open it; null for any other error. */
function bodyWithoutSeals(
  body: Buffer,
  { status, body: text, places = null }: UpstreamFailure,
  { dialect }: UpstreamTarget,
): Buffer | null {
  const error = readErrorText(text, places)
  return error !== null && refusesSeals(status, error, dialect.reasoning.refusedSeal) ? withoutSeals(body) : null
}

/** Sends the request. Resolves with the reply, whatever its status. */
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
      accountId: call.caller.accountId,
      totalTimeoutMs: timeLeftMs(services, call, attempt),
      frameBytesMax: services.limits.eventBytesMax,
      signal: plan.signal,
    },
  )
}

/** Time left for the call, in ms. The upstream's limit applies to the whole call, including earlier attempts. */
function timeLeftMs(services: Services, call: Call, { upstream }: Candidate): number {
  return upstream.facts.totalTimeoutMs - (services.nowMs() - call.startedMs)
}

export function gatewayErrorFor(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  if (cause instanceof EndpointMissingError) return new GatewayError('upstream_misconfigured', { cause })
  // The reply is nested too deeply to process.
  if (cause instanceof NestingError || cause instanceof RangeError)
    return new GatewayError('upstream_failed', { cause })
  if (isExhausted(cause))
    return new GatewayError('upstream_overloaded', { message: EXHAUSTED, retryAfterSeconds: 1, cause })
  if (cause instanceof UpstreamFault) return new GatewayError('upstream_failed', { cause })
  return new GatewayError('internal', { cause })
}

const EXHAUSTED = 'Too many connections are open at the moment; try again later.'

function isExhausted(cause: unknown): boolean {
  return cause instanceof UpstreamFault && cause.kind === 'exhausted'
}

/** Errors from the least to the most informative. After several failed attempts, the client gets the most informative error. */
const TELLING: readonly ErrorCode[] = [
  'upstream_misconfigured',
  'upstream_failed',
  'upstream_overloaded',
  'upstream_rate_limited',
]

/**
 * Whether an error is the upstream's fault, so that another target may do better. A reply that is too large would be too large
 * elsewhere, too.
 */
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
  if (isExhausted(error.details.cause))
    return {
      level: 'error',
      message: 'no connection could be opened: this machine has no file descriptor or port left',
    }
  return error.code === 'upstream_misconfigured'
    ? { level: 'error', message: 'upstream rejected our credential, model or path; operator action required' }
    : { level: 'warn', message: 'upstream failed; trying the next one, if any' }
}

function shortageError(candidates: Candidates, targets: readonly UpstreamTarget[]): GatewayError {
  const { reachable, rateLimitedMs, isFull, outOfServiceMs } = candidates.shortage
  if (rateLimitedMs !== null) {
    const retryAfterSeconds = Math.max(1, Math.ceil(rateLimitedMs / 1000))
    return new GatewayError('upstream_rate_limited', { retryAfterSeconds, cause: 'all credentials are rate-limited' })
  }
  if (outOfServiceMs !== null) {
    const retryAfterSeconds = Math.min(OUT_RETRY_SECONDS_MAX, Math.max(1, Math.ceil(outOfServiceMs / 1000)))
    return new GatewayError('upstream_overloaded', {
      retryAfterSeconds,
      cause: 'an operator has taken the upstreams out of service',
    })
  }
  if (isFull) {
    const cause = 'every upstream has reached its limit of calls in flight'
    return new GatewayError('upstream_overloaded', { retryAfterSeconds: 1, cause })
  }
  const names = targets.map(target => target.via).join(', ')
  const cause = reachable ? `no credential left to try (${names})` : `no credentials for the upstream ${names}`
  return new GatewayError('upstream_misconfigured', { cause })
}
