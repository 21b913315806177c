/** The metrics of several workers, served on one port. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { childrenOf, sendSignal } from '../fault/support/child.ts'
import { eventually } from '../fault/support/wait.ts'
import { chatCall } from '../support/chat.ts'
import { scrape } from '../support/exposition.ts'
import { LOAD_MODEL, startLoadProvider } from '../support/load.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { freePort, killPrograms, startProgram } from '../support/program.ts'
import { gatewayEnvironment, newCustomer, newFolder } from './world.ts'

const CALLS = 40

let database: TestDatabase
let provider: Awaited<ReturnType<typeof startLoadProvider>>
const folder = newFolder()

beforeAll(async () => {
  database = await createTestDatabase()
  provider = await startLoadProvider()
})
afterAll(async () => {
  await killPrograms()
  provider.close()
  await database.drop()
  folder.remove()
})

test('the supervisor serves the figures of all its workers, each under its number, and those of new ones after a change', async () => {
  const customer = await newCustomer(database.sql, 1_000_000)
  const environment = gatewayEnvironment({
    port: await freePort(),
    databaseUrl: database.url,
    dataDir: folder.path,
    providerUrl: provider.url,
  })
  const metrics = `http://127.0.0.1:${await freePort()}/metrics`
  const limits = { LIMIT_DRAIN_IDLE_MS: '0' }
  const program = await startProgram({ ...environment, ...limits, WORKERS: '2', METRICS_PORT: new URL(metrics).port })
  const call = async () => {
    const headers = { 'x-api-key': customer.apiKey, connection: 'close' }
    const body = chatCall(LOAD_MODEL)
    const response = await fetch(`${program.url}/v1/chat/completions`, { method: 'POST', headers, body })
    await response.text()
    return response.status
  }
  const statuses = await Promise.all(Array.from({ length: CALLS }, call))
  expect(new Set(statuses)).toEqual(new Set([200]))
  const figures = await scrape(metrics)
  const workers = figures.families.get('gateway_info')?.samples.map(({ labels }) => labels.worker)
  expect(workers?.toSorted()).toEqual(['1', '2'])
  expect(figures.sum('gateway_calls_total', { entry: LOAD_MODEL, status: '2xx' })).toBe(CALLS)
  expect(figures.families.get('gateway_calls_total')?.help).toContain('usage row')
  expect(figures.sum('gateway_workers', { state: 'serving' })).toBe(2)
  expect(figures.sum('gateway_workers_wanted')).toBe(2)
  expect(figures.sum('gateway_workers_lost_total')).toBe(0)
  expect(figures.sum('gateway_workers_silent')).toBe(0)
  const [hanging] = childrenOf(program.child.pid as number) as [number]
  sendSignal(hanging, 'SIGSTOP')
  expect((await scrape(metrics)).sum('gateway_workers_silent')).toBe(1)
  sendSignal(hanging, 'SIGKILL')
  await program.logged(/a worker exited unexpectedly/)
  await eventually(
    () => scrape(metrics),
    found => found.sum('gateway_workers_lost_total') === 1 && found.sum('gateway_workers', { state: 'serving' }) === 2,
  )
  program.signal('SIGHUP')
  await program.logged(/all workers have been replaced"/)
  expect(await call()).toBe(200)
  const later = (await scrape(metrics)).families.get('gateway_info')?.samples.map(({ labels }) => labels.worker) ?? []
  expect(later.filter(worker => worker !== '1' && worker !== '2').length).toBeGreaterThan(0)
  expect((await fetch(`${program.url}/metrics`)).status).toBe(404)
  program.signal('SIGTERM')
  expect(await program.ended).toBe(0)
})
