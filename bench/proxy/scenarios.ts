/** The cases to measure, and the contenders: the proxies that each case compares. */

import type { BenchProcess } from './bench-process.ts'
import { requestBody } from './bodies.ts'
import { FORMATS, type Format, MARKS, PATHS } from './formats.ts'
import type { Call, LoadGenerator } from './load.ts'
import { callOf } from './load.ts'
import type { Pace } from './replies.ts'
import type { GatewayUnderTest, World } from './world.ts'

export interface Case {
  readonly name: string
  /** The unit for which CPU time is reported: a call, or a delta of the upstream's stream. */
  readonly per: 'call' | 'event'
  readonly bytes: number
  readonly concurrency: number
  readonly pace: Pace
}

const STREAM_EVENTS = 200
const PAUSE_MS = 10
const STREAM = { streamed: true, events: STREAM_EVENTS, textBytes: 0, calls: 0 } as const

function whole(textBytes: number, calls: number): Pace {
  return { streamed: false, events: 1, pauseMs: 0, textBytes, calls }
}

/** Sizes of request bodies to measure, each with its concurrency levels and a reply of matching size. */
const SIZES: readonly { readonly bytes: number; readonly concurrency: readonly number[]; readonly pace: Pace }[] = [
  { bytes: 1_000, concurrency: [64, 16], pace: whole(500, 0) },
  { bytes: 5_000, concurrency: [64, 16], pace: whole(800, 1) },
  { bytes: 20_000, concurrency: [64, 16], pace: whole(1_500, 2) },
  { bytes: 200_000, concurrency: [8], pace: whole(3_000, 4) },
]
export const SMALL_CALL: Case = {
  name: '1 kB call',
  per: 'call',
  bytes: 1_000,
  concurrency: 64,
  pace: whole(500, 0),
}

export const CASES: readonly Case[] = [
  ...SIZES.flatMap(({ bytes, concurrency, pace }) =>
    concurrency.map(
      (atOnce): Case => ({
        name: `${bytes / 1000} kB call, ${atOnce} at once`,
        per: 'call',
        bytes,
        concurrency: atOnce,
        pace,
      }),
    ),
  ),
  { name: 'paced event', per: 'event', bytes: 1_000, concurrency: 64, pace: { ...STREAM, pauseMs: PAUSE_MS } },
  { name: 'burst event', per: 'event', bytes: 1_000, concurrency: 64, pace: { ...STREAM, pauseMs: 0 } },
]

export interface Contender {
  readonly name: string
  /** Format that the contender's upstream speaks. Streams are compared with the reference of the same format. */
  readonly wire: Format
  readonly isReference: boolean
  readonly proxy: BenchProcess
  readonly load: LoadGenerator
  readonly call: (one: Pick<Case, 'bytes' | 'pace'>) => Call
}

/** A path through the gateway: the client's format, the model called, and the format (`wire`) that the upstream receives. */
interface Route {
  readonly client: Format
  readonly wire: Format
  readonly model: string
  /** Whether calls request reasoning. With tools, that makes the gateway use a wire other than the client's format. */
  readonly reasons?: boolean
}

const CLAUDE = 'claude-opus-5'
const GPT = 'gpt-5.5'
/** A model whose upstream only speaks Chat Completions. */
const GLM = 'glm-5.1'

const ROUTES: readonly Route[] = [
  { client: 'messages', wire: 'messages', model: CLAUDE },
  { client: 'chat', wire: 'chat', model: GPT },
  { client: 'responses', wire: 'responses', model: GPT },
  { client: 'chat', wire: 'messages', model: CLAUDE },
  { client: 'messages', wire: 'chat', model: GPT },
  { client: 'responses', wire: 'messages', model: CLAUDE },
  { client: 'responses', wire: 'chat', model: GLM },
  { client: 'messages', wire: 'responses', model: GPT, reasons: true },
  { client: 'chat', wire: 'responses', model: GPT, reasons: true },
]

export function contendersOf(world: World): Contender[] {
  const contender = (
    name: string,
    { proxy, apiKey }: GatewayUnderTest,
    { client, wire, model, reasons = false }: Route,
  ): Contender => ({
    name,
    wire,
    isReference: proxy === world.bare,
    proxy,
    load: world.harness.loadGenerator(proxy.url),
    call: ({ bytes, pace: { streamed } }) =>
      callOf({
        url: proxy.url,
        path: PATHS[client],
        apiKey,
        body: requestBody(client, { model, bytes, streamed, reasons }),
        mark: streamed ? MARKS[client] : null,
      }),
  })
  const plain = (proxy: BenchProcess) => ({ proxy, apiKey: 'key' })
  const straight = (format: Format): Route => ({ client: format, wire: format, model: GPT })
  const gateways = [
    { prefix: '', gateway: world.gateway },
    ...(world.base === null ? [] : [{ prefix: 'base: ', gateway: world.base }]),
  ]
  return [
    ...FORMATS.map(format => contender(`bare, ${format}`, plain(world.bare), straight(format))),
    contender('limit, chat', plain(world.limit), straight('chat')),
    contender('pipe, chat', plain(world.pipe), straight('chat')),
    ...gateways.flatMap(({ prefix, gateway }) =>
      ROUTES.map(route => contender(`${prefix}${route.client} → ${route.wire}`, gateway, route)),
    ),
  ]
}

/** Sends one call through each contender; throws if the call reaches the upstream in a different format than `wire`. */
export async function checkRoutes(world: World, contenders: readonly Contender[]): Promise<void> {
  await world.harness.setReplies(SMALL_CALL.pace)
  for (const { name, wire, load, call } of contenders) {
    await load.drive(call(SMALL_CALL), { concurrency: 1, milliseconds: 0 }).catch(error => {
      throw new Error(`${name}: ${error.message}`)
    })
    const path = await world.harness.lastPath()
    if (path !== PATHS[wire]) throw new Error(`${name} reached the upstream at ${path}`)
  }
}
