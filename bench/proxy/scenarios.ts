/** What is measured through the proxies: cases, and the contenders of each, whose slices rotate in one run. */

import { Load, requestBytes, type Target } from './load.ts'
import type { Role } from './role.ts'
import type { Pace } from './upstream.ts'
import { type GatewayUnderTest, TICK_US, type World } from './world.ts'

export interface Case {
  readonly name: string
  /** What the CPU is divided by: calls, or events as the upstream sends them. */
  readonly per: 'call' | 'event'
  readonly bytes: number
  readonly concurrency: number
  readonly pace: Pace
}

/** Deltas of a stream; its other events come on top. */
const STREAM_EVENTS = 200
const WHOLE: Pace = { streamed: false, events: 1, pauseMs: 0 }

export const CASES: readonly Case[] = [
  { name: '1 kB call', per: 'call', bytes: 1_000, concurrency: 256, pace: WHOLE },
  { name: '5 kB call', per: 'call', bytes: 5_000, concurrency: 128, pace: WHOLE },
  { name: '200 kB call', per: 'call', bytes: 200_000, concurrency: 16, pace: WHOLE },
  {
    name: 'paced event',
    per: 'event',
    bytes: 1_000,
    concurrency: 50,
    pace: { streamed: true, events: STREAM_EVENTS, pauseMs: 10 },
  },
  {
    name: 'burst event',
    per: 'event',
    bytes: 1_000,
    concurrency: 16,
    pace: { streamed: true, events: STREAM_EVENTS, pauseMs: 0 },
  },
]

export interface Contender {
  readonly name: string
  /** Contender that its figures are divided by. */
  readonly against: string
  readonly role: Role
  readonly load: Load
  readonly target: (one: Case) => Target
}

const MESSAGES = { path: '/v1/messages', model: 'claude-opus-5' }
const CHAT = { path: '/v1/chat/completions', model: 'gpt-5.5' }

export function contendersOf(world: World): Contender[] {
  const contender = (
    name: string,
    against: string,
    { role, apiKey }: GatewayUnderTest,
    { path, model }: { path: string; model: string },
  ): Contender => ({
    name,
    against,
    role,
    load: new Load(role.url),
    target: one => ({ url: role.url, path, apiKey, body: requestBody(model, one) }),
  })
  const bare = { role: world.bare, apiKey: 'key' }
  const pipe = { role: world.pipe, apiKey: 'key' }
  const gateways = [
    { prefix: '', gateway: world.gateway },
    ...(world.base === null ? [] : [{ prefix: 'base: ', gateway: world.base }]),
  ]
  return [
    contender('bare, messages', 'bare, messages', bare, MESSAGES),
    contender('bare, chat', 'bare, chat', bare, CHAT),
    contender('pipe, messages', 'bare, messages', pipe, MESSAGES),
    contender('pipe, chat', 'bare, chat', pipe, CHAT),
    ...gateways.flatMap(({ prefix, gateway }) => [
      contender(`${prefix}messages`, 'bare, messages', gateway, MESSAGES),
      contender(`${prefix}chat`, 'bare, chat', gateway, CHAT),
      // Each against bare with the bytes that it has to do with upstream.
      contender(`${prefix}chat client, messages upstream`, 'bare, messages', gateway, {
        ...CHAT,
        model: MESSAGES.model,
      }),
      contender(`${prefix}messages client, chat upstream`, 'bare, chat', gateway, { ...MESSAGES, model: CHAT.model }),
    ]),
  ]
}

/** What the slices of one contender came to. */
export interface Sum {
  readonly slices: Slice[]
  postgres: number
  units: number
  seconds: number
}

export interface Slice {
  /** Microseconds per unit. */
  readonly cpu: number
  /** CPU that other programs of the machine took meanwhile. */
  readonly foreignTicks: number
}

/** Share of the slices that counts. */
const CALM_SHARE = 1 / 3

/** The median of the calmest slices: other programs fill the caches and only ever add. */
export function quiet(slices: readonly Slice[]): number {
  const calm = slices
    .toSorted((left, right) => left.foreignTicks - right.foreignTicks)
    .slice(0, Math.max(1, Math.ceil(slices.length * CALM_SHARE)))
    .map(({ cpu }) => cpu)
    .sort((left, right) => left - right)
  return calm[Math.floor(calm.length / 2)] ?? Number.NaN
}

/** CPU that other programs take from now on, in ticks. */
export function foreignSince(world: World): () => number {
  const before = world.ticks()
  return () => {
    const now = world.ticks()
    return Math.max(0, now.machine - before.machine - (now.own - before.own))
  }
}

export interface Rotation {
  readonly rounds: number
  readonly sliceMs: number
}

/** Of each contender before a case: until then much of it runs as V8 has not compiled it yet. */
const WARM_UP_MS = 2_500

/** Runs a case with all contenders, slice after slice in turn. */
export async function runCase(
  world: World,
  one: Case,
  contenders: readonly Contender[],
  { rounds, sliceMs }: Rotation,
): Promise<ReadonlyMap<string, Sum>> {
  await world.upstream.tell(one.pace)
  const sums = new Map(
    contenders.map(({ name }) => [name, { slices: [] as Slice[], postgres: 0, units: 0, seconds: 0 }]),
  )
  const requests = contenders.map(contender => requestBytes(contender.target(one)))
  for (let round = -1; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const foreign = foreignSince(world)
      const before = { cpu: await contender.role.cpuMicroseconds(), postgres: world.ticks().postgres }
      const start = performance.now()
      const options = { concurrency: one.concurrency, milliseconds: round < 0 ? WARM_UP_MS : sliceMs }
      const calls = await contender.load.drive(requests[index] as Buffer, options)
      if (round < 0) continue
      const sum = sums.get(contender.name) as Sum
      const units = one.per === 'call' ? calls : calls * one.pace.events
      const cpu = ((await contender.role.cpuMicroseconds()) - before.cpu) / units
      sum.slices.push({ cpu, foreignTicks: foreign() })
      sum.postgres += (world.ticks().postgres - before.postgres) * TICK_US
      sum.units += units
      sum.seconds += (performance.now() - start) / 1000
    }
  }
  return sums
}

export function requestBody(model: string, { bytes, pace }: Pick<Case, 'bytes' | 'pace'>): Buffer {
  const content = 'Tell me about the old quarter of the city. '.repeat(Math.ceil(bytes / 43)).slice(0, bytes - 120)
  return Buffer.from(
    JSON.stringify({ model, max_tokens: 1000, stream: pace.streamed, messages: [{ role: 'user', content }] }),
  )
}
