/**
 * CPU per event of a converted stream, a stream in the same format, and a raw pipe of the same bytes, without sockets: the
 * whole relay, with a hold that grows.
 * One process, one thread; slices rotate, so that a busy machine slows all of them equally. Prints a Markdown table.
 * Run: npm exec node bench/stream-conversion.ts [seconds per row]
 */

import type { ReplyStream } from '../src/conversation/reply-stream.ts'
import { makeSealer } from '../src/conversation/seal.ts'
import { GatewayError } from '../src/errors.ts'
import { TABLES } from '../src/generated/tables.ts'
import type { ModelEntry, WireName } from '../src/generated/types.ts'
import { type ByteText, concat, NO_BYTES, toBuffer } from '../src/lib/byte-text.ts'
import { Canceller } from '../src/lib/cancellation.ts'
import type { JsonObject } from '../src/lib/json.ts'
import { microVnd } from '../src/lib/money.ts'
import { SseReader } from '../src/lib/sse.ts'
import type { ClientChannel, PipelineLimits } from '../src/pipeline/call.ts'
import { Pinger } from '../src/pipeline/pinger.ts'
import { prepare } from '../src/pipeline/prepare.ts'
import { readChatBody } from '../src/pipeline/receive.ts'
import { relayStream } from '../src/pipeline/relay-stream.ts'
import { StreamHold } from '../src/pipeline/stream-hold.ts'
import { onWires, wireOf } from '../src/translate/wired.ts'
import { UpstreamReply } from '../src/upstream/reply.ts'
import { chatStreamText, messagesStreamText, responsesStreamText, type StreamShape } from './streams.ts'

const SLICE_MS = 25
const EVENTS_PER_STREAM = 400
/** Size of a chunk when a provider sends faster than the gateway reads: what a socket delivers at once. */
const BURST_BYTES = 16_384
const secondsPerRow = Number(process.argv[2] ?? 3)

interface Way {
  readonly name: string
  /** Relays the chunks of one stream and returns the bytes that went out. */
  readonly relay: (chunks: readonly Buffer[]) => number | Promise<number>
}

/** Relaying bytes without understanding them: each chunk is written as received. */
const RAW: Way = {
  name: 'raw pipe',
  relay(chunks) {
    let bytes = 0
    for (const chunk of chunks) bytes += chunk.length
    return bytes
  },
}

/** The minimum for anyone who reads the events: find them and parse their JSON. */
const PARSE: Way = {
  name: 'parse',
  relay(chunks) {
    const reader = new SseReader({ eventBytesMax: 1_000_000 })
    let events = 0
    for (const chunk of chunks) {
      for (const { data } of reader.push(chunk)) if (data !== '[DONE]' && JSON.parse(data)) events++
    }
    return events
  },
}

/** A client that takes everything. */
class Reader implements ClientChannel {
  readonly gone = new Canceller()
  readonly firstByteMs = null
  readonly full = false
  failureEvent = null
  started = false
  bytes = 0
  #pending = NO_BYTES
  send(): void {}
  startStream(): void {
    this.started = true
  }
  write(events: ByteText): boolean {
    this.#pending = concat(this.#pending, events)
    return true
  }
  /** The end of a turn of the event loop, when everything is written at once. */
  flush(): void {
    if (this.#pending.length > 0) this.bytes += toBuffer(this.#pending).length
    this.#pending = NO_BYTES
  }
  onDrain(): void {}
  endStream(): void {}
  startBytes(): void {}
  writeBytes(): boolean {
    return true
  }
  fail(): void {}
}

const LIMITS = {
  eventBytesMax: 1_000_000,
  pingAfterMs: 60_000,
  holdExtendTokens: 4_096,
  holdExtendWaitMs: 5_000,
} as PipelineLimits
const PINGER = new Pinger({ nowMs: () => 0, everyMs: 60_000 })
const NO_SOURCE = { pause: () => {}, resume: () => {}, abort: () => {} }
/** Input and output tokens of a hold at the start of a stream. */
const HELD_TOKENS = 10n + 1_024n

function throughStream(name: string, open: () => ReplyStream): Way {
  return {
    name,
    async relay(chunks) {
      const stream = open()
      const client = new Reader()
      const upstream = new UpstreamReply(NO_SOURCE, 200, {})
      const hold = new StreamHold({
        ledger: { extend: async ({ wantMicroVnd }) => ({ heldMicroVnd: wantMicroVnd }) },
        callId: '',
        accountId: 1,
        priceVnd: 1,
        heldMicroVnd: microVnd(HELD_TOKENS),
        reservedMicroVnd: microVnd(0n),
        choices: 1,
        inputTokensEstimate: 10,
        countInputTokens: () => 10,
        stream,
        limits: LIMITS,
        spentError: () => new GatewayError('insufficient_balance'),
      })
      const settle = async () => {}
      const relay = {
        upstream,
        client,
        stream,
        hold,
        headers: {},
        limits: LIMITS,
        pinger: PINGER,
        ping: NO_BYTES,
        settle,
      }
      const ended = relayStream(relay)
      for (const chunk of chunks) {
        upstream.receive(chunk)
        await new Promise<void>(resolve => process.nextTick(resolve))
        client.flush()
      }
      upstream.finish(null)
      await ended
      client.flush()
      return client.bytes
    },
  }
}

/** A request of the format; with `effort`, one that only the Responses format carries whole. */
function requestOf(model: string, format: WireName, { effort = false } = {}): JsonObject {
  const tools = [{ type: 'function', name: 'write_file', parameters: { type: 'object' } }]
  if (format === 'responses') {
    return { model, max_output_tokens: 1000, stream: true, input: 'Hello', ...(effort && { tools }) }
  }
  const request = { model, max_tokens: 1000, stream: true, messages: [{ role: 'user', content: 'Hello' }] }
  if (!effort) return request
  return format === 'messages'
    ? {
        ...request,
        tools: [{ name: 'write_file', input_schema: { type: 'object' } }],
        output_config: { effort: 'high' },
      }
    : {
        ...request,
        tools: tools.map(({ type, ...tool }) => ({ type, function: tool })),
        reasoning_effort: 'high',
      }
}

async function openerOf(model: string, format: WireName, wire: WireName): Promise<() => ReplyStream> {
  const entries: readonly ModelEntry[] = TABLES.entries
  const found = entries.find(candidate => candidate.id === model)
  if (found === undefined) throw new Error(`no entry ${model}`)
  const request = requestOf(model, format, { effort: wire === 'responses' })
  const body = await readChatBody(Buffer.from(JSON.stringify(request)), { bodyValuesMax: 1_000 }, format)
  const entry = onWires(found, format, body.json)
  const [target] = entry.upstreams
  if (target === undefined || wireOf(target) !== wire) throw new Error(`${model} is not asked over ${wire}`)
  const prepared = await prepare({
    sealer: makeSealer({ currentId: 1, secrets: new Map([[1, Buffer.alloc(32)]]) }, '1'),
    body,
    entry,
    clientModel: entry.id,
    target,
    format,
    betas: [],
    inputTokensEstimate: 10,
    countInputTokens: () => 10,
    outputTokensAfforded: null,
  })
  return prepared.openStream
}

/** Microseconds per event of each way, over rotating slices. */
async function measure(ways: readonly Way[], chunks: readonly Buffer[], events: number): Promise<number[]> {
  const slices: number[][] = ways.map(() => [])
  const until = performance.now() + secondsPerRow * 1000
  for (let round = 0; performance.now() < until; round++) {
    for (const [index, way] of ways.entries()) {
      const start = process.cpuUsage()
      const end = performance.now() + SLICE_MS
      let streams = 0
      do {
        await way.relay(chunks)
        streams++
      } while (performance.now() < end)
      const { user, system } = process.cpuUsage(start)
      // The first rounds warm up.
      if (round >= 8) slices[index]?.push((user + system) / (streams * events))
    }
  }
  return slices.map(quiet)
}

/** The 20th percentile of the slices, because other programs on the machine can only add time. */
function quiet(values: number[]): number {
  const sorted = values.sort((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 5)] ?? Number.NaN
}

function cut(text: string, mode: 'paced' | 'burst'): Buffer[] {
  if (mode === 'paced') return text.split(/(?<=\n\n)/).map(event => Buffer.from(event))
  const bytes = Buffer.from(text)
  const count = Math.ceil(bytes.length / BURST_BYTES)
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * BURST_BYTES, (index + 1) * BURST_BYTES))
}

const CHAT = { wire: 'chat_completions', text: chatStreamText, model: 'glm-5.1' } as const
const MESSAGES = { wire: 'messages', text: messagesStreamText, model: 'claude-opus-5' } as const
const RESPONSES = {
  wire: 'responses',
  text: responsesStreamText,
  model: 'gpt-5.5',
} as const
const SHAPES: readonly StreamShape[] = ['text', 'reasoning', 'tool']
const DIRECTIONS = [
  { upstream: CHAT, format: 'messages', shapes: SHAPES },
  { upstream: MESSAGES, format: 'chat_completions', shapes: SHAPES },
  { upstream: CHAT, format: 'responses', shapes: SHAPES },
  { upstream: MESSAGES, format: 'responses', shapes: SHAPES },
  { upstream: RESPONSES, format: 'messages', shapes: SHAPES },
  { upstream: RESPONSES, format: 'chat_completions', shapes: SHAPES },
] as const

console.log(
  '| upstream → client | stream | chunks | raw µs | parse µs | same format µs | converted µs | converted − raw µs | converted / same |',
)
console.log('|---|---|---|--:|--:|--:|--:|--:|--:|')
for (const { upstream, format, shapes } of DIRECTIONS) {
  const { wire, text, model } = upstream
  for (const shape of shapes) {
    const stream = text(shape, EVENTS_PER_STREAM)
    const events = stream.split('\n\n').length - 1
    for (const mode of ['paced', 'burst'] as const) {
      const ways = [
        RAW,
        PARSE,
        throughStream('same format', await openerOf(model, wire, wire)),
        throughStream('converted', await openerOf(model, format, wire)),
      ]
      const [raw = 0, parse = 0, unchanged = 0, converted = 0] = await measure(ways, cut(stream, mode), events)
      const figures = [raw, parse, unchanged, converted, converted - raw, converted / unchanged].map(figure =>
        figure.toFixed(2),
      )
      console.log(`| ${wire} → ${format} | ${shape} | ${mode} | ${figures.join(' | ')} |`)
    }
  }
}
