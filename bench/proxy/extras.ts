/** What is measured beside CPU per call: latency at a fixed rate, memory of open streams, the model list, starts. */

import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Client, Load, requestBytes } from './load.ts'
import { contendersOf, foreignSince, quiet, requestBody, type Slice } from './scenarios.ts'
import { FLAGS, processIds, statOf, TICK_US, type World } from './world.ts'

const ROOT = join(import.meta.dirname, '..', '..')

export interface Row {
  readonly what: string
  readonly contender: string
  readonly figures: Readonly<Record<string, number>>
}

const WHOLE = { streamed: false, events: 1, pauseMs: 0 }

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** 1 kB calls at a fixed rate: what each contender adds to the upstream asked directly, in ms. */
export async function measureLatency(
  world: World,
  { rounds, perSecond }: { rounds: number; perSecond: number },
): Promise<Row[]> {
  await world.upstream.tell(WHOLE)
  const body = requestBody('claude-opus-5', { bytes: 1_000, pace: WHOLE })
  const target = (url: string, apiKey: string) => ({ url, path: '/v1/messages', apiKey, body })
  const contenders = [
    { name: 'upstream', target: target(world.upstream.url, 'key') },
    { name: 'bare', target: target(world.bare.url, 'key') },
    { name: 'gateway', target: target(world.gateway.role.url, world.gateway.apiKey) },
    ...(world.base === null ? [] : [{ name: 'base: gateway', target: target(world.base.role.url, world.base.apiKey) }]),
  ].map(contender => ({ ...contender, load: new Load(contender.target.url), taken: [] as number[] }))
  for (let round = -1; round < rounds; round++) {
    for (const { load, target: to, taken } of contenders) {
      const times = await load.pace(requestBytes(to), { perSecond, milliseconds: 3_000 })
      if (round >= 0) taken.push(...times)
    }
  }
  const sorted = contenders.map(({ name, load, taken }) => {
    load.close()
    return { name, taken: taken.sort((left, right) => left - right) }
  })
  const direct = sorted[0]?.taken ?? []
  return sorted.slice(1).map(({ name, taken }) => ({
    what: `latency added at ${perSecond} calls/s`,
    contender: name,
    figures: {
      p50Ms: quantile(taken, 0.5) - quantile(direct, 0.5),
      p99Ms: quantile(taken, 0.99) - quantile(direct, 0.99),
    },
  }))
}

/** Streams that are open and silent after their first events: memory of the process above what it had before. */
export async function measureIdleStreams(world: World, streams: number): Promise<Row[]> {
  await world.upstream.tell({ streamed: true, events: 10, pauseMs: null })
  const rows: Row[] = []
  for (const { name, role, target, load } of contendersOf(world)) {
    load.close()
    if (!['bare, messages', 'messages', 'base: messages'].includes(name)) continue
    const one = {
      name: '',
      per: 'call',
      bytes: 1_000,
      concurrency: 1,
      pace: { streamed: true, events: 10, pauseMs: 0 },
    } as const
    const request = requestBytes(target(one))
    const before = await role.memoryBytes()
    const clients = Array.from({ length: streams }, () => new Client(role.url))
    for (let from = 0; from < streams; from += 50) {
      await Promise.all(clients.slice(from, from + 50).map(client => client.open(request)))
    }
    const megabytes = ((await role.memoryBytes()) - before) / 1e6
    for (const client of clients) client.close()
    rows.push({
      what: `${streams} idle streams`,
      contender: name,
      figures: { megabytes, kilobytesEach: (megabytes * 1000) / streams },
    })
  }
  return rows
}

/** `GET /v1/models` against Fastify sending the same bytes. */
export async function measureModelList(world: World, rounds: number): Promise<Row[]> {
  const headers = { 'x-api-key': world.gateway.apiKey }
  const list = await (await fetch(`${world.gateway.role.url}/v1/models`, { headers })).text()
  await world.bare.tell({ list })
  const contenders = [
    { name: 'bare', role: world.bare, apiKey: 'key' },
    { name: 'gateway', role: world.gateway.role, apiKey: world.gateway.apiKey },
    ...(world.base === null ? [] : [{ name: 'base: gateway', role: world.base.role, apiKey: world.base.apiKey }]),
  ].map(contender => ({ ...contender, load: new Load(contender.role.url), cpu: [] as Slice[] }))
  for (let round = -1; round < rounds; round++) {
    for (const { role, apiKey, load, cpu } of contenders) {
      const foreign = foreignSince(world)
      const before = await role.cpuMicroseconds()
      const request = requestBytes({ url: role.url, path: '/v1/models', body: null, apiKey })
      const calls = await load.drive(request, { concurrency: 64, milliseconds: 400 })
      if (round >= 0) cpu.push({ cpu: ((await role.cpuMicroseconds()) - before) / calls, foreignTicks: foreign() })
    }
  }
  const reference = quiet(contenders[0]?.cpu ?? [])
  return contenders.map(({ name, load, cpu }) => {
    load.close()
    return {
      what: 'model list',
      contender: name,
      figures: { cpuMicroseconds: quiet(cpu), ofBare: quiet(cpu) / reference },
    }
  })
}

/**
 * From the start of the process to ready, database present: the first start in a new DATA_DIR, and those that find what it
 * has compiled. And how long the catalogue takes to generate.
 */
export async function measureStarts(world: World, times: number): Promise<Row[]> {
  const { environment } = await world.prepare('starts')
  const ready: number[] = []
  const generate: number[] = []
  for (let index = 0; index <= times; index++) {
    const started = performance.now()
    const gateway = await serve(environment)
    ready.push(performance.now() - started)
    await gateway.stop()
    const begun = performance.now()
    execFileSync(process.execPath, ['codegen/main.ts', 'generate'], { cwd: ROOT, stdio: 'ignore' })
    generate.push(performance.now() - begun)
  }
  return [
    {
      what: 'start to ready',
      contender: 'gateway',
      figures: { firstMs: ready[0] ?? Number.NaN, ...spread(ready.slice(1)) },
    },
    {
      what: 'make generate',
      contender: 'codegen',
      figures: spread(generate),
    },
  ]
}

function spread(ms: readonly number[]): { leastMs: number; mostMs: number } {
  return { leastMs: Math.min(...ms), mostMs: Math.max(...ms) }
}

/** 1 kB calls through one and two worker processes; empty where the gateway knows no WORKERS. */
export async function measureWorkers(world: World, seconds: number): Promise<Row[]> {
  if (!readFileSync(join(ROOT, 'src', 'app', 'config.ts'), 'utf8').includes("'WORKERS'")) return []
  await world.upstream.tell(WHOLE)
  const rows: Row[] = []
  for (const workers of [1, 2]) {
    const { apiKey, environment } = await world.prepare(`workers${workers}`)
    const gateway = await serve({ ...environment, WORKERS: String(workers) })
    const load = new Load(gateway.url)
    const body = requestBody('claude-opus-5', { bytes: 1_000, pace: WHOLE })
    const request = requestBytes({ url: gateway.url, path: '/v1/messages', apiKey, body })
    await load.drive(request, { concurrency: 256, milliseconds: 2_000 })
    const before = treeMicroseconds(gateway.pid)
    const calls = await load.drive(request, { concurrency: 256, milliseconds: seconds * 1000 })
    const cpuMicroseconds = (treeMicroseconds(gateway.pid) - before) / calls
    load.close()
    await gateway.stop()
    rows.push({
      what: `WORKERS=${workers}`,
      contender: 'gateway',
      figures: { callsPerSecond: calls / seconds, cpuMicroseconds },
    })
  }
  return rows
}

interface Served {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/** Runs `serve` as an operator does, on a free port; resolves when it says that it is ready. */
async function serve(environment: Readonly<Record<string, string>>): Promise<Served> {
  const child = spawn(process.execPath, [...FLAGS, 'src/start.js', 'serve', '--json'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment, PORT: String(await freePort()) },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  let said = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    said += text
    if (said.includes('\n')) break
  }
  const { url } = JSON.parse(said.split('\n')[0] ?? '') as { url: string }
  const stop = () => {
    child.kill('SIGTERM')
    return gone
  }
  return { url, pid: child.pid as number, stop }
}

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** CPU so far of a process and its children, in microseconds. */
function treeMicroseconds(pid: number): number {
  let ticks = 0
  for (const id of processIds()) {
    const stat = statOf(id)
    if (stat !== null && (id === String(pid) || stat.parent === String(pid))) ticks += stat.ticks
  }
  return ticks * TICK_US
}
