/** Measurements other than the cost of a call: the model list, and start-up. */

import { execFileSync } from 'node:child_process'
import { pinnedTo } from './cores.ts'
import { callOf } from './load.ts'
import type { Row } from './rows.ts'
import { NO_DRAIN, ROOT, serve } from './serve.ts'
import { figuresOf, measureSlice, type Slice } from './slices.ts'
import type { World } from './world.ts'

/** Measures `GET /v1/models`, compared with Fastify sending the same bytes. */
export async function measureModelList(world: World, rounds: number): Promise<Row[]> {
  const headers = { 'x-api-key': world.gateway.apiKey }
  const list = await (await fetch(`${world.gateway.proxy.url}/v1/models`, { headers })).text()
  await world.bare.send({ list })
  const contenders = [
    { name: 'bare', proxy: world.bare, apiKey: 'key' },
    { name: 'gateway', proxy: world.gateway.proxy, apiKey: world.gateway.apiKey },
    ...(world.base === null ? [] : [{ name: 'base: gateway', proxy: world.base.proxy, apiKey: world.base.apiKey }]),
  ].map(contender => ({ ...contender, load: world.harness.loadGenerator(contender.proxy.url), slices: [] as Slice[] }))
  for (let round = -1; round < rounds; round++) {
    for (const { proxy, apiKey, load, slices } of contenders) {
      const call = callOf({ url: proxy.url, path: '/v1/models', body: null, apiKey })
      const slice = await measureSlice(world, proxy, async () => {
        const { calls, seconds } = await load.drive(call, { concurrency: 64, milliseconds: 400 })
        return { units: calls, seconds }
      })
      if (round >= 0) slices.push(slice)
    }
  }
  const [reference] = contenders
  const bare = figuresOf(reference?.slices ?? []).cpuMicroseconds
  return contenders.map(({ name, slices }) => {
    const { cpuMicroseconds, disturbed } = figuresOf(slices)
    return {
      what: 'model list',
      contender: name,
      figures: { cpuMicroseconds, ofBare: cpuMicroseconds / bare, disturbed },
    }
  })
}

/**
 * Measures how long the gateway takes from process start to ready, with an existing database. The first start has a new
 * DATA_DIR; later starts find the compile cache there. Also measures how long `catalogue generate` takes.
 */
export async function measureStarts(world: World, times: number): Promise<Row[]> {
  const { environment } = await world.prepare('starts')
  const ready: number[] = []
  const generate: number[] = []
  for (let index = 0; index <= times; index++) {
    const started = performance.now()
    const gateway = await serve({ environment: { ...environment, ...NO_DRAIN }, cores: allCores(world) })
    ready.push(performance.now() - started)
    await gateway.stop()
    const begun = performance.now()
    const [program, ...rest] = pinnedTo(allCores(world), process.execPath, 'codegen/main.ts', 'generate')
    execFileSync(program, rest, { cwd: ROOT, stdio: 'ignore' })
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

/** All cores in taskset's syntax, including the core reserved for the measured process. Null if processes are not pinned. */
function allCores({ cores }: World): string | null {
  return cores?.all ?? null
}
