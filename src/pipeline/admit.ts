/** Places the hold: no call goes to a provider without money set aside for it. */

import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import { GatewayError } from '../errors.ts'
import type { ModelEntry } from '../generated/types.ts'
import type { HoldAnswer } from '../ledger/types.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import type { MicroVnd } from '../lib/money.ts'
import type { Call, Services } from './call.ts'

export interface Admission {
  readonly entry: ModelEntry
  readonly mappedFrom: string | null
  readonly wantMicroVnd: MicroVnd
  /** The most that the call can cost, if it cannot be extended; absent: `wantMicroVnd`. */
  readonly wantMaxMicroVnd?: MicroVnd
  readonly signal: Cancellation
}

/** Ends a stream that has begun. */
export function balanceSpent(topUpUrl: string): GatewayError {
  return new GatewayError('insufficient_balance', {
    message: `The wallet balance ran out while this reply was being written, so it ends here. Top up at ${topUpUrl} and continue with the same key.`,
  })
}

export function insufficientBalance(topUpUrl: string): GatewayError {
  return new GatewayError('insufficient_balance', {
    message: `The wallet balance is used up. Top up at ${topUpUrl} and continue with the same key.`,
  })
}

export type Admitted = Pick<Extract<HoldAnswer, { outcome: 'admitted' }>, 'heldMicroVnd' | 'freeMicroVnd'>

/** Throws GatewayError `authentication_failed`, `insufficient_balance`, `spend_cap_reached`, `funds_held` or `ledger_unavailable`. */
export async function admit(services: Services, call: Call, admission: Admission): Promise<Admitted> {
  const answer = await place(services, call, admission)
  switch (answer.outcome) {
    case 'admitted':
      return answer
    case 'refused_key':
      throw new GatewayError('authentication_failed', { message: 'This API key has been revoked; create a new one.' })
    case 'empty':
      services.walletFoundEmpty(call.caller.accountId)
      throw insufficientBalance(services.topUpUrl)
    case 'capped':
      throw new GatewayError('spend_cap_reached', {
        message:
          'This API key has reached its monthly cap. It works again on the first day of next month (Vietnam time), or as soon ' +
          'as its cap is raised in the dashboard under Keys; other keys of the account still work.',
      })
    case 'waited':
      throw new GatewayError('funds_held', {
        message:
          'The rest of the balance is reserved for calls that are still running. Try again when they have finished, or top up at ' +
          `${services.topUpUrl}.`,
      })
  }
}

/** The key may have been rehashed since this process cached its account, so an unknown hash is looked up again. */
async function place(services: Services, call: Call, admission: Admission): Promise<HoldAnswer> {
  const { keyHash } = call.caller
  const answer = await ask(services, call, admission, keyHash)
  if (answer.outcome !== 'refused_key') return answer
  const hashNow = await services.keyHashNow(call.caller)
  if (hashNow === null || Buffer.compare(hashNow, keyHash) === 0) return answer
  return ask(services, call, admission, hashNow)
}

function ask(services: Services, call: Call, admission: Admission, keyHash: Uint8Array): Promise<HoldAnswer> {
  return services.ledger.admit(
    {
      keyHash,
      callId: call.id,
      wantMicroVnd: admission.wantMicroVnd,
      wantMaxMicroVnd: admission.wantMaxMicroVnd ?? admission.wantMicroVnd,
      entryId: admission.entry.id,
      requestedName: admission.mappedFrom,
      endpoint: ENDPOINT_FACTS[call.endpoint].code,
      priceVnd: admission.entry.price.vnd,
      pricePer: admission.entry.price.per,
    },
    { signal: admission.signal },
  )
}
