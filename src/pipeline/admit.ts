/** Places a call's hold: no call goes to a provider without money set aside for it. */

import { formerName } from '../catalogue/allowed.ts'
import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import { GatewayError } from '../errors.ts'
import type { ModelEntry } from '../generated/types.ts'
import type { HoldAnswer, KeyLimit } from '../ledger/types.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import { formatVnd, type MicroVnd } from '../lib/money.ts'
import { nextPeriod, vietnamTime } from '../lib/period.ts'
import { keyRefused } from './authenticate.ts'
import type { Call, Caller, Services } from './call.ts'

export interface Admission {
  readonly entry: ModelEntry
  readonly mappedFrom: string | null
  readonly holdMinMicroVnd: MicroVnd
  /** For a call whose hold cannot be extended: the most that it can cost. Default: `holdMinMicroVnd`. */
  readonly holdMaxMicroVnd?: MicroVnd
  readonly signal: Cancellation
}

/** The error that ends a running stream when the wallet balance has run out. */
export function balanceSpent(topUpUrl: string): GatewayError {
  return new GatewayError('insufficient_balance', {
    message: `The wallet balance ran out while this reply was being written, so it ends here. Top up at ${topUpUrl} and continue with the same key.`,
    limit: { source: 'wallet' },
  })
}

export function insufficientBalance(topUpUrl: string): GatewayError {
  return new GatewayError('insufficient_balance', {
    message: `The wallet balance is used up. Top up at ${topUpUrl} and continue with the same key.`,
    limit: { source: 'wallet' },
  })
}

/** The error for a key that has spent its own limit, or whose running calls have reserved the rest of it. */
function limitReached({ limitMicroVnd, spentMicroVnd, reset }: KeyLimit, now: Date): GatewayError {
  const resetsAt = reset === null ? null : nextPeriod(reset, now)
  const limit = {
    source: 'key',
    limit: formatVnd(limitMicroVnd),
    used: formatVnd(spentMicroVnd),
    resetsAt: resetsAt?.toISOString() ?? null,
  } as const
  const most = `its limit of ${limit.limit} VND${reset === null ? '' : ` ${PER[reset]}`}`
  if (spentMicroVnd < limitMicroVnd) {
    const message = `This API key has spent ${limit.used} VND of ${most}, and the rest is reserved for its calls that are still running. Try again when they have finished.`
    return new GatewayError('spend_cap_held', { message, limit })
  }
  const again = resetsAt === null ? 'It works again' : `It works again from ${vietnamTime(resetsAt)} (Vietnam time), or`
  const message = `This API key has spent ${most}. ${again} as soon as the limit is raised in the dashboard under Keys; other keys of the account still work.`
  return new GatewayError('spend_cap_reached', { message, limit })
}

const PER = { daily: 'a day', weekly: 'a week', monthly: 'a month' } as const

export function modelNotAllowed({ id }: ModelEntry): GatewayError {
  return new GatewayError('model_not_allowed', {
    message: `model: this API key may not call ${id}. GET /v1/models with this key lists those it may call; its owner can allow more in the dashboard under Keys.`,
    param: 'model',
  })
}

export type Admitted = Pick<Extract<HoldAnswer, { outcome: 'admitted' }>, 'heldMicroVnd' | 'freeMicroVnd'>

/**
 * Places the hold. Throws GatewayError `authentication_failed`, `key_disabled`, `key_expired`, `model_not_allowed`,
 * `insufficient_balance`, `spend_cap_reached`, `spend_cap_held`, `funds_held` or `ledger_unavailable`.
 */
export async function admit(services: Services, call: Call, admission: Admission): Promise<Admitted> {
  const answer = await place(services, call, admission)
  switch (answer.outcome) {
    case 'admitted':
      return answer
    case 'refused_key':
      throw keyRefused(answer.state)
    case 'refused_model':
      throw modelNotAllowed(admission.entry)
    case 'empty':
      services.walletFoundEmpty(call.caller.accountId)
      throw insufficientBalance(services.topUpUrl)
    case 'capped':
      throw limitReached(answer, call.openedAt)
    case 'waited':
      throw new GatewayError('funds_held', {
        message:
          'The rest of the balance is reserved for calls that are still running. Try again when they have finished, or top up at ' +
          `${services.topUpUrl}.`,
        limit: { source: 'wallet' },
      })
  }
}

/**
 * Places the hold. If the database does not know the key's hash, looks the key up again and retries: its hash may have changed
 * since this process cached the caller, because a pepper was rotated. The look-up uses the secret that the client sent rather
 * than the key id, because the owner may have given the key with this id a new secret.
 */
async function place(services: Services, call: Call, admission: Admission): Promise<HoldAnswer> {
  const { keyHashes } = call.caller
  const answer = await ask(services, call, admission, call.caller)
  if (answer.outcome !== 'refused_key' || answer.state !== 'unknown') return answer
  const found = await services.findKey(keyHashes)
  if (found === null) return answer
  if (found.state !== 'active') return { outcome: 'refused_key', state: found.state }
  return ask(services, call, admission, found)
}

function ask(
  services: Services,
  call: Call,
  admission: Admission,
  { accountId, keyId, keyHash, keysVersion }: Pick<Caller, 'accountId' | 'keyId' | 'keyHash' | 'keysVersion'>,
): Promise<HoldAnswer> {
  return services.ledger.admit(
    {
      keyHash,
      access: keysVersion === null ? null : { accountId, keyId, keysVersion },
      callId: call.id,
      holdMinMicroVnd: admission.holdMinMicroVnd,
      holdMaxMicroVnd: admission.holdMaxMicroVnd ?? admission.holdMinMicroVnd,
      entryId: admission.entry.id,
      requestedName: admission.mappedFrom,
      endpoint: ENDPOINT_FACTS[call.endpoint].code,
      priceVnd: admission.entry.price.vnd,
      pricePer: admission.entry.price.per,
      family: admission.entry.family,
      formerName: formerName(services.catalogue, call.caller.allowedModels, admission.entry),
    },
    { signal: admission.signal },
  )
}
