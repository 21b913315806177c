/**
 * CPU of the gateway per call and per stream event, against "bare" (Fastify and undici, nothing else) and a raw pipe in the
 * same run. Gateway, references, upstream and Postgres are processes of their own; the slices of the contenders rotate, so
 * that a busy machine slows all alike; ratios are what counts.
 * Run: npm exec node bench/proxy.ts -- [--base ref] [--rounds n] [--case start of name] [--only part of contender's name]
 *      [--events n] [--profile folder] [--with 'NAME=value NAME=value']
 * `--events` is for streams of another length than 200 deltas, which shows what an event costs apart from its call.
 * `--with` compares with a gateway of this tree that has these variables too, such as METRICS_PORT=0: its rows say `base:`.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, parseEnv } from 'node:util'
import { CASES, type Case, type Contender, contendersOf, quiet, runCase, type Sum } from './proxy/scenarios.ts'
import { openWorld, type World } from './proxy/world.ts'

const SLICE_MS = 1_500

export interface ProxyRow {
  readonly case: string
  readonly contender: string
  readonly cpuMicroseconds: number
  readonly ofReference: number
  readonly postgresMicroseconds: number
  readonly unitsPerSecond: number
}

export interface ProxyOptions {
  readonly rounds: number
  readonly cases: readonly Case[]
  /** Contenders that run beside the references. */
  readonly only: string
  /** Folder for profiles of the gateway, one for each case; null for none. */
  readonly profile: string | null
}

export async function measureProxy(
  world: World,
  { rounds, cases, only, profile }: ProxyOptions,
  report: (row: ProxyRow) => void,
): Promise<void> {
  const all = contendersOf(world)
  const contenders = all.filter(({ name, against }) => name === against || name.includes(only))
  for (const one of cases) {
    if (profile !== null) await runCase(world, one, contenders, { rounds: 0, sliceMs: SLICE_MS })
    if (profile !== null) await world.gateway.role.tell({ profileFile: null })
    const sums = await runCase(world, one, contenders, { rounds, sliceMs: SLICE_MS })
    if (profile !== null) await world.gateway.role.tell({ profileFile: profileFile(profile, one) })
    for (const contender of contenders) report(rowOf(one, contender, sums))
  }
  for (const { load } of all) load.close()
}

function profileFile(folder: string, one: Case): string {
  mkdirSync(folder, { recursive: true })
  return join(folder, `${one.name.replaceAll(' ', '-')}.cpuprofile`)
}

function rowOf(one: Case, { name, against }: Contender, sums: ReadonlyMap<string, Sum>): ProxyRow {
  const own = sums.get(name) as Sum
  // A whole call is the same to bare in both formats, and twice the slices are a better figure.
  const references = one.pace.streamed ? [against] : ['bare, messages', 'bare, chat']
  const reference = { slices: references.flatMap(of => (sums.get(of) as Sum).slices) }
  return {
    case: one.name,
    contender: name,
    cpuMicroseconds: quiet(own.slices),
    ofReference: quiet(own.slices) / quiet(reference.slices),
    postgresMicroseconds: own.postgres / own.units,
    unitsPerSecond: own.units / own.seconds,
  }
}

export function proxyTableRow(row: ProxyRow): string {
  const figures = [
    row.cpuMicroseconds.toFixed(1),
    row.ofReference.toFixed(2),
    row.postgresMicroseconds.toFixed(1),
    row.unitsPerSecond.toFixed(0),
  ]
  return `| ${row.case} | ${row.contender} | ${figures.join(' | ')} |`
}

export const PROXY_TABLE_HEAD = `| case | contender | CPU µs | of bare | Postgres µs | per second |\n|---|---|--:|--:|--:|--:|`

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
      rounds: { type: 'string', default: '6' },
      case: { type: 'string', default: '' },
      only: { type: 'string', default: '' },
      events: { type: 'string' },
      profile: { type: 'string' },
      with: { type: 'string' },
    },
  })
  const world = await openWorld({ baseRef: values.base ?? null, baseEnvironment: variablesOf(values.with) })
  try {
    console.log(PROXY_TABLE_HEAD)
    const cases = CASES.filter(({ name }) => name.startsWith(values.case)).map(one => withEvents(one, values.events))
    const options = { rounds: Number(values.rounds), cases, only: values.only, profile: values.profile ?? null }
    await measureProxy(world, options, row => console.log(proxyTableRow(row)))
  } finally {
    await world.stop()
  }
}
