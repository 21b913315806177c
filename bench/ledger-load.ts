/** A load generator: callers that place and settle holds as fast as the ledger allows. */

import { join } from 'node:path'
import { createKeyFinder } from '../src/accounts/find-key.ts'
import { createLedger, type RunningLedger } from '../src/ledger/ledger.ts'
import type { LedgerLimits } from '../src/ledger/options.ts'
import type { KeyAccess, Settlement } from '../src/ledger/types.ts'
import { uuidv7 } from '../src/lib/ids.ts'
import { microVnd } from '../src/lib/money.ts'

export interface Customer {
  readonly accountId: number
  readonly keyHash: Uint8Array
  /** What a gateway knows of the key from its first call on. */
  readonly access: KeyAccess
}

/** Looks up the keys with these hashes, as a gateway does before a key's first call. */
export async function customersOf(url: string, keyHashes: readonly Uint8Array[]): Promise<Customer[]> {
  const finder = createKeyFinder({ url })
  const found = await Promise.all(keyHashes.map(hash => finder.find([hash])))
  await finder.close()
  return found.map(key => {
    const { accountId, keyId, keyHash, keysVersion } = key!
    return { accountId, keyHash, access: { accountId, keyId, keysVersion: keysVersion! } }
  })
}

const SETTLEMENT: Omit<
  Settlement,
  'callId' | 'entryId' | 'requestedName' | 'endpoint' | 'accountId' | 'keyId' | 'openedAt'
> = {
  costMicroVnd: microVnd(1_680_000n),
  inputTokens: 1_000,
  outputTokens: 120,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  images: 0,
  priceVnd: 1_500,
  pricePer: 'mtok',
  firstByteMs: 300,
  latencyMs: 900,
  status: 200,
  streamed: true,
  estimated: false,
}

/** Opens the ledger of one gateway process, with its spool below `folder`. */
export function openBenchLedger({
  url,
  folder,
  limits = {},
}: {
  url: string
  folder: string
  limits?: Partial<LedgerLimits>
}): Promise<RunningLedger> {
  return createLedger({
    url,
    instanceName: 'bench',
    spoolDir: join(folder, 'spool'),
    report: event => event.level === 'info' || console.error(event),
    // With a batch size of 1, statements queue for longer than a gateway would let a call wait.
    limits: { spoolRetentionMs: 0, holdRetryMs: 120_000, statementTimeoutMs: 60_000, settleWaitMs: 120_000, ...limits },
  })
}

/** Runs `callers` callers concurrently. Each makes one call after another, going through the customers in turn. */
export async function drive(
  ledger: RunningLedger,
  customers: readonly Customer[],
  {
    seconds,
    callers,
    settlement = {},
  }: { seconds: number; callers: number; settlement?: Pick<Settlement, 'attempts' | 'tag'> },
): Promise<{ readonly pairs: number; readonly pairsPerSecond: number; readonly times: Times }> {
  const times: Times = { hold: [], settle: [] }
  const start = performance.now()
  const until = start + seconds * 1_000
  const caller = async (index: number): Promise<void> => {
    const signal = new AbortController().signal
    for (let turn = index; performance.now() < until; turn += callers) {
      await pair(ledger, customers[turn % customers.length]!, signal, times, settlement)
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)))
  const pairs = times.settle.length
  return { pairs, pairsPerSecond: (pairs * 1_000) / (performance.now() - start), times }
}

/** How long each hold and each settlement took, in milliseconds. */
export interface Times {
  readonly hold: number[]
  readonly settle: number[]
}

export async function pair(
  ledger: RunningLedger,
  customer: Customer,
  signal: AbortSignal,
  times: Times,
  settlement: Pick<Settlement, 'attempts' | 'tag'> = {},
): Promise<void> {
  const start = performance.now()
  const callId = uuidv7()
  const price = { priceVnd: SETTLEMENT.priceVnd, pricePer: SETTLEMENT.pricePer }
  const call = { callId, entryId: 'bench-model', requestedName: null, endpoint: 1, family: 'bench', ...price } as const
  const { keyHash, access } = customer
  const answer = await ledger.admit({ ...call, keyHash, access, holdMinMicroVnd: microVnd(3_360_000n) }, { signal })
  const held = performance.now()
  times.hold.push(held - start)
  if (answer.outcome !== 'admitted') throw new Error(`not admitted: ${answer.outcome}`)
  await ledger.settle({
    ...call,
    ...SETTLEMENT,
    ...settlement,
    accountId: answer.accountId,
    keyId: answer.keyId,
    openedAt: new Date(),
  })
  times.settle.push(performance.now() - held)
}

export function quantile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN
}
