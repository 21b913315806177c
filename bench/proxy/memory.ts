/** Measures the memory that gateways and the bare proxy use when fresh, after load, and for each open but silent stream. */

import { join } from 'node:path'
import { startBenchProcess } from './bench-process.ts'
import { requestBody } from './bodies.ts'
import { residentMegabytes } from './cpu.ts'
import { MARKS, PATHS } from './formats.ts'
import { Client, callOf } from './load.ts'
import type { Row } from './rows.ts'
import { CASES, contendersOf, SMALL_CALL } from './scenarios.ts'
import { serve } from './serve.ts'
import type { World } from './world.ts'

/** How long a fresh process gets to finish its deferred start-up work. */
const START_UP_MS = 3_000
/** How many streams are opened at a time. */
const AT_ONCE = 50
const MODEL = 'claude-opus-5'

interface Started {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/**
 * Measures the resident memory, as reported by the system, of processes started as in production: once ready, 3 s later, and
 * after each kind of call has run for a while. Starts each process twice: the first run only fills the compile cache, which
 * Node writes on exit.
 */
export async function measureMemory(world: World, { milliseconds }: { readonly milliseconds: number }): Promise<Row[]> {
  const cores = world.cores?.measured ?? null
  const served = async (name: string, of: 'this' | 'base') => {
    const { apiKey, environment, root } = await world.prepare(name, of)
    const start = async (): Promise<Started> => {
      const { url, pid, stop } = await serve({ environment, cores, root })
      return { url, pid, stop: () => stop('SIGKILL') }
    }
    // Development mode, because in production the process would drain for more than a minute before it exits.
    const compile = () => serve({ environment: { ...environment, NODE_ENV: 'development' }, cores, root })
    return { contender: of === 'base' ? 'base: gateway' : 'gateway', apiKey, compile, start }
  }
  const { environment } = await world.prepare('memory_bare')
  const NODE_COMPILE_CACHE = join(environment.DATA_DIR as string, 'compiled')
  const startBare = () =>
    startBenchProcess('bare', { environment: { UPSTREAM_URL: world.harness.upstreamUrl, NODE_COMPILE_CACHE }, cores })
  const bare = { contender: 'bare', apiKey: 'key', compile: startBare, start: startBare }
  const gateways = [
    await served('memory', 'this'),
    ...(world.base === null ? [] : [await served('memory_base', 'base')]),
  ]
  const rows: Row[] = []
  for (const { contender, apiKey, compile, start } of [bare, ...gateways]) {
    const first: Started = await compile()
    await waitForStartUp()
    await first.stop()
    const started = await start()
    const startedMegabytes = residentMegabytes(started.pid)
    await waitForStartUp()
    const idleMegabytes = residentMegabytes(started.pid)
    await load(world, { url: started.url, apiKey, milliseconds })
    const afterLoadMegabytes = residentMegabytes(started.pid)
    await started.stop()
    rows.push({ what: 'memory', contender, figures: { startedMegabytes, idleMegabytes, afterLoadMegabytes } })
  }
  return rows
}

function waitForStartUp(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, START_UP_MS))
}

/** Runs every case for `milliseconds`. */
async function load(
  world: World,
  { url, apiKey, milliseconds }: { url: string; apiKey: string; milliseconds: number },
) {
  const target = world.harness.loadGenerator(url)
  for (const { bytes, concurrency, pace } of CASES) {
    await world.harness.setReplies(pace)
    const body = requestBody('messages', { model: MODEL, bytes, streamed: pace.streamed })
    const mark = pace.streamed ? MARKS.messages : null
    const call = callOf({ url, path: PATHS.messages, apiKey, body, mark })
    await target.drive(call, { concurrency, milliseconds, spreadMs: pace.pauseMs ?? 0 })
  }
  await target.close()
}

/**
 * Opens `streams` streams through a fresh process of each contender, then the same number again. Reads the memory before,
 * between and after, each time after a garbage collection. The first half includes one-time costs of the process; the second
 * half shows the cost per stream.
 */
export async function measureOpenStreams(world: World, streams: number): Promise<Row[]> {
  const pace = { streamed: true, events: 10, pauseMs: null, textBytes: 0, calls: 0 }
  await world.harness.setReplies(pace)
  const fresh = {
    ...world,
    bare: await world.startBare(),
    gateway: await world.startGateway('streams'),
    base: world.base === null ? null : await world.startGateway('base_streams', 'base'),
  }
  const rows: Row[] = []
  for (const { name, proxy, call } of contendersOf(fresh)) {
    if (!/^(bare, messages|(base: )?messages → messages)$/.test(name)) continue
    const request = call({ ...SMALL_CALL, pace })
    const clients: Client[] = []
    const read = [await proxy.memoryBytes()]
    for (let half = 0; half < 2; half++) {
      for (let opened = 0; opened < streams; opened += AT_ONCE) {
        const some = Array.from({ length: AT_ONCE }, () => new Client(proxy.url))
        clients.push(...some)
        await Promise.all(some.map(client => client.open(request)))
      }
      read.push(await proxy.memoryBytes())
    }
    for (const client of clients) client.close()
    const [before = 0, once = 0, twice = 0] = read
    rows.push({
      what: `${streams} open streams, and as many more`,
      contender: name,
      figures: {
        megabytesOfFirst: (once - before) / 1e6,
        megabytesOfSecond: (twice - once) / 1e6,
        kilobytesEach: (twice - once) / 1e3 / streams,
      },
    })
  }
  for (const proxy of [fresh.bare, fresh.gateway.proxy, fresh.base?.proxy]) await proxy?.stop()
  return rows
}
