/**
 * Adapter for notifications from any other source, signed as standardwebhooks.com describes: a bridge to a bank's own interface,
 * or a service without an adapter here. The body is
 * `{"transactions":[{"id","account_number","amount_vnd","direction","memo",…}]}`.
 */

import type { JsonObject } from '../../lib/json.ts'
import type { BankProvider, BankTransaction, Headers } from '../types.ts'
import {
  readAccount,
  readAmount,
  readBody,
  readId,
  readMany,
  readReference,
  readText,
  readTime,
  unreadable,
} from './read.ts'
import { headerOf, hmac, isSameSecret, type ProviderOptions, refuse, refuseStale } from './signature.ts'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES_MIN = 24

/** Returns the bytes of `whsec_<base64>`. Throws an Error that says what is wrong but never contains the value. */
export function readWebhookSecret(text: string): Buffer {
  const base64 = text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : ''
  const secret = /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? Buffer.from(base64, 'base64') : Buffer.alloc(0)
  if (secret.length < SECRET_BYTES_MIN) {
    throw new Error(`is not in the form ${SECRET_PREFIX}<base64 of at least ${SECRET_BYTES_MIN} bytes>`)
  }
  return secret
}

export function createSignedProvider(secret: Buffer, { limits, nowMs }: ProviderOptions): BankProvider {
  function authenticate(rawBody: Buffer, headers: Headers): void {
    const id = headerOf(headers, 'webhook-id')
    const timestamp = headerOf(headers, 'webhook-timestamp')
    const expected = `v1,${hmac('sha256', secret, [`${id}.${timestamp}.`, rawBody], 'base64')}`
    // The header holds several signatures while the sender rotates its secret.
    const given = headerOf(headers, 'webhook-signature').split(' ').slice(0, 10)
    if (given.filter(signature => isSameSecret(signature, expected)).length === 0) refuse()
    refuseStale(timestamp, { nowMs: nowMs(), secondsMax: limits.notificationAgeSecondsMax })
  }

  return {
    name: 'signed',
    verify(rawBody, headers) {
      authenticate(rawBody, headers)
      return readMany(readBody(rawBody).transactions, limits, readTransaction)
    },
  }
}

function readTransaction(value: JsonObject): BankTransaction {
  const { amountVnd, isNegative } = readAmount(value.amount_vnd, 'amount_vnd')
  const { direction } = value
  if (isNegative) return unreadable('amount_vnd is negative; write a positive amount and direction "out"')
  if (direction !== 'in' && direction !== 'out') return unreadable('direction is neither "in" nor "out"')
  return {
    providerReference: readId(value.id, 'id'),
    bankReference: readReference(value.bank_reference),
    accountNumber: readAccount(value.account_number, 'account_number'),
    amountVnd,
    direction,
    memo: readText(value.memo),
    payer: readText(value.payer) || null,
    bookedAt: readTime(value.booked_at),
  }
}
