/**
 * Adapter for payOS (payos.vn/docs/tich-hop-webhook/kiem-tra-du-lieu-voi-signature, read 2026-11-21): one transaction per
 * notification, signed inside the body. Notifications do not say when they were sent, but a replayed one only repeats the same
 * transaction and changes nothing.
 */

import { isObject, type JsonObject, type JsonValue, objectOrNull, parseJson } from '../../lib/json.ts'
import type { BankProvider } from '../types.ts'
import { readAccount, readAmount, readId, readReference, readText, readTime, readVirtualAccount } from './read.ts'
import { hmac, isSameSecret, refuse } from './signature.ts'

export function createPayosProvider(checksumKey: string): BankProvider {
  return {
    name: 'payos',
    verify(rawBody) {
      // The signature covers the parsed data, so a body that cannot be parsed cannot be authentic.
      const body = objectOrNull(parseJson(rawBody.toString('utf8')))
      const data = objectOrNull(body?.data)
      if (body === null || data === null) return refuse()
      const expected = hmac('sha256', checksumKey, [payosText(data)], 'hex')
      if (!isSameSecret(readText(body.signature).toLowerCase(), expected)) refuse()
      const { amountVnd, isNegative } = readAmount(data.amount, 'data.amount')
      const reference = readId(data.reference, 'data.reference')
      return [
        {
          // The bank reference alone is not unique: it may recur on another day.
          providerReference: `${readId(data.paymentLinkId, 'data.paymentLinkId')}/${reference}`,
          bankReference: readReference(data.reference),
          accountNumber: readAccount(data.accountNumber, 'data.accountNumber'),
          virtualAccountNumber: readVirtualAccount(data.virtualAccountNumber),
          amountVnd,
          direction: isNegative ? 'out' : 'in',
          memo: readText(data.description),
          payer: readText(data.counterAccountName) || null,
          bookedAt: readTime(data.transactionDateTime),
        },
      ]
    },
  }
}

/** The text that payOS signs: `key=value&…` in key order, with null as empty. */
function payosText(data: JsonObject): string {
  const keys = Object.keys(data).sort()
  return keys.map(key => `${key}=${payosValue(data[key])}`).join('&')
}

function payosValue(value: JsonValue | undefined): string {
  if (value === null || value === undefined || value === 'null' || value === 'undefined') return ''
  if (Array.isArray(value)) return JSON.stringify(value.map(item => (isObject(item) ? sorted(item) : item)))
  return isObject(value) ? JSON.stringify(value) : String(value)
}

function sorted(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
