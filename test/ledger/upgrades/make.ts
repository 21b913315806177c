/**
 * Makes the fixtures of upgrades.test.ts: for each revision, a database as the code of that revision leaves it, and the
 * statements that its gateway sends for a call. Needs the project's history in git.
 * Run: npm exec node test/ledger/upgrades/make.ts REVISION...
 */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startEmbeddedPostgres } from '../../../src/app/embedded-postgres.ts'
import { openDatabase, type Sql } from '../../../src/lib/database.ts'
import { CALL_MICRO_VND } from '../calls.ts'
import { dumpRows } from './rows.ts'

const HERE = new URL('./', import.meta.url)
const PROJECT = new URL('../../../', import.meta.url).pathname

const folder = mkdtempSync(join(tmpdir(), 'gateway-upgrades-'))
const postgres = await startEmbeddedPostgres({ dataDir: folder, durable: false })
const admin = openDatabase({ url: postgres.url, name: 'fixtures', connectionsMax: 1 })
try {
  for (const [index, revision] of process.argv.slice(2).entries()) {
    await admin.unsafe(`create database fixture_${index}`)
    await make(revision, postgres.url.replace(/\/[^/]*$/, `/fixture_${index}`))
  }
} finally {
  await admin.end()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function make(revision: string, url: string): Promise<void> {
  const tree = join(folder, revision)
  execFileSync('sh', ['-c', `mkdir "$1" && git -C "$2" archive "$3" | tar -x -C "$1"`, 'sh', tree, PROJECT, revision])
  symlinkSync(join(PROJECT, 'node_modules'), join(tree, 'node_modules'))
  const number = readdirSync(join(tree, 'src/ledger/migrations')).sort().at(-1)?.slice(0, 4)
  const sql = openDatabase({ url, name: 'fixtures', connectionsMax: 2 })
  const statements = await live(tree, { sql, url })
  const rows = await dumpRows(sql)
  await sql.end()
  const day = execFileSync('git', ['-C', PROJECT, 'log', '-1', '--format=%cs', revision], { encoding: 'utf8' }).trim()
  writeFileSync(new URL(`${number}.sql`, HERE), `-- Written by the code of ${day}, see make.ts.\n${rows}`)
  writeFileSync(new URL(`${number}-statements.json`, HERE), `${JSON.stringify(statements, null, 2)}\n`)
  console.log(`${number}: ${rows.split('\n').length} rows`)
}

/** Statements with their parameters, in which CALL, INSTANCE and OPENED_AT stand for values that differ per call. */
type Statements = Readonly<Record<'hold' | 'settle', { readonly text: string; readonly parameters: readonly string[] }>>

/**
 * Simulates two customers: one topped up, made calls until the money was gone, and got a refund; the other has a call that its
 * gateway never finished.
 */
async function live(tree: string, { sql, url }: { sql: Sql; url: string }): Promise<Statements> {
  // Only use interfaces that all revisions share.
  const load = (path: string) => import(pathToFileURL(join(tree, path)).href)
  const { migrate } = await load('src/ledger/migrate.ts')
  const { createLedger } = await load('src/ledger/ledger.ts')
  const { credit } = await load('src/ledger/credit.ts')
  const { placeHolds } = await load('src/ledger/hold.ts')
  const { settleCalls } = await load('src/ledger/settle.ts')
  const { createAccount } = await load('src/accounts/accounts.ts')
  const { createKey } = await load('src/accounts/keys.ts')
  const { hashKey } = await load('src/accounts/key-secret.ts')
  const { generateSecretSet, parseSecretSet } = await load('src/lib/secrets.ts')
  const { uuidv7 } = await load('src/lib/ids.ts')
  const { holdRequest, settlement } = await load('test/ledger/calls.ts')
  await migrate(sql)
  const secrets = {
    service: 'test',
    peppers: parseSecretSet('PEPPERS', generateSecretSet()),
    encryption: parseSecretSet('ENCRYPTION', generateSecretSet()),
  }
  const customers = []
  for (const [index, calls] of [3, 10_000].entries()) {
    const { accountId } = await createAccount(sql, `customer${index + 1}@example.com`)
    const { keyId, key } = await createKey(sql, secrets, { accountId })
    const amountMicroVnd = BigInt(calls) * CALL_MICRO_VND
    await credit(sql, { accountId, amountMicroVnd, kind: 'adjustment', reference: 'paid', note: null })
    customers.push({ accountId, keyId, keyHash: hashKey(secrets, key).hash })
  }
  const [spender, other] = customers as [(typeof customers)[0], (typeof customers)[0]]
  const spoolDir = join(tree, 'spool')
  const ledger = await createLedger({
    url,
    instanceName: 'previous',
    spoolDir,
    report: () => {},
    limits: { settleWaitMs: 20_000 },
  })
  const patient = { signal: new AbortController().signal }
  const callOf = async (customer: typeof spender): Promise<void> => {
    const request = holdRequest(customer)
    await ledger.admit(request, patient)
    await ledger.settle(settlement(customer, { callId: request.callId }))
  }
  for (let call = 0; call < 3; call++) await callOf(spender)
  const [first] = await sql.unsafe(`select call_id from usage order by account_id, seq limit 1`)
  const refund = { accountId: spender.accountId, amountMicroVnd: CALL_MICRO_VND, kind: 'refund' }
  await credit(sql, { ...refund, reference: `call:${first?.call_id}`, note: null })
  for (let call = 0; call < 2; call++) await callOf(other)
  await ledger.admit(holdRequest(other), patient)
  await ledger.close()
  return recordCall({ placeHolds, settleCalls, holdRequest, settlement, callId: uuidv7(), customer: other })
}

interface RecordingPool {
  query(text: string, parameters: readonly string[]): Promise<readonly never[]>
}

/** A call to record, and the functions of the revision that makes it. */
interface RevisionCall {
  readonly callId: string
  readonly customer: object
  readonly holdRequest: (customer: object, of: { readonly callId: string }) => RevisionHold
  readonly settlement: (customer: object, of: { readonly callId: string; readonly openedAt: Date }) => object
  readonly placeHolds: (pool: RecordingPool, rows: readonly object[], instanceId: string) => Promise<unknown>
  readonly settleCalls: (pool: RecordingPool, batch: readonly object[]) => Promise<unknown>
}

/** Revisions before migration 0041 call the bounds of a hold `wantMicroVnd` and `wantMaxMicroVnd`. */
interface RevisionHold {
  readonly keyHash: Uint8Array
  readonly holdMinMicroVnd?: bigint
  readonly wantMicroVnd?: bigint
}

async function recordCall(of: RevisionCall): Promise<Statements> {
  const openedAt = new Date()
  const sent: { text: string; parameters: readonly string[] }[] = []
  const pool: RecordingPool = {
    async query(text, parameters) {
      const spell = (value: string) =>
        value.replaceAll(of.callId, 'CALL').replaceAll(openedAt.toISOString(), 'OPENED_AT')
      sent.push({ text, parameters: parameters.map(spell) })
      return []
    },
  }
  const request = of.holdRequest(of.customer, { callId: of.callId })
  const amount = request.holdMinMicroVnd ?? request.wantMicroVnd
  const bounds = { holdMaxMicroVnd: amount, wantMaxMicroVnd: amount }
  const row = { ...request, ...bounds, keyHashHex: Buffer.from(request.keyHash).toString('hex') }
  await of.placeHolds(pool, [row], 'INSTANCE')
  await of.settleCalls(pool, [of.settlement(of.customer, { callId: of.callId, openedAt })])
  const [hold, settle] = sent
  if (hold === undefined || settle === undefined || sent.length > 2)
    throw new Error('a call must send exactly two statements')
  return { hold, settle }
}
