/** Calls as plain data. This file imports nothing from the test runner, so that child processes can use it. */

import type { HoldRequest, KeyAccess, Settlement } from '../../src/ledger/types.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { microVnd } from '../../src/lib/money.ts'

/** 1.68 VND: 1,000 input and 120 output tokens at 1,500 VND per million. */
export const CALL_MICRO_VND = microVnd(1_680_000n)

export function holdRequest(
  customer: { readonly keyHash: Uint8Array; readonly access?: KeyAccess },
  change: Partial<HoldRequest> = {},
): HoldRequest {
  return {
    keyHash: customer.keyHash,
    // What a process knows of a key goes with its hash.
    access: change.keyHash === undefined ? (customer.access ?? null) : null,
    callId: uuidv7(),
    holdMinMicroVnd: CALL_MICRO_VND,
    entryId: 'model-a',
    requestedName: null,
    endpoint: 1,
    priceVnd: 1_500,
    pricePer: 'mtok',
    family: 'family-a',
    ...change,
  }
}

export function settlement(
  customer: Pick<Settlement, 'accountId' | 'keyId'>,
  change: Partial<Settlement> = {},
): Settlement {
  return {
    callId: uuidv7(),
    accountId: customer.accountId,
    keyId: customer.keyId,
    entryId: 'model-a',
    requestedName: null,
    endpoint: 1,
    costMicroVnd: CALL_MICRO_VND,
    inputTokens: 1_000,
    outputTokens: 120,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    images: 0,
    priceVnd: 1_500,
    pricePer: 'mtok',
    openedAt: new Date(),
    firstByteMs: 12,
    latencyMs: 34,
    status: 200,
    streamed: false,
    estimated: false,
    ...change,
  }
}
