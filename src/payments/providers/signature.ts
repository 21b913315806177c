/** Verification for several providers: compares secrets and signatures in constant time, and refuses old notifications. */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { GatewayError } from '../../errors.ts'
import type { PaymentLimits } from '../limits.ts'
import type { Headers } from '../types.ts'

export interface ProviderOptions {
  readonly limits: PaymentLimits
  readonly nowMs: () => number
}

/** Compares in constant time, even if the lengths differ. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest()
  return timingSafeEqual(digest(given), digest(expected))
}

export function hmac(
  algorithm: 'sha256' | 'sha512',
  key: string | Buffer,
  parts: readonly (string | Buffer)[],
  encoding: 'hex' | 'base64',
): string {
  const code = createHmac(algorithm, key)
  for (const part of parts) code.update(part)
  return code.digest(encoding)
}

/** The header's value; '' if it is absent or repeated. */
export function headerOf(headers: Headers, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

/** Refuses without saying why, because the sender may be guessing. */
export function refuse(): never {
  throw new GatewayError('notification_refused')
}

/** Throws GatewayError `notification_refused` unless `text` is a time close to now, in Unix seconds or milliseconds. */
export function refuseStale(text: string, { nowMs, secondsMax }: { nowMs: number; secondsMax: number }): void {
  if (!/^\d{9,14}$/.test(text)) refuse()
  const number = Number(text)
  const timeMs = number > 1e11 ? number : number * 1_000
  if (Math.abs(nowMs - timeMs) > secondsMax * 1_000) refuse()
}
