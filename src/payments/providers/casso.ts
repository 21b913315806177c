/**
 * Adapter for Casso's webhooks (developer.casso.vn, read 2026-11-21): version 2, which is signed, and the legacy format, which
 * has a secret token and a list of transactions.
 */

import { isObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts'
import type { PaymentLimits } from '../limits.ts'
import type { BankProvider, BankTransaction, Headers } from '../types.ts'
import {
  readAccount,
  readAmount,
  readId,
  readMany,
  readReference,
  readText,
  readTime,
  readVirtualAccount,
} from './read.ts'
import { headerOf, hmac, isSameSecret, type ProviderOptions, refuse, refuseStale } from './signature.ts'

export interface CassoSecrets {
  /** Key of the HMAC-SHA512 signatures of version 2. If it is set, requests without such a signature are rejected. */
  readonly checksumKey: string | null
  /** Token of the legacy format, sent in the `secure-token` header. */
  readonly secureToken: string | null
}

export function createCassoProvider(secrets: CassoSecrets, { limits, nowMs }: ProviderOptions): BankProvider {
  function authenticate(body: JsonObject, headers: Headers): void {
    const { checksumKey, secureToken } = secrets
    if (checksumKey === null) {
      if (secureToken === null || !isSameSecret(headerOf(headers, 'secure-token'), secureToken)) refuse()
      return
    }
    const header = /^t=(\d{9,14}),\s*v1=([0-9a-f]{128})$/i.exec(headerOf(headers, 'x-casso-signature'))
    const [, time, signature] = header ?? ['', '', '']
    const expected = hmac('sha512', checksumKey, [`${time}.${sortedText(body, limits)}`], 'hex')
    if (!isSameSecret((signature as string).toLowerCase(), expected)) refuse()
    refuseStale(time as string, { nowMs: nowMs(), secondsMax: limits.notificationAgeSecondsMax })
  }

  return {
    name: 'casso',
    verify(rawBody, headers) {
      // Signatures are computed over the parsed body, so a body that is not a JSON object cannot be verified.
      const body = parseJson(rawBody.toString('utf8'))
      if (!isObject(body)) return refuse()
      authenticate(body, headers)
      return readMany(Array.isArray(body.data) ? body.data : [body.data ?? null], limits, readTransaction)
    },
  }
}

/** Outgoing transfers have a negative amount. */
function readTransaction(data: JsonObject): BankTransaction {
  const { amountVnd, isNegative } = readAmount(data.amount, 'amount')
  return {
    providerReference: readId(data.id, 'id'),
    bankReference: readReference(data.reference ?? data.tid),
    accountNumber: readAccount(data.accountNumber ?? data.bank_sub_acc_id ?? data.subAccId, 'accountNumber'),
    virtualAccountNumber: readVirtualAccount(data.virtualAccountNumber),
    amountVnd,
    direction: isNegative ? 'out' : 'in',
    memo: readText(data.description),
    payer: readText(data.counterAccountName) || null,
    bookedAt: readTime(data.transactionDateTime ?? data.when),
  }
}

/** The body's JSON with the members of its objects in order, as it is signed. Objects in lists stay as they are. */
function sortedText(body: JsonObject, { sortedMembersMax }: PaymentLimits): string {
  let members = 0
  const sorted = (value: JsonValue | undefined): JsonValue | undefined => {
    if (!isObject(value)) return value
    const entries = Object.entries(value)
    members += entries.length
    if (members > sortedMembersMax) refuse()
    entries.sort(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
  }
  return JSON.stringify(sorted(body))
}
