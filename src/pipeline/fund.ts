/**
 * Funds a call that is priced by tokens. A stream starts with a hold for its likely cost, which grows as the stream runs. A
 * non-streamed call cannot be stopped half-way, so its hold covers what its output cap can cost, and the cap is lowered to what
 * the wallet can pay for.
 */

import type { ReplyStream } from '../conversation/reply-stream.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { type Admitted, admit, balanceSpent } from './admit.ts'
import { capHeader } from './billing-headers.ts'
import { affordedOutputTokens, capAmount, holdAmount, type InputEstimate, referencedAmount } from './estimate.ts'
import type { CallExtras } from './extras.ts'
import type { Resolution } from './resolve.ts'
import type { CallScope } from './run-billed.ts'
import { StreamHold } from './stream-hold.ts'
import type { UsageChecks } from './stream-result.ts'

export interface Funding {
  readonly resolution: Resolution
  readonly input: InputEstimate
  readonly body: {
    readonly streamed: boolean
    /** The client's output cap; null if it set none. */
    readonly outputTokensMax: number | null
  }
  readonly choices: number
  readonly extras: Pick<CallExtras, 'holdMicroVnd'>
  /** The output cap is never lowered below this. */
  readonly outputTokensMin: number
}

export interface Funded extends Admitted {
  /** Amount held in addition to `heldMicroVnd`, for content that the body only refers to. */
  readonly referencedMicroVnd: MicroVnd
  /** Amount held in addition to `heldMicroVnd` and `referencedMicroVnd`, for tool uses. */
  readonly reservedMicroVnd: MicroVnd
  /** The lowered output cap to send upstream; null if the wallet can pay for the usual cap. */
  readonly outputTokensAfforded: number | null
}

/** Places the hold of a call priced by tokens. Throws the same errors as `admit`. */
export async function fund(scope: CallScope, funding: Funding): Promise<Funded> {
  const { services, call, client, headers } = scope
  const { resolution, input, body, choices, outputTokensMin } = funding
  const { entry, mappedFrom } = resolution
  const { outputTokensMax } = body
  const inputTokens = input.tokens
  const tokensMicroVnd = holdAmount(entry, inputTokens, outputTokensMax, choices)
  const parts = {
    tokensMicroVnd,
    extrasMicroVnd: funding.extras.holdMicroVnd,
    referencedMicroVnd: referencedAmount(entry, input),
  }
  const besideMicroVnd = parts.extrasMicroVnd + parts.referencedMicroVnd
  const holdMinMicroVnd = microVnd(tokensMicroVnd + besideMicroVnd)
  const wants = { entry, mappedFrom, holdMinMicroVnd, signal: client.gone }
  if (body.streamed || entry.price.per !== 'mtok') {
    return { ...split(parts, await admit(services, call, wants)), outputTokensAfforded: null }
  }
  const cap = { inputTokens, outputTokensMax, choices }
  const holdMaxMicroVnd = microVnd(capAmount(entry, cap) + besideMicroVnd)
  const admitted = split(parts, await admit(services, call, { ...wants, holdMaxMicroVnd }))
  const outputTokensAfforded = affordedOutputTokens(entry, { ...cap, ...admitted, outputTokensMin })
  if (outputTokensAfforded !== null) {
    Object.assign(headers, capHeader(services.catalogue.settings.service, outputTokensAfforded))
  }
  return { ...admitted, outputTokensAfforded }
}

interface Parts {
  /** Likely cost of the input and output tokens that can be estimated. */
  readonly tokensMicroVnd: MicroVnd
  readonly extrasMicroVnd: MicroVnd
  readonly referencedMicroVnd: MicroVnd
}

/**
 * Splits the money granted into the parts for tokens, tool uses and referenced content. If it does not cover all of them,
 * tokens come first, then tool uses.
 */
function split(parts: Parts, { heldMicroVnd, freeMicroVnd }: Admitted): Omit<Funded, 'outputTokensAfforded'> {
  const held = divide(parts, heldMicroVnd)
  const free = divide(parts, freeMicroVnd)
  return {
    heldMicroVnd: held.tokens,
    referencedMicroVnd: held.referenced,
    reservedMicroVnd: held.extras,
    freeMicroVnd: free.tokens,
  }
}

function divide({ tokensMicroVnd, extrasMicroVnd, referencedMicroVnd }: Parts, amount: MicroVnd) {
  const beside = amount > tokensMicroVnd ? amount - tokensMicroVnd : 0n
  const extras = beside < extrasMicroVnd ? beside : extrasMicroVnd
  const referenced = beside - extras < referencedMicroVnd ? beside - extras : referencedMicroVnd
  return { tokens: microVnd(amount - extras - referenced), extras: microVnd(extras), referenced: microVnd(referenced) }
}

export interface StreamFunding {
  readonly funding: Funding
  readonly funded: Funded
  readonly stream: ReplyStream
  readonly checks: UsageChecks
}

/** The hold of a running stream; null if the price does not depend on its length. */
export function holdOfStream(
  { services, call }: CallScope,
  { funding, funded, stream, checks }: StreamFunding,
): StreamHold | null {
  const { resolution, input, choices } = funding
  const { price } = resolution.entry
  if (price.per !== 'mtok') return null
  // Content that the body only refers to counts as used until the provider reports the true figure.
  const referencedTokens = Number(funded.referencedMicroVnd / BigInt(price.vnd))
  return new StreamHold({
    ledger: services.ledger,
    callId: call.id,
    accountId: call.caller.accountId,
    priceVnd: price.vnd,
    heldMicroVnd: microVnd(funded.heldMicroVnd + funded.referencedMicroVnd),
    reservedMicroVnd: funded.reservedMicroVnd,
    choices,
    inputTokensEstimate: input.tokens + referencedTokens,
    countInputTokens: () => checks.countInputTokens() + referencedTokens,
    reportedTokensMax: checks.reportedTokensMax,
    stream,
    limits: services.limits,
    spentError: () => balanceSpent(services.topUpUrl),
  })
}
