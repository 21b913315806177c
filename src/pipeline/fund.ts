/**
 * The money of a call that is counted in tokens. A stream begins with what it will likely cost and its hold grows; a whole
 * call cannot be stopped, so it holds what its cap can cost, and the cap is lowered to what the wallet affords.
 */

import { type MicroVnd, microVnd, ZERO_MICRO_VND } from '../lib/money.ts'
import type { ReplyStream } from '../translate/reply-stream.ts'
import { type Admitted, admit, balanceSpent } from './admit.ts'
import { capHeader } from './billing-headers.ts'
import { affordedOutputTokens, capAmount, holdAmount } from './estimate.ts'
import type { CallExtras } from './extras.ts'
import type { Resolution } from './resolve.ts'
import type { CallScope } from './run-accounted.ts'
import { StreamHold } from './stream-hold.ts'

export interface Funding {
  readonly resolution: Resolution
  readonly inputTokensEstimate: number
  readonly body: {
    readonly streamed: boolean
    /** Cap on the output that the client set; null when it set none. */
    readonly outputTokensMax: number | null
  }
  readonly choices: number
  readonly extras: Pick<CallExtras, 'holdMicroVnd'>
  /** A cap is not lowered below this. */
  readonly outputTokensMin: number
}

export interface Funded extends Admitted {
  /** The cap to send upstream, because the wallet affords no more; null: the one that would be sent anyhow. */
  readonly outputTokensAfforded: number | null
}

/** Throws GatewayError as `admit` does. */
export async function fund(scope: CallScope, funding: Funding): Promise<Funded> {
  const { services, call, client, headers } = scope
  const { resolution, inputTokensEstimate: inputTokens, body, choices, outputTokensMin } = funding
  const { entry, mappedFrom } = resolution
  const { outputTokensMax } = body
  const extrasMicroVnd = funding.extras.holdMicroVnd
  const wantMicroVnd = microVnd(holdAmount(entry, inputTokens, outputTokensMax, choices) + extrasMicroVnd)
  const wants = { entry, mappedFrom, wantMicroVnd, signal: client.gone }
  if (body.streamed || entry.price.per !== 'mtok') {
    return { ...without(extrasMicroVnd, await admit(services, call, wants)), outputTokensAfforded: null }
  }
  const cap = { inputTokens, outputTokensMax, choices }
  const wantMaxMicroVnd = microVnd(capAmount(entry, cap) + extrasMicroVnd)
  const admitted = without(extrasMicroVnd, await admit(services, call, { ...wants, wantMaxMicroVnd }))
  const outputTokensAfforded = affordedOutputTokens(entry, { ...cap, ...admitted, outputTokensMin })
  if (outputTokensAfforded !== null) {
    Object.assign(headers, capHeader(services.catalogue.settings.service, outputTokensAfforded))
  }
  return { ...admitted, outputTokensAfforded }
}

/** What is left for tokens: money for uses of tools is not theirs. */
function without(extrasMicroVnd: MicroVnd, { heldMicroVnd, freeMicroVnd }: Admitted): Admitted {
  const less = (amount: MicroVnd) => (amount > extrasMicroVnd ? microVnd(amount - extrasMicroVnd) : ZERO_MICRO_VND)
  return { heldMicroVnd: less(heldMicroVnd), freeMicroVnd: less(freeMicroVnd) }
}

export interface StreamFunding {
  readonly funding: Funding
  readonly admitted: Admitted
  readonly stream: ReplyStream
  readonly countInputTokens: () => number
}

/** The hold of a stream as it runs; null where the price does not depend on its length. */
export function holdOfStream(
  { services, call }: CallScope,
  { funding, admitted, stream, countInputTokens }: StreamFunding,
): StreamHold | null {
  const { resolution, inputTokensEstimate, choices } = funding
  const { price } = resolution.entry
  if (price.per !== 'mtok') return null
  return new StreamHold({
    ledger: services.ledger,
    callId: call.id,
    accountId: call.caller.accountId,
    priceVnd: price.vnd,
    heldMicroVnd: admitted.heldMicroVnd,
    reservedMicroVnd: funding.extras.holdMicroVnd,
    choices,
    inputTokensEstimate,
    countInputTokens,
    stream,
    limits: services.limits,
    spentError: balanceSpent(services.topUpUrl),
  })
}
