/** Adapter for SePay (developer.sepay.vn/vi/sepay-webhooks, read 2026-11-21): one transaction per notification. */

import type { BankProvider, Headers } from '../types.ts'
import {
  readAccount,
  readAmount,
  readBody,
  readId,
  readReference,
  readText,
  readTime,
  readVirtualAccount,
  unreadable,
} from './read.ts'
import { headerOf, hmac, isSameSecret, type ProviderOptions, refuse, refuseStale } from './signature.ts'

export interface SepaySecrets {
  /** Secret of the HMAC-SHA256 signature, which is stronger than the key; if it is set, nothing else is accepted. */
  readonly webhookSecret: string | null
  /** The key sent in the header `Authorization: Apikey …`. */
  readonly apiKey: string | null
}

export function createSepayProvider(secrets: SepaySecrets, { limits, nowMs }: ProviderOptions): BankProvider {
  function authenticate(rawBody: Buffer, headers: Headers): void {
    const { webhookSecret, apiKey } = secrets
    if (webhookSecret !== null) {
      const timestamp = headerOf(headers, 'x-sepay-timestamp')
      const expected = `sha256=${hmac('sha256', webhookSecret, [`${timestamp}.`, rawBody], 'hex')}`
      if (!isSameSecret(headerOf(headers, 'x-sepay-signature').toLowerCase(), expected)) refuse()
      refuseStale(timestamp, { nowMs: nowMs(), secondsMax: limits.notificationAgeSecondsMax })
      return
    }
    const given = /^apikey (\S+)$/i.exec(headerOf(headers, 'authorization'))?.[1] ?? ''
    if (apiKey === null || !isSameSecret(given, apiKey)) refuse()
  }

  return {
    name: 'sepay',
    verify(rawBody, headers) {
      authenticate(rawBody, headers)
      const body = readBody(rawBody)
      const { amountVnd, isNegative } = readAmount(body.transferAmount, 'transferAmount')
      const direction = body.transferType
      if (isNegative && direction === 'in') return unreadable('transferAmount is negative although transferType is in')
      if (direction !== 'in' && direction !== 'out') return unreadable('transferType is neither "in" nor "out"')
      return [
        {
          providerReference: readId(body.id, 'id'),
          bankReference: readReference(body.referenceCode),
          accountNumber: readAccount(body.accountNumber, 'accountNumber'),
          virtualAccountNumber: readVirtualAccount(body.subAccount),
          amountVnd,
          direction,
          memo: readText(body.content) || readText(body.description),
          bookedAt: readTime(body.transactionDate),
        },
      ]
    },
  }
}
