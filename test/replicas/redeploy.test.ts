/**
 * Checks that clients do not notice a redeploy, with real processes, a copy of the project that the tests modify, and
 * continuous calls.
 */

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { TABLES } from '../../src/generated/tables.ts'
import type { ModelEntry } from '../../src/generated/types.ts'
import { audit } from '../../src/ledger/audit.ts'
import { childrenOf } from '../fault/support/child.ts'
import { LOAD_MODEL, LOAD_TOKENS, type LoadOptions, startLoad, startLoadProvider } from '../support/load.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { freePort, killPrograms, type Program, startProgram } from '../support/program.ts'
import { copyProject, type ProjectCopy } from '../support/project-copy.ts'
import { gatewayEnvironment, newCustomer, newFolder } from './world.ts'

const SHIPPED_VND = (TABLES.entries as readonly ModelEntry[]).find(({ id }) => id === LOAD_MODEL)?.price.vnd ?? 0
const PRICES = { before: SHIPPED_VND, after: SHIPPED_VND + 100 }
/** Many more calls than connections, so that every connection has been reused. */
const CALLS = 60
const CALLERS = 12
/** Replaces a `<` in templates on disk after the gateway has loaded them. A page that shows this text was read too late. */
const NEWER = '{{#if}} of a newer program <'

/** A supervisor with two workers, which the first tests share and redeploy one after another. */
let program: Program
let database: TestDatabase
let provider: Awaited<ReturnType<typeof startLoadProvider>>
let project: ProjectCopy
const folder = newFolder()

beforeAll(async () => {
  database = await createTestDatabase()
  // Slow replies keep many calls in flight at a low call rate, which leaves most of the processor free.
  provider = await startLoadProvider({ streamMs: 800, wholeMs: 100 })
  project = copyProject()
  // Replaced workers wait this long for another call on each open connection.
  program = await start({ WORKERS: '2', LIMIT_KEEP_ALIVE_TIMEOUT_MS: '4000' })
})
afterAll(async () => {
  await killPrograms()
  provider.close()
  project.remove()
  await database.drop()
  folder.remove()
})

async function start(extra: Record<string, string>): Promise<Program> {
  const environment = gatewayEnvironment({
    port: await freePort(),
    databaseUrl: database.url,
    dataDir: folder.path,
    providerUrl: provider.url,
  })
  return startProgram({ ...environment, ...extra }, project.main)
}

/** Starts calls that stop with the test, even if it fails. */
function calls(options: LoadOptions): ReturnType<typeof startLoad> {
  const load = startLoad(options)
  onTestFinished(() => void load.stop())
  return load
}

const workersOf = ({ child }: Program): number[] => childrenOf(child.pid as number)

async function catalogueAt(url: string): Promise<string> {
  return ((await (await fetch(`${url}/readyz`)).json()) as { catalogue: string }).catalogue
}

async function rowsOf(accountId: number) {
  return await database.sql`
    select c.digest, u.status, u.price_vnd::integer as price, u.cost_micro_vnd::float8 as cost, count(*)::integer as calls
      from usage u left join catalogue c using (catalogue_id) where account_id = ${accountId}
     group by 1, 2, 3, 4 order by price`
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(resolve => setTimeout(resolve, 20))
}

/** Sends SIGHUP and waits until all workers have been replaced. */
async function replaceWorkers(): Promise<void> {
  const replacements = () => program.log.split('all workers have been replaced"').length
  const before = replacements()
  program.signal('SIGHUP')
  await until(() => replacements() > before)
}

async function more(load: { calls(): number }, calls: number): Promise<void> {
  const wanted = load.calls() + calls
  await until(() => load.calls() >= wanted)
}

test('a change of price reaches all workers under load: no call fails, and each is billed by the catalogue that admitted it', async () => {
  const customer = await newCustomer(database.sql, 1_000_000)
  const before = await catalogueAt(program.url)
  const load = calls({ url: program.url, apiKey: customer.apiKey, callers: CALLERS })
  await more(load, CALLS)
  project.reprice(LOAD_MODEL, PRICES.after)
  await replaceWorkers()
  await more(load, CALLS)
  // `fetch` may reuse a connection to an old worker, which still answers one more call on it.
  await until(async () => (await catalogueAt(program.url)) !== before)
  const after = await catalogueAt(program.url)
  const result = await load.stop()
  expect(result.failures).toEqual([])
  expect(result.streams).toBeGreaterThan(CALLS / 2)
  await until(async () => (await audit(database.sql)).openHolds === 0)
  const rows = await rowsOf(customer.accountId)
  expect(rows).toEqual([
    { digest: before, status: 200, price: PRICES.before, cost: PRICES.before * LOAD_TOKENS, calls: expect.any(Number) },
    { digest: after, status: 200, price: PRICES.after, cost: PRICES.after * LOAD_TOKENS, calls: expect.any(Number) },
  ])
  expect(rows.reduce((sum, row) => sum + row.calls, 0)).toBe(result.calls)
  expect(await audit(database.sql)).toMatchObject({ clean: true, openHolds: 0 })
})

test('code that cannot start leaves the workers as they are, and the log says why', async () => {
  const customer = await newCustomer(database.sql, 1_000_000)
  // Workers that the previous test replaced may still be finishing calls.
  await until(() => workersOf(program).length === 2)
  const workers = workersOf(program)
  const load = calls({ url: program.url, apiKey: customer.apiKey, callers: CALLERS })
  await more(load, CALLERS)
  const file = 'src/app/serve.ts'
  project.edit(file, 'export async function serve', "throw new Error('not today')\nexport async function serve")
  program.signal('SIGHUP')
  await program.logged(/a new worker did not start; the running ones continue unchanged/)
  expect(program.log).toMatch(/not today/)
  expect(program.log).toMatch(/exited with status 1/)
  await more(load, CALLS)
  expect(workersOf(program)).toEqual(workers)
  project.edit(file, "throw new Error('not today')\n", '')
  await replaceWorkers()
  await more(load, CALLS)
  expect((await load.stop()).failures).toEqual([])
})

test('a worker that is killed is replaced, and its calls are settled or freed by the other workers', async () => {
  const customer = await newCustomer(database.sql, 1_000_000)
  const load = calls({ url: program.url, apiKey: customer.apiKey, callers: CALLERS })
  await more(load, CALLERS)
  await until(() => workersOf(program).length === 2)
  const [victim] = workersOf(program) as [number]
  process.kill(victim, 'SIGKILL')
  await program.logged(/a worker exited unexpectedly; starting another/)
  await until(() => workersOf(program).length === 2 && !workersOf(program).includes(victim))
  await more(load, CALLS)
  const finished = (await load.stop()).calls
  await until(async () => (await audit(database.sql)).openHolds === 0)
  // Finally, the supervisor and its workers exit cleanly.
  program.signal('SIGTERM')
  expect(await program.ended).toBe(0)
  const rows = await rowsOf(customer.accountId)
  const served = rows.filter(row => row.status === 200).reduce((sum, row) => sum + row.calls, 0)
  // Finished calls are charged, even if the client had not yet received the last byte.
  expect(served).toBeGreaterThanOrEqual(finished)
  for (const row of rows) expect(row.cost).toBe(row.status === 200 ? row.price * LOAD_TOKENS : 0)
  expect(await audit(database.sql)).toMatchObject({ clean: true, openHolds: 0 })
})

test('all pages are those of the program that was started, even if its files change a moment later', async () => {
  const started = await start({ LOG_LEVEL: 'debug' })
  await started.logged(/pages are loaded/)
  for (const name of ['signin', 'partials/layout']) {
    project.edit(`src/dashboard/templates/${name}.hbs`, '<', NEWER)
    onTestFinished(() => project.edit(`src/dashboard/templates/${name}.hbs`, NEWER, '<'))
  }
  const page = await fetch(`${started.url}/signin`, { headers: { accept: 'text/html' } })
  expect([page.status, await page.text()]).toEqual([200, expect.not.stringContaining('newer program')])
  started.signal('SIGINT')
  expect(await started.ended).toBe(0)
})

test('SIGTERM: not ready first, calls still taken, streams finished, exit 0, and no client loses a call to it', async () => {
  const customer = await newCustomer(database.sql, 1_000_000)
  // Two gateways, as behind a load balancer that avoids gateways that are not ready.
  const [leaving, staying] = [await start({ LIMIT_DRAIN_NOTICE_MS: '4000' }), await start({})]
  const headers = { authorization: `Bearer ${customer.apiKey}` }
  const body = JSON.stringify({ model: LOAD_MODEL, stream: true, messages: [{ role: 'user', content: 'x' }] })
  const call = (url: string) => fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  const load = calls({ url: staying.url, apiKey: customer.apiKey, callers: 4 })
  const kept = calls({ url: leaving.url, apiKey: customer.apiKey, callers: CALLERS })
  await more(kept, CALLERS)
  const stream = await call(leaving.url)
  leaving.signal('SIGTERM')
  await until(async () => (await fetch(`${leaving.url}/readyz`)).status === 503)
  // The load balancer keeps sending calls for a moment.
  const late = await call(leaving.url)
  expect(late.status).toBe(200)
  const result = await kept.stop()
  expect(result.failures).toEqual([])
  for (const reply of [stream, late]) expect(await reply.text()).toMatch(/data: \[DONE\]\n\n$/)
  expect(await leaving.ended).toBe(0)
  expect((await load.stop()).failures).toEqual([])
  staying.signal('SIGINT')
  expect(await staying.ended).toBe(0)
  expect(await audit(database.sql)).toMatchObject({ clean: true, openHolds: 0 })
})
