/**
 * Measures how many calls per second the ledger can hold and settle on a fresh embedded Postgres with production durability
 * settings. Compares batched statements with one statement per call. Prints figures and audits the ledger; sets no thresholds.
 * With --json, measures only batches and prints JSON. With --rate, measures only how long a hold and a settlement take at that
 * many calls per second.
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
import type { RunningLedger } from '../src/ledger/ledger.ts'
import { migrate } from '../src/ledger/migrate.ts'
import type { LedgerLimits } from '../src/ledger/options.ts'
import { openDatabase } from '../src/lib/database.ts'
import { vndToMicro } from '../src/lib/money.ts'
import { generateSecretSet, parseSecretSet } from '../src/lib/secrets.ts'
import { type Customer, customersOf, drive, openBenchLedger, pair, quantile, type Times } from './ledger-load.ts'

const WALLETS = 1_000
const CALLERS = 1_000
const asJson = process.argv.includes('--json')
const rate = process.argv.includes('--rate') ? Number(process.argv[process.argv.indexOf('--rate') + 1]) : null
const seconds = Number(process.argv[2] ?? 4)

interface Figures {
  readonly pairsPerSecond: number
  readonly holdMs: { p50: number; p99: number }
  readonly cpuMicrosecondsPerPair: number
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

/** Makes calls at a fixed rate. Unless something is slow, calls do not overlap, so each batch contains only one call. */
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

function quantiles(times: readonly number[]): string {
  return `p50 ${quantile(times, 0.5).toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(2)} ms`
}

function openLedger(limits: Partial<LedgerLimits>): Promise<RunningLedger> {
  return openBenchLedger({ url: postgres.url, folder, limits })
}

async function run(name: string, customers: readonly Customer[], limits: Partial<LedgerLimits>): Promise<Figures> {
  const ledger = await openLedger(limits)
  await drive(ledger, customers, { seconds: 1, callers: CALLERS })
  const cpu = process.cpuUsage()
  const { pairs, pairsPerSecond, times } = await drive(ledger, customers, { seconds, callers: CALLERS })
  const { user, system } = process.cpuUsage(cpu)
  await ledger.close()
  const figures = {
    pairsPerSecond,
    holdMs: { p50: quantile(times.hold, 0.5), p99: quantile(times.hold, 0.99) },
    cpuMicrosecondsPerPair: (user + system) / pairs,
  }
  if (asJson) return figures
  console.log(
    `${name}: ${figures.pairsPerSecond.toFixed(0)} pairs/s, hold p50 ${figures.holdMs.p50.toFixed(1)} ms, ` +
      `p99 ${figures.holdMs.p99.toFixed(1)} ms, ${figures.cpuMicrosecondsPerPair.toFixed(1)} µs of this process a pair`,
  )
  return figures
}

async function makeCustomers(): Promise<Customer[]> {
  const secrets = {
    service: 'bench',
    peppers: parseSecretSet('PEPPERS', generateSecretSet()),
    encryption: parseSecretSet('ENCRYPTION', generateSecretSet()),
  }
  const keyHashes: Uint8Array[] = []
  for (let index = 0; index < WALLETS; index++) {
    const { accountId } = await createAccount(sql, `bench${index}@example.com`)
    const { key } = await createKey(sql, secrets, { accountId })
    const amountMicroVnd = vndToMicro(1_000_000_000)
    await credit(sql, { accountId, amountMicroVnd, kind: 'adjustment', reference: 'bench' })
    keyHashes.push(hashKey(secrets, key).hash)
  }
  return customersOf(postgres.url, keyHashes)
}

function ratio(a: Figures, b: Figures): string {
  return (a.pairsPerSecond / b.pairsPerSecond).toFixed(2)
}
