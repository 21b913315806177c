/**
 * Keeps replacing the workers of a gateway under a steady load of streamed and non-streamed calls, changing a price each time;
 * prints what clients noticed and what was billed. Asserts nothing.
 * Run: npm exec node bench/redeploy.ts [seconds] [calls per second] [workers]
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../src/app/embedded-postgres.ts'
import { audit } from '../src/ledger/audit.ts'
import { migrate } from '../src/ledger/migrate.ts'
import { openDatabase } from '../src/lib/database.ts'
import { gatewayEnvironment, newCustomer } from '../test/replicas/world.ts'
import { LOAD_MODEL, LOAD_TOKENS, startLoad, startLoadProvider } from '../test/support/load.ts'
import { freePort, startProgram } from '../test/support/program.ts'
import { copyProject } from '../test/support/project-copy.ts'

const [seconds = 60, rate = 300, workers = 2] = process.argv.slice(2).map(Number)
const CALLERS = 400
const BETWEEN_MS = 5_000
const FIRST_PRICE_VND = 2401

const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
const postgres = await startEmbeddedPostgres({ dataDir: folder })
const sql = openDatabase({ url: postgres.url, name: 'bench', connectionsMax: 2 })
await migrate(sql)
const provider = await startLoadProvider()
const project = copyProject()
const customer = await newCustomer(sql, 1_000_000_000)
const environment = gatewayEnvironment({
  port: await freePort(),
  databaseUrl: postgres.url,
  dataDir: folder,
  providerUrl: provider.url,
})
const program = await startProgram({ ...environment, WORKERS: String(workers), LOG_LEVEL: 'warn' }, project.main)
const load = startLoad({ url: program.url, apiKey: customer.apiKey, callers: CALLERS, rate })
const endMs = performance.now() + seconds * 1000
let replacements = 0
while (performance.now() < endMs - 2 * BETWEEN_MS) {
  await new Promise(resolve => setTimeout(resolve, BETWEEN_MS))
  project.reprice(LOAD_MODEL, FIRST_PRICE_VND + replacements++)
  program.signal('SIGHUP')
}
await new Promise(resolve => setTimeout(resolve, Math.max(0, endMs - performance.now())))
const result = await load.stop()
program.signal('SIGTERM')
const status = await program.ended
const [billed] = await sql`
  select count(*)::integer as rows, count(distinct catalogue_id)::integer as catalogues, count(distinct price_vnd)::integer as prices,
         count(distinct (catalogue_id, price_vnd))::integer as pairs,
         count(*) filter (where cost_micro_vnd <> price_vnd * ${LOAD_TOKENS}::bigint or status <> 200)::integer as wrong
    from usage`
const { clean, openHolds } = await audit(sql)
console.log({
  seconds: Math.round(result.seconds),
  calls: result.calls,
  perSecond: Math.round(result.calls / result.seconds),
  streams: result.streams,
  failed: result.failures.length,
  failures: result.failures.slice(0, 10),
  replacements,
  p50: result.p50,
  p99: result.p99,
  exit: status,
  ...billed,
  audit: clean,
  openHolds,
})
if (program.log !== '') console.log(program.log.slice(0, 4000))
provider.close()
project.remove()
await sql.end({ timeout: 5 })
await postgres.stop()
rmSync(folder, { recursive: true, force: true })
