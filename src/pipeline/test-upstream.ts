/** Sends an upstream a one-token request with each of its credentials, so that operators find faults before customers do. */

import { gatewayErrorOf, readUpstreamFailure } from '../conversation/upstream-error.ts'
import { COUNT_MAX } from '../conversation/usage.ts'
import { GatewayError } from '../errors.ts'
import type { ModelEntry, UpstreamTarget } from '../generated/types.ts'
import { NEVER_CANCELLED } from '../lib/cancellation.ts'
import { onWires, wireOf } from '../translate/wired.ts'
import { callUpstream } from '../upstream/call.ts'
import type { Credential } from '../upstream/credentials.ts'
import type { ReachableUpstream } from '../upstream/registry.ts'
import type { Services } from './call.ts'
import { gatewayErrorFor, readFailure } from './dispatch.ts'
import { prepare } from './prepare.ts'
import { readChatBody } from './receive.ts'

export interface CredentialTest {
  /** The credential's label, such as `anthropic#1`. */
  readonly label: string
  /** `ok`, or the error code. */
  readonly outcome: string
  /** HTTP status of the upstream's error reply; 0 if there was none. */
  readonly status: number
  readonly tookMs: number
}

export type UpstreamTest =
  | { readonly outcome: 'tested'; readonly entryId: string; readonly credentials: readonly CredentialTest[] }
  /** `unreachable`: no credentials are set for the upstream. `no_model`: it has no chat model to test. */
  | { readonly outcome: 'unreachable' | 'no_model' }

const TIMEOUT_MS = 30_000
/** A test is no customer's call. */
const NO_ACCOUNT = 0
const CREDENTIALS_MAX = 20
const REPLY_BYTES_MAX = 1024 * 1024
const FORMAT = 'chat_completions'

/**
 * Sends the test without placing a hold, billing, writing a usage row or affecting circuits. Does not reject if the upstream
 * fails.
 */
export async function testUpstream(services: Services, upstreamId: string): Promise<UpstreamTest> {
  const upstream = services.upstreams.find(upstreamId)
  if (upstream === null) return { outcome: 'unreachable' }
  const entry = cheapestEntry(services, upstreamId)
  if (entry === null) return { outcome: 'no_model' }
  const credentials = upstream.credentials.orderFor(0).slice(0, CREDENTIALS_MAX)
  const tested = await Promise.all(credentials.map(each => ask(services, { upstream, entry, credential: each })))
  return { outcome: 'tested', entryId: entry.id, credentials: tested }
}

/** The cheapest chat entry that this upstream serves; null if there is none. */
function cheapestEntry({ catalogue }: Services, upstreamId: string): ModelEntry | null {
  const served = catalogue.items.filter(
    item =>
      item.entry.kind === 'chat' &&
      !catalogue.isRetired(item) &&
      item.entry.upstreams.some(({ via }) => via === upstreamId),
  )
  const byPrice = served.toSorted(
    (one, other) =>
      Number(one.entry.price.per !== 'mtok') - Number(other.entry.price.per !== 'mtok') ||
      one.entry.price.vnd - other.entry.price.vnd,
  )
  return byPrice[0]?.entry ?? null
}

interface Asked {
  readonly upstream: ReachableUpstream
  readonly entry: ModelEntry
  readonly credential: Credential
}

async function ask(services: Services, { upstream, entry, credential }: Asked): Promise<CredentialTest> {
  const startedMs = services.nowMs()
  const answer = (outcome: string, status: number): CredentialTest => ({
    label: credential.label,
    outcome,
    status,
    tookMs: Math.round(services.nowMs() - startedMs),
  })
  try {
    const request = { model: entry.id, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] }
    const body = await readChatBody(Buffer.from(JSON.stringify(request)), services.limits, FORMAT)
    const wired = onWires(entry, FORMAT, body.outline)
    const target = wired.upstreams.find(({ via }) => via === upstream.facts.id) as UpstreamTarget
    const prepared = await prepare({
      envelopeSigner: services.envelopeSignerFor(NO_ACCOUNT),
      body,
      entry: wired,
      clientModel: entry.id,
      target,
      format: FORMAT,
      betas: [],
      inputTokensEstimate: 1,
      outputTokensAfforded: null,
      countInputTokens: () => 1,
      reportedTokensMax: COUNT_MAX,
      limits: services.limits,
    })
    const reply = await callUpstream(
      upstream,
      credential,
      {
        endpoint: wireOf(target),
        model: target.model,
        body: prepared.body,
        headers: prepared.headers ?? {},
        contentType: prepared.contentType ?? null,
        accept: prepared.accept ?? null,
        streamed: false,
        prefilled: false,
        betas: prepared.betas ?? [],
        clientHeader: () => undefined,
      },
      {
        accountId: NO_ACCOUNT,
        totalTimeoutMs: TIMEOUT_MS,
        frameBytesMax: services.limits.eventBytesMax,
        signal: NEVER_CANCELLED,
      },
    )
    if (reply.status < 200 || reply.status >= 300) {
      throw gatewayErrorOf(readUpstreamFailure(await readFailure(reply, upstream)))
    }
    await prepared.readReply(await reply.readBody(REPLY_BYTES_MAX))
    return answer('ok', 0)
  } catch (cause) {
    const error = cause instanceof GatewayError ? cause : gatewayErrorFor(cause)
    return answer(error.code, error.details.upstreamStatus ?? 0)
  }
}
