/** A call's bill: settled once, whatever happens afterwards. */

import { expect, test } from 'vitest'
import type { ModelEntry } from '../../src/generated/types.ts'
import type { SettleAnswer, Settlement } from '../../src/ledger/types.ts'
import { requestIdOf } from '../../src/lib/ids.ts'
import { microVnd } from '../../src/lib/money.ts'
import { Bill, type CallResult } from '../../src/pipeline/bill.ts'
import type { Call, Services } from '../../src/pipeline/call.ts'
import type { CallExtras } from '../../src/pipeline/extras.ts'
import type { Metered } from '../../src/pipeline/meter.ts'
import type { Resolution } from '../../src/pipeline/resolve.ts'
import { LASTING_TABLES } from '../support/tables.ts'

const [SHIPPED] = LASTING_TABLES.entries as readonly [ModelEntry]
const PER_CALL: ModelEntry = { ...SHIPPED, price: { vnd: 900, per: 'request' } }
const CALL_ID = '019ab000-0000-7000-8000-000000000000'
const USED: Metered = {
  inputTokens: 10,
  cachedInputTokens: 4,
  cacheWriteTokens: 3,
  outputTokens: 2,
  reasoningTokens: 1,
  images: 5,
  estimated: true,
}
const SERVED: CallResult = { used: USED, charged: true, status: 200 }

/** The bill of a call to a model with a price per call, what it sent to the ledger, and how often the call was told of as ended. */
function openBill({
  streamed = false,
  firstByteMs = null,
  requestId = requestIdOf(CALL_ID),
}: {
  readonly streamed?: boolean
  readonly firstByteMs?: number | null
  readonly requestId?: string
} = {}) {
  const settlements: Settlement[] = []
  let told = 0
  const services = {
    nowMs: () => 1_040,
    log: { info: () => told++ },
    observer: { ended: () => told++ },
    tracer: { traceIdOf: () => null, ended: () => told++ },
    catalogue: { settings: { service: 'svc' } },
    ledger: {
      async settle(settlement: Settlement): Promise<SettleAnswer> {
        settlements.push(settlement)
        return { outcome: 'settled', chargedMicroVnd: settlement.costMicroVnd, balanceAfterMicroVnd: microVnd(0n) }
      },
    },
  } as unknown as Services
  const call = {
    id: CALL_ID,
    requestId,
    startedMs: 1_000,
    endpoint: 'messages',
    attempts: [],
    caller: { accountId: 1, keyId: 2 },
    header: () => undefined,
  } as unknown as Call
  const bill = new Bill(services, call, () => firstByteMs)
  bill.requested('a', streamed)
  bill.resolved({ entry: PER_CALL, mappedFrom: null } as Resolution)
  bill.extras = { usedVnd: 70 } as CallExtras
  return { bill, settlements, told: () => told }
}

test('a call is settled as it ended first; a later failure neither gives its price back nor tells of it again', async () => {
  const { bill, settlements, told } = openBill()
  const first = bill.settle(SERVED)
  expect(bill.release(500, 'internal')).toBe(first)
  await first
  expect(settlements).toMatchObject([{ ...USED, status: 200, costMicroVnd: 970_000_000n, extrasVnd: 70 }])
  expect(told()).toBe(3)
})

test('a call that fails costs neither its price nor the tools that it has used', async () => {
  const { bill, settlements } = openBill()
  await bill.release(502, 'upstream_failed')
  expect(settlements).toMatchObject([{ status: 502, costMicroVnd: 0n, extrasVnd: 0, errorCode: 'upstream_failed' }])
  expect(bill.costMicroVnd).toBe(0n)
})

test('a call whose settlement is impossible is settled without a charge', async () => {
  const { bill, settlements } = openBill()
  await bill.settle(SERVED)
  await bill.abandon()
  expect(settlements.at(-1)).toMatchObject({ status: 500, costMicroVnd: 0n, extrasVnd: 0, errorCode: 'internal' })
})

test.each([
  ['a whole reply begins when the call ends', {}, SERVED, 40],
  ['a stream begins with its first byte', { streamed: true, firstByteMs: 7 }, SERVED, 7],
  ['a stream without a byte never begins', { streamed: true }, SERVED, null],
  ['nor does a call that fails', {}, { ...SERVED, charged: false, status: 502 }, null],
])('%s', async (_what, opened, result, firstByteMs) => {
  const { bill, settlements } = openBill(opened)
  await bill.settle(result)
  expect(settlements).toMatchObject([{ firstByteMs, latencyMs: 40 }])
})

test('a row has a request id only if the client chose one', async () => {
  for (const requestId of [requestIdOf(CALL_ID), 'mine']) {
    const { bill, settlements } = openBill({ requestId })
    await bill.settle(SERVED)
    expect(settlements).toMatchObject([{ requestId: requestId === 'mine' ? 'mine' : null }])
  }
})

test('a call whose client has left has no error code', async () => {
  const { bill, settlements } = openBill()
  await bill.release(499, 'internal')
  expect(settlements).toMatchObject([{ status: 499, errorCode: null }])
})
