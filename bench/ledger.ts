/**
 * Hold+settle pairs per second through the ledger on a fresh embedded Postgres, durable as in production. Prints
 * figures and their ratio to the same statements sent one call at a time; asserts nothing. --json prints JSON, for
 * batches only. --rate only measures how long a hold and a settlement take at that many calls a second.
 * Run: npm exec node bench/ledger.ts [seconds per case] [--json] [--rate calls per second]
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAccount } from '../src/accounts/accounts.ts'
import { hashKey } from '../src/accounts/key-secret.ts'
import { createKey } from '../src/accounts/keys.ts'
import { startEmbeddedPostgres } from '../src/app/embedded-postgres.ts'
import { audit } from '../src/ledger/audit.ts'
import { credit } from '../src/ledger/credit.ts'
import { createLedger, type RunningLedger } from '../src/ledger/ledger.ts'
import { migrate } from '../src/ledger/migrate.ts'
import type { LedgerLimits } from '../src/ledger/options.ts'
import type { Settlement } from '../src/ledger/types.ts'
import { openDatabase } from '../src/lib/database.ts'
import { uuidv7 } from '../src/lib/ids.ts'
import { microVnd, vndToMicro } from '../src/lib/money.ts'
import { generateSecretSet, parseSecretSet } from '../src/lib/secrets.ts'

const WALLETS = 1_000
const CALLERS = 1_000
const asJson = process.argv.includes('--json')
const rate = process.argv.includes('--rate') ? Number(process.argv[process.argv.indexOf('--rate') + 1]) : null
const seconds = Number(process.argv[2] ?? 4)

interface Customer {
  readonly accountId: number
  readonly keyHash: Uint8Array
}

interface Figures {
  readonly pairsPerSecond: number
  readonly holdMs: { p50: number; p99: number }
  readonly cpuMicrosecondsPerPair: number
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

const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
const postgres = await startEmbeddedPostgres({ dataDir: folder })
const sql = openDatabase({ url: postgres.url, name: 'bench', connectionsMax: 4 })
try {
  await migrate(sql)
  const customers = await makeCustomers()
  if (rate === null) await saturate(customers)
  else await pace(customers.slice(0, 1), rate)
  const report = await audit(sql)
  const outcome = `audit: ${report.clean ? 'clean' : JSON.stringify(report.differences)}, ${report.calls} calls`
  if (!asJson) console.log(outcome)
  else if (!report.clean) throw new Error(outcome)
} finally {
  await sql.end()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function saturate(customers: readonly Customer[]): Promise<void> {
  const batched: Partial<LedgerLimits> = {}
  const single: Partial<LedgerLimits> = { batchMax: 1, concurrency: 20 }
  const hot = await run('one hot wallet, batched', customers.slice(0, 1), batched)
  const many = await run(`${WALLETS} wallets, batched`, customers, batched)
  if (asJson) {
    process.stdout.write(JSON.stringify({ 'one hot wallet': hot, [`${WALLETS} wallets`]: many }))
  } else {
    const hotSingle = await run('one hot wallet, one call a statement', customers.slice(0, 1), single)
    const manySingle = await run(`${WALLETS} wallets, one call a statement`, customers, single)
    console.log(
      `batched against single: ${ratio(hot, hotSingle)}x on one wallet, ${ratio(many, manySingle)}x on ${WALLETS}`,
    )
    console.log(`one hot wallet against ${WALLETS}: ${ratio(hot, many)}x`)
  }
}

/** Calls at a fixed rate. Unless something is slow they do not overlap, so a batch is one call. */
async function pace(customers: readonly Customer[], perSecond: number): Promise<void> {
  const ledger = await openLedger({})
  for (const phase of ['warm-up', `${perSecond} calls/s, one wallet`]) {
    const times: Times = { hold: [], settle: [] }
    const running: Promise<void>[] = []
    const start = performance.now()
    for (let index = 0; index < perSecond * seconds; index++) {
      const wait = start + (index * 1_000) / perSecond - performance.now()
      if (wait > 0) await sleep(wait)
      running.push(pair(ledger, customers[0] as Customer, new AbortController().signal, times))
    }
    await Promise.all(running)
    if (phase !== 'warm-up')
      console.log(`${phase}: hold ${quantiles(times.hold)}, settlement ${quantiles(times.settle)}`)
  }
  await ledger.close()
}

function quantile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN
}

function quantiles(times: readonly number[]): string {
  return `p50 ${quantile(times, 0.5).toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(2)} ms`
}

function openLedger(limits: Partial<LedgerLimits>): Promise<RunningLedger> {
  return createLedger({
    url: postgres.url,
    instanceName: 'bench',
    spoolDir: join(folder, 'spool'),
    report: event => event.level === 'info' || console.error(event),
    // Single statements queue for longer than a gateway would let a call wait.
    limits: { spoolRetentionMs: 0, holdRetryMs: 120_000, statementTimeoutMs: 60_000, settleWaitMs: 120_000, ...limits },
  })
}

async function run(name: string, customers: readonly Customer[], limits: Partial<LedgerLimits>): Promise<Figures> {
  const ledger = await openLedger(limits)
  const times: Times = { hold: [], settle: [] }
  let pairs = 0
  let until = performance.now() + 1_000
  await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)))
  pairs = 0
  times.hold.length = 0
  const cpu = process.cpuUsage()
  const start = performance.now()
  until = start + seconds * 1_000
  await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)))
  const elapsed = (performance.now() - start) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  await ledger.close()
  const figures = {
    pairsPerSecond: pairs / elapsed,
    holdMs: { p50: quantile(times.hold, 0.5), p99: quantile(times.hold, 0.99) },
    cpuMicrosecondsPerPair: (user + system) / pairs,
  }
  if (asJson) return figures
  console.log(
    `${name}: ${figures.pairsPerSecond.toFixed(0)} pairs/s, hold p50 ${figures.holdMs.p50.toFixed(1)} ms, ` +
      `p99 ${figures.holdMs.p99.toFixed(1)} ms, ${figures.cpuMicrosecondsPerPair.toFixed(1)} µs of this process a pair`,
  )
  return figures

  async function caller(index: number): Promise<void> {
    const signal = new AbortController().signal
    for (let turn = index; performance.now() < until; turn += CALLERS) {
      await pair(ledger, customers[turn % customers.length]!, signal, times)
      pairs++
    }
  }
}

/** In milliseconds. */
interface Times {
  readonly hold: number[]
  readonly settle: number[]
}

async function pair(ledger: RunningLedger, customer: Customer, signal: AbortSignal, times: Times): Promise<void> {
  const start = performance.now()
  const callId = uuidv7()
  const price = { priceVnd: SETTLEMENT.priceVnd, pricePer: SETTLEMENT.pricePer }
  const call = { callId, entryId: 'bench-model', requestedName: null, endpoint: 1, family: 'bench', ...price } as const
  const { keyHash } = customer
  const answer = await ledger.admit({ ...call, keyHash, wantMicroVnd: microVnd(3_360_000n) }, { signal })
  const held = performance.now()
  times.hold.push(held - start)
  if (answer.outcome !== 'admitted') throw new Error(`not admitted: ${answer.outcome}`)
  await ledger.settle({
    ...call,
    ...SETTLEMENT,
    accountId: answer.accountId,
    keyId: answer.keyId,
    openedAt: new Date(),
  })
  times.settle.push(performance.now() - held)
}

async function makeCustomers(): Promise<Customer[]> {
  const secrets = {
    service: 'bench',
    peppers: parseSecretSet('PEPPERS', generateSecretSet()),
    encryption: parseSecretSet('ENCRYPTION', generateSecretSet()),
  }
  const customers: Customer[] = []
  for (let index = 0; index < WALLETS; index++) {
    const { accountId } = await createAccount(sql, `bench${index}@example.com`)
    const { key } = await createKey(sql, secrets, { accountId })
    const amountMicroVnd = vndToMicro(1_000_000_000)
    await credit(sql, { accountId, amountMicroVnd, kind: 'adjustment', reference: 'bench' })
    customers.push({ accountId, keyHash: hashKey(secrets, key).hash })
  }
  return customers
}

function ratio(a: Figures, b: Figures): string {
  return (a.pairsPerSecond / b.pairsPerSecond).toFixed(2)
}
