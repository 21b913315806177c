/**
 * The unsubscribe link at the foot of an alert email. It works without signing in (RFC 8058) and stops emails of that kind. Its
 * token is signed with KEY_PEPPERS and is good for nothing else.
 */

import { timingSafeEqual } from 'node:crypto'
import { keyedHash, type SecretSet } from '../lib/secrets.ts'
import { type AlertKind, hasSwitch, isAlertKind } from './kinds.ts'

export interface Unsubscription {
  readonly accountId: number
  readonly kind: AlertKind
}

const TOKEN = /^(\d{1,5})\.(\d{1,15})\.([a-z.]{1,40})\.([\w-]{43})$/

export function unsubscribeToken(peppers: SecretSet, { accountId, kind }: Unsubscription): string {
  const { currentId } = peppers
  return `${currentId}.${accountId}.${kind}.${sign(peppers, currentId, { accountId, kind })?.toString('base64url')}`
}

/** Null if the token was altered or its pepper is no longer configured. */
export function readUnsubscribeToken(peppers: SecretSet, token: string): Unsubscription | null {
  const [, pepperId = '', account = '', kind = '', mac = ''] = TOKEN.exec(token) ?? []
  if (!isAlertKind(kind) || !hasSwitch(kind)) return null
  const wanted = { accountId: Number(account), kind }
  const expected = sign(peppers, Number(pepperId), wanted)
  return expected !== null && timingSafeEqual(expected, Buffer.from(mac, 'base64url')) ? wanted : null
}

function sign(peppers: SecretSet, pepperId: number, { accountId, kind }: Unsubscription): Buffer | null {
  const pepper = peppers.secrets.get(pepperId)
  return pepper === undefined ? null : keyedHash(pepper, `gateway/unsubscribe/v1|${accountId}|${kind}|${pepperId}`)
}
