/** Reads the fields of authentic notifications. Every field is checked, and an error names the faulty field. */

import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts'
import type { PaymentLimits } from '../limits.ts'
import { type BankTransaction, UnreadableListError } from '../types.ts'

const AMOUNT_VND_MAX = 10n ** 13n
const TEXT_CHARACTERS_MAX = 2_000
const REFERENCE_CHARACTERS_MAX = 200

export function unreadable(what: string): never {
  throw new GatewayError('notification_unreadable', { message: `The notification could not be parsed: ${what}.` })
}

export function readBody(rawBody: Buffer): JsonObject {
  const body = parseJson(rawBody.toString('utf8'))
  return isObject(body) ? body : unreadable('the body is not a JSON object')
}

export function readObject(value: JsonValue | undefined, name: string): JsonObject {
  return isObject(value) ? value : unreadable(`${name} is not an object`)
}

/** Reads an id given as text or as a whole number; never returns ''. */
export function readId(value: JsonValue | undefined, name: string): string {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || text.trim() === '') return unreadable(`${name} is missing`)
  return clean(text).slice(0, REFERENCE_CHARACTERS_MAX)
}

/** Reads the bank's reference in canonical form, so that two providers' reports of one transfer match. */
export function readReference(value: JsonValue | undefined): string | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return null
  return spellReference(clean(text)).slice(0, REFERENCE_CHARACTERS_MAX) || null
}

/** Returns a reference without the spaces and invisible characters that people copy along with it. */
export function spellReference(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFKC')
    .replace(/[\s\p{C}]+/gu, '')
    .toUpperCase()
}

export function readText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? clean(value) : ''
}

/** Reads an account number, spelled by `spellAccount`. */
export function readAccount(value: JsonValue | undefined, name: string): string {
  return spellAccount(readId(value, name)) || unreadable(`${name} is missing`)
}

/** Reads the virtual number of a transfer's account, spelled by `spellAccount`; null if there is none. */
export function readVirtualAccount(value: JsonValue | undefined): string | null {
  return spellAccount(readText(typeof value === 'number' ? String(value) : value)) || null
}

/** Returns an account number in one spelling, because banks and people vary its spaces, dots and letter case. */
export function spellAccount(accountNumber: string): string {
  return accountNumber.replace(/[^A-Za-z0-9]/g, '').toUpperCase()
}

/**
 * Reads a positive amount in whole dong. Some providers use the sign for the direction of a transfer, so it is returned
 * separately.
 */
export function readAmount(value: JsonValue | undefined, name: string): { amountVnd: bigint; isNegative: boolean } {
  const text = typeof value === 'number' ? String(value) : value
  const found = typeof text === 'string' ? /^(-?)(\d{1,14})(?:\.0{1,6})?$/.exec(text.trim()) : null
  const amountVnd = BigInt(found?.[2] ?? 0)
  if (amountVnd < 1n || amountVnd > AMOUNT_VND_MAX) return unreadable(`${name} is not a whole number of dong`)
  return { amountVnd, isNegative: found?.[1] === '-' }
}

/**
 * Reads an ISO time, or a time without a zone such as `2026-11-21 14:02:37`, which is Vietnam time. Returns null for any other
 * value: a notification is accepted without its time.
 */
export function readTime(value: JsonValue | undefined): Date | null {
  if (typeof value !== 'string') return null
  const local = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})$/.exec(value.trim())
  const time = new Date(local === null ? value : `${local[1]}T${local[2]}+07:00`)
  return Number.isNaN(time.getTime()) || time.getFullYear() < 2000 || time.getFullYear() > 2200 ? null : time
}

/** Reads a list. If some of its transactions cannot be parsed, throws an UnreadableListError that has the others. */
export function readMany(
  values: JsonValue | undefined,
  limits: PaymentLimits,
  read: (value: JsonObject) => BankTransaction,
): readonly BankTransaction[] {
  if (!Array.isArray(values)) return unreadable('there is no list of transactions')
  if (values.length > limits.transactionsMax) return unreadable(`more than ${limits.transactionsMax} transactions`)
  const transactions: BankTransaction[] = []
  let first: GatewayError | null = null
  for (const [index, value] of values.entries()) {
    try {
      transactions.push(read(readObject(value, `transaction ${index + 1}`)))
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      first ??= error
    }
  }
  if (first !== null) throw new UnreadableListError(first, transactions)
  return transactions
}

function clean(text: string): string {
  return text.toWellFormed().replaceAll('\0', '').trim().slice(0, TEXT_CHARACTERS_MAX).toWellFormed()
}
