/** Helpers for the tests of this folder: customers, ledgers and calls. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { hashKey } from '../../src/accounts/key-secret.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { audit } from '../../src/ledger/audit.ts'
import { credit } from '../../src/ledger/credit.ts'
import { createLedger, type RunningLedger } from '../../src/ledger/ledger.ts'
import type { LedgerEvent, LedgerLimits } from '../../src/ledger/options.ts'
import type { HoldAnswer, KeyAccess, SettleAnswer } from '../../src/ledger/types.ts'
import type { AnySql, Sql, StatementPool } from '../../src/lib/database.ts'
import { microVnd } from '../../src/lib/money.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { CALL_MICRO_VND, holdRequest, settlement } from './calls.ts'

export { CALL_MICRO_VND, holdRequest, settlement }

export const secrets = {
  service: 'test',
  peppers: parseSecretSet('PEPPERS', generateSecretSet()),
  encryption: parseSecretSet('ENCRYPTION', generateSecretSet()),
}

export interface Customer {
  readonly accountId: number
  readonly keyId: number
  readonly key: string
  readonly keyHash: Buffer
  /** As long as the key has not changed, its calls take the short way, as those of nearly all customers do. */
  readonly access: KeyAccess
}

let customers = 0

export async function createCustomer(sql: Sql, balanceMicroVnd: bigint): Promise<Customer> {
  const { accountId } = await createAccount(sql, `customer${++customers}@example.com`)
  const { keyId, key } = await createKey(sql, secrets, { accountId })
  if (balanceMicroVnd > 0n) await addMoney(sql, accountId, balanceMicroVnd)
  return { accountId, keyId, key, keyHash: hashKey(secrets, key).hash, access: { accountId, keyId, keysVersion: 0 } }
}

/** The customer with another key. */
export async function withNewKey<Whose extends Customer>(sql: Sql, customer: Whose): Promise<Whose> {
  const { accountId } = customer
  const { keyId, key } = await createKey(sql, secrets, { accountId })
  const keysVersion = await keysVersionOf(sql, customer)
  return { ...customer, keyId, key, keyHash: hashKey(secrets, key).hash, access: { accountId, keyId, keysVersion } }
}

export async function keysVersionOf(sql: Sql, { accountId }: Pick<Customer, 'accountId'>): Promise<number> {
  const [row] = await sql`select keys_version::text as version from wallet where account_id = ${accountId}`
  return Number(row?.version)
}

let credits = 0

export async function addMoney(sql: Sql, accountId: number, amount: bigint): Promise<void> {
  await credit(sql, { accountId, amountMicroVnd: microVnd(amount), kind: 'adjustment', reference: `test ${++credits}` })
}

export interface TestLedger extends RunningLedger {
  readonly events: LedgerEvent[]
  readonly spoolDir: string
}

let ledgers = 0

/** Starts a ledger that simulates a separate process, with its own connections, name and spool. */
export async function startLedger(
  url: string,
  {
    name = `process ${++ledgers}`,
    spoolDir = '',
    limits = {},
    catalogueDigest,
  }: { name?: string; spoolDir?: string; limits?: Partial<LedgerLimits>; catalogueDigest?: string } = {},
): Promise<TestLedger> {
  const folder = spoolDir === '' ? mkdtempSync(join(tmpdir(), 'gateway-spool-')) : spoolDir
  const events: LedgerEvent[] = []
  const report = (event: LedgerEvent): void => {
    events.push(event)
  }
  const ledger = await createLedger({
    url,
    instanceName: name,
    spoolDir: folder,
    ...(catalogueDigest !== undefined && { catalogueDigest }),
    report,
    // Long, because a busy machine may need seconds to start a server process; tests of slowness set shorter times.
    limits: { settleWaitMs: 20_000, statementTimeoutMs: 30_000, connectTimeoutMs: 30_000, ...limits },
  })
  return Object.assign(Object.create(ledger) as RunningLedger, {
    events,
    spoolDir: folder,
    async close() {
      await ledger.close()
      if (spoolDir === '') rmSync(folder, { recursive: true, force: true })
    },
  })
}

export const patient = { signal: new AbortController().signal }

/** A complete call: hold, serve, settle. */
export async function call(
  ledger: RunningLedger,
  customer: Customer,
  { want = CALL_MICRO_VND, serve = async () => {} }: { want?: bigint; serve?: () => Promise<void> } = {},
): Promise<{ held: HoldAnswer; settled: SettleAnswer | null }> {
  const request = holdRequest(customer, { holdMinMicroVnd: microVnd(want) })
  const held = await ledger.admit(request, patient)
  if (held.outcome !== 'admitted') return { held, settled: null }
  await serve()
  return { held, settled: await ledger.settle(settlement(customer, { callId: request.callId })) }
}

/** A pool that runs the ledger's statements on a connection of the test's own, such as in a transaction that it keeps open. */
export function poolOf(sql: AnySql): StatementPool {
  const query = (statement: string, values: readonly string[]) => sql.unsafe(statement, [...values])
  return { query } as unknown as StatementPool
}

export async function walletOf(
  sql: Sql,
  { accountId }: Pick<Customer, 'accountId'>,
): Promise<{ balance: bigint; held: bigint }> {
  const rows = await sql.unsafe(
    'select balance_micro_vnd, held_micro_vnd from wallet where account_id = $1::text::bigint',
    [String(accountId)],
  )
  return { balance: BigInt(rows[0]!.balance_micro_vnd), held: BigInt(rows[0]!.held_micro_vnd) }
}

export async function usageOf(
  sql: Sql,
  { accountId }: Pick<Customer, 'accountId'>,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return await sql.unsafe('select * from usage where account_id = $1::text::bigint order by seq', [String(accountId)])
}

export async function expectCleanAudit(sql: Sql): Promise<void> {
  const { differences, accounts } = await audit(sql)
  const zero = { balance: 0, seq: 0, chain: 0, held: 0, daily: 0, retired: 0, charge: 0, refund: 0, orphan: 0 }
  expect({ differences, accounts }).toEqual({ differences: zero, accounts: [] })
}

/** Waits until `look` returns a value that `wanted` accepts; for changes that another process or connection makes. */
export async function eventually<Value>(look: () => Promise<Value>, wanted: (value: Value) => boolean): Promise<Value> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const value = await look()
    if (wanted(value)) return value
    if (Date.now() > deadline) throw new Error(`still ${String(JSON.stringify(value))} after 60 s`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
