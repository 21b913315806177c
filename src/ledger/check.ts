/** Preconditions for callers of the ledger. Violating one is a programming error and fails only that call. */

import assert from 'node:assert/strict'
import { isUuid } from '../lib/ids.ts'
import { MICRO_PER_VND } from '../lib/money.ts'
import type { HoldRequest, Settlement } from './types.ts'

const COUNT_MAX = 1_000_000_000
const PRICE_VND_MAX = 1_000_000_000
/** Largest amount per call, 1,000,000,000 VND: far above any price, far below what a bigint sum can hold. */
export const AMOUNT_MICRO_VND_MAX = 10n ** 15n
const IDS = ['accountId', 'keyId'] as const
const COUNTS = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens', 'images'] as const
/** Longest name on a usage row, in characters. */
export const NAME_CHARACTERS_MAX = 256

/** Maximum number of attempts recorded for one call; the configured limits allow no more. */
export const ATTEMPTS_MAX = 20
const MS_MAX = 2 ** 31 - 1
/** What clients may send as a tag: at most 64 characters, and safe in a header, a URL and a spreadsheet's cell. */
export const TAG = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,63}$/
const LABEL = /^[\x21-\x7e]{1,100}$/

/** Throws AssertionError for a hold that the database would reject: one bad row would fail its whole batch. */
export function checkHold(request: HoldRequest): void {
  assert(isUuid(request.callId), 'callId is not a lower-case UUID')
  assert(request.keyHash.length === 32, 'keyHash is not 32 bytes')
  assert(
    request.holdMinMicroVnd > 0n && request.holdMinMicroVnd <= AMOUNT_MICRO_VND_MAX,
    'holdMinMicroVnd is out of bounds',
  )
  const { holdMaxMicroVnd = request.holdMinMicroVnd } = request
  assert(
    holdMaxMicroVnd >= request.holdMinMicroVnd && holdMaxMicroVnd <= AMOUNT_MICRO_VND_MAX,
    'holdMaxMicroVnd is out of bounds',
  )
  assert(isCount(request.priceVnd, PRICE_VND_MAX), 'priceVnd is not a whole number of dong')
}

/** Throws AssertionError for a settlement that the journal would reject: one bad row would fail its whole batch. */
export function checkSettlement(call: Settlement): void {
  assert(isUuid(call.callId), 'callId is not a lower-case UUID')
  for (const name of IDS) if (!isCount(call[name], Number.MAX_SAFE_INTEGER)) assert.fail(`${name} is out of bounds`)
  for (const name of COUNTS) {
    if (!isCount(call[name], COUNT_MAX)) assert.fail(`${name} is not a whole number from 0 to ${COUNT_MAX}`)
  }
  assert(isCount(call.priceVnd, PRICE_VND_MAX), 'priceVnd is not a whole number of dong')
  assert(isCount(call.extrasVnd ?? 0, PRICE_VND_MAX), 'extrasVnd is not a whole number of dong')
  assert(
    isCount(call.cacheWriteTokens ?? 0, COUNT_MAX),
    `cacheWriteTokens is not a whole number from 0 to ${COUNT_MAX}`,
  )
  const upstreamCost = call.upstreamCostMicroVnd ?? 0n
  assert(upstreamCost >= 0n && upstreamCost <= AMOUNT_MICRO_VND_MAX, 'upstreamCostMicroVnd is out of bounds')
  checkDetails(call)
  assert(isCount(call.latencyMs, MS_MAX), 'latencyMs is not a whole number of milliseconds')
  assert(
    call.firstByteMs === null || isCount(call.firstByteMs, MS_MAX),
    'firstByteMs is not a whole number of milliseconds',
  )
  assert(isCount(call.status, 999), 'status is not an HTTP status')
  assert(Number.isFinite(call.openedAt.getTime()), 'openedAt is not a time')
  assert(call.costMicroVnd <= AMOUNT_MICRO_VND_MAX, 'costMicroVnd is out of bounds')
  assert(
    call.costMicroVnd === 0n || call.costMicroVnd === fullCost(call),
    'costMicroVnd is neither 0 nor price x units plus extras',
  )
}

function checkDetails({ attempts = [], errorCode, requestId, tag }: Settlement): void {
  assert(attempts.length <= ATTEMPTS_MAX, `there are more than ${ATTEMPTS_MAX} attempts`)
  for (const { credential, model, startedMs, endedMs, outcome, status = 0 } of attempts) {
    assert(
      [credential, model, outcome].every(label => LABEL.test(label)) &&
        [startedMs, endedMs].every(time => isCount(time, MS_MAX)) &&
        isCount(status, 999),
      'an attempt is out of bounds',
    )
  }
  assert(errorCode == null || LABEL.test(errorCode), 'errorCode is not a code')
  assert(requestId == null || /^[\x21-\x7e]{1,128}$/.test(requestId), 'requestId is not an id')
  assert(tag == null || TAG.test(tag), 'tag is not one that a client may give')
}

function fullCost(call: Settlement): bigint {
  return unitsCost(call) + BigInt(call.extrasVnd ?? 0) * MICRO_PER_VND
}

function unitsCost(call: Settlement): bigint {
  const price = BigInt(call.priceVnd)
  switch (call.pricePer) {
    case 'mtok':
      return price * BigInt(call.inputTokens + call.outputTokens)
    case 'request':
      return price * MICRO_PER_VND
    case 'image':
      return price * MICRO_PER_VND * BigInt(call.images)
  }
}

function isCount(value: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= max
}

/** Makes a name from a client well-formed and cuts it to 256 characters. The SQL statement removes NULs. */
export function cleanName(name: string | null): string | null {
  return name === null ? null : name.slice(0, NAME_CHARACTERS_MAX).toWellFormed()
}
