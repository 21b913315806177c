/**
 * Measures the CPU that the gateway uses per call and per stream event. In the same run, measures three proxies to compare it
 * with: "bare" (only Fastify and undici), "limit" (Node's HTTP server and undici's dispatch) and a raw pipe. Each runs in its own
 * process. They take turns in short slices, so that a busy machine slows all of them equally; only ratios count. README.md
 * describes the method and every option.
 * Run: npm exec node bench/proxy.ts -- [--base ref] [--rounds n] [--slice ms] [--warm-up ms] [--warm-up-calls n] [--case start of
 * name] [--only part of contender's name] [--events n] [--profile folder] [--with 'NAME=value NAME=value'] [--node-harness]
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, parseEnv } from 'node:util'
import type { BenchProcess } from './proxy/bench-process.ts'
import { CASES, type Case, type Contender, checkRoutes, contendersOf } from './proxy/scenarios.ts'
import { figuresOf, type ProxyRow, type Rotation, runCase, type Slice, WARM_UP_CALLS, warmUp } from './proxy/slices.ts'
import { openWorld, type World } from './proxy/world.ts'
import { PROXY_TABLE_HEAD, proxyTableRow } from './results.ts'

export interface ProxyOptions extends Rotation {
  readonly cases: readonly Case[]
  /** Measures only the gateways and proxies whose name contains this, plus the bare proxy, which is the reference. */
  readonly only: string
  /** Folder for CPU profiles of the gateway, one per case, and in its folder `base` of the other gateway; null for none. */
  readonly profile: string | null
}

export async function measureProxy(
  world: World,
  { cases, only, profile, ...rotation }: ProxyOptions,
  report: (row: ProxyRow) => void,
): Promise<void> {
  const all = contendersOf(world)
  const contenders = all.filter(({ name, isReference }) => isReference || name.includes(only))
  await checkRoutes(world, contenders)
  await warmUp(world, contenders, rotation)
  for (const one of cases) {
    const profiles = profile === null ? [] : profilesOf(world, profile, one)
    if (profile !== null) await runCase(world, one, contenders, { ...rotation, rounds: 0 })
    for (const { proxy } of profiles) await proxy.send({ profileFile: null })
    const taken = await runCase(world, one, contenders, rotation)
    for (const { proxy, profileFile } of profiles) await proxy.send({ profileFile })
    for (const contender of contenders) report(rowOf(one, contender, contenders, taken))
    for (const { load } of contenders) await load.close()
  }
}

/** The gateways to profile, each with its file: the base's is in a folder of its own. */
function profilesOf(
  { gateway, base }: World,
  folder: string,
  one: Case,
): { readonly proxy: BenchProcess; readonly profileFile: string }[] {
  const name = `${one.name.replaceAll(/\W+/g, '-')}.cpuprofile`
  return [
    { under: gateway, of: folder },
    { under: base, of: join(folder, 'base') },
  ].flatMap(({ under, of }) => {
    if (under === null) return []
    mkdirSync(of, { recursive: true })
    return [{ proxy: under.proxy, profileFile: join(of, name) }]
  })
}

/**
 * Computes one row of the table. Non-streamed calls are compared with the bare proxy's non-streamed calls in all formats, which
 * it handles alike. Streams are compared only with its streams of the same format.
 */
function rowOf(
  one: Case,
  { name, wire }: Contender,
  contenders: readonly Contender[],
  taken: ReadonlyMap<string, readonly Slice[]>,
): ProxyRow {
  const references = contenders.filter(other => other.isReference && (!one.pace.streamed || other.wire === wire))
  const reference = figuresOf(references.flatMap(other => taken.get(other.name) ?? []))
  const own = figuresOf(taken.get(name) ?? [])
  return { case: one.name, contender: name, ofReference: own.cpuMicroseconds / reference.cpuMicroseconds, ...own }
}

function variablesOf(text: string | undefined): Record<string, string> | null {
  return text === undefined ? null : (parseEnv(text.replaceAll(' ', '\n')) as Record<string, string>)
}

function withEvents(one: Case, events: string | undefined): Case {
  return events === undefined || one.per === 'call' ? one : { ...one, pace: { ...one.pace, events: Number(events) } }
}

if (process.argv[1]?.endsWith('bench/proxy.ts')) {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      rounds: { type: 'string', default: '7' },
      slice: { type: 'string', default: '1000' },
      'warm-up': { type: 'string', default: '2500' },
      'warm-up-calls': { type: 'string', default: String(WARM_UP_CALLS) },
      case: { type: 'string', default: '' },
      only: { type: 'string', default: '' },
      events: { type: 'string' },
      profile: { type: 'string' },
      with: { type: 'string' },
      'node-harness': { type: 'boolean', default: false },
    },
  })
  const world = await openWorld({
    baseRef: values.base ?? null,
    baseEnvironment: variablesOf(values.with),
    nodeHarness: values['node-harness'],
  })
  try {
    for (const line of world.setup) console.log(`- ${line}`)
    console.log(`\n${PROXY_TABLE_HEAD}`)
    const options = {
      rounds: Number(values.rounds),
      sliceMs: Number(values.slice),
      warmUpMs: Number(values['warm-up']),
      warmUpCalls: Number(values['warm-up-calls']),
      cases: CASES.filter(({ name }) => name.startsWith(values.case)).map(one => withEvents(one, values.events)),
      only: values.only,
      profile: values.profile ?? null,
    }
    await measureProxy(world, options, row => console.log(proxyTableRow([row])))
  } finally {
    await world.stop()
  }
}
