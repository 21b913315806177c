/**
 * Measures the CPU per event of three kinds of streams: converted to another format, relayed in the same format, and copied as
 * raw bytes. Runs the whole relay, with a hold that grows, but without sockets.
 * Uses one process and one thread. The kinds take turns in short slices, so that a busy machine slows all of them equally. Prints
 * a Markdown table.
 * Run: npm exec node bench/stream-conversion.ts [seconds per row] [rows, such as "text burst"]
 */

import { makeEnvelopeSigner } from '../src/conversation/envelope.ts'
import type { ReplyStream } from '../src/conversation/reply-stream.ts'
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

const SLICE_MS = 10
const WARM_UP_ROUNDS = 8
const EVENTS_PER_STREAM = 400
/** Size of a chunk when a provider sends faster than the gateway reads: as much as a socket delivers at once. */
const BURST_BYTES = 16_384
const [secondsPerRow = '3', rows = ''] = process.argv.slice(2)

interface Way {
  /** Relays the chunks of one stream and returns the bytes that went out. */
  readonly relay: (chunks: readonly Buffer[]) => number | Promise<number>
}

/** Relays bytes without parsing them: each chunk is written as received. */
const RAW: Way = {
  relay(chunks) {
    let bytes = 0
    for (const chunk of chunks) bytes += chunk.length
    return bytes
  },
}

/** Does only what every event reader must do: finds the events and parses their JSON. */
const PARSE: Way = {
  relay(chunks) {
    const reader = new SseReader({ eventBytesMax: 1_000_000 })
    let events = 0
    for (const chunk of chunks) {
      for (const { data } of reader.push(chunk)) if (data !== '[DONE]' && JSON.parse(data)) events++
    }
    return events
  },
}

/** A client that accepts every write. */
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
  /** Called where a turn of the event loop would end: writes everything pending at once. */
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
/** Input and output tokens that a hold covers at the start of a stream. */
const HELD_TOKENS = 10n + 1_024n

function throughStream(open: () => ReplyStream): Way {
  return {
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
        reportedTokensMax: 1_000_000,
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
        room: null,
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

/**
 * A request in this format. With `needsResponses`, it combines tools with a reasoning effort, which GPT models accept only in
 * the Responses format.
 */
function requestOf(model: string, format: WireName, { needsResponses = false } = {}): JsonObject {
  const tools = [{ type: 'function', name: 'write_file', parameters: { type: 'object' } }]
  if (format === 'responses') {
    return { model, max_output_tokens: 1000, stream: true, input: 'Hello', ...(needsResponses && { tools }) }
  }
  const request = { model, max_tokens: 1000, stream: true, messages: [{ role: 'user', content: 'Hello' }] }
  if (!needsResponses) return request
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
  if (found === undefined) throw new Error(`there is no entry ${model}`)
  const request = requestOf(model, format, { needsResponses: wire === 'responses' })
  const body = await readChatBody(Buffer.from(JSON.stringify(request)), { bodyValuesMax: 1_000 }, format)
  const entry = onWires(found, format, body.json)
  const [target] = entry.upstreams
  if (target === undefined || wireOf(target) !== wire) throw new Error(`calls to ${model} do not use ${wire}`)
  const prepared = await prepare({
    envelopeSigner: makeEnvelopeSigner({ currentId: 1, secrets: new Map([[1, Buffer.alloc(32)]]) }, '1'),
    body,
    entry,
    clientModel: entry.id,
    target,
    format,
    betas: [],
    inputTokensEstimate: 10,
    countInputTokens: () => 10,
    reportedTokensMax: 1_000_000,
    limits: { replyValuesMax: 100_000 },
    outputTokensAfforded: null,
  })
  return prepared.openStream
}

/** A way of relaying, and the stream to relay. */
interface Lane {
  readonly way: Way
  readonly chunks: readonly Buffer[]
  readonly events: number
}

/** Measures the CPU time per event of each lane, in µs. The lanes run in turn, in short slices. */
async function measure(lanes: ReadonlyMap<string, Lane>, seconds: number): Promise<(name: string) => number> {
  const slices = new Map([...lanes.keys()].map((name): [string, number[]] => [name, []]))
  let until = Number.POSITIVE_INFINITY
  for (let round = 0; performance.now() < until; round++) {
    if (round === WARM_UP_ROUNDS) until = performance.now() + seconds * 1000
    for (const [name, { way, chunks, events }] of lanes) {
      const start = process.cpuUsage()
      const end = performance.now() + SLICE_MS
      let streams = 0
      do {
        await way.relay(chunks)
        streams++
      } while (performance.now() < end)
      const { user, system } = process.cpuUsage(start)
      if (round >= WARM_UP_ROUNDS) slices.get(name)?.push((user + system) / (streams * events))
    }
  }
  return name => quiet(slices.get(name) ?? [])
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
const RESPONSES = { wire: 'responses', text: responsesStreamText, model: 'gpt-5.5' } as const
const SHAPES: readonly StreamShape[] = ['text', 'reasoning', 'tool']
/**
 * Conversions to measure, with the index of the conversion to compare each with (`of`). A conversion to Responses is compared
 * with the other conversion from the same upstream; a conversion from Responses, with the other conversion to the same client
 * format.
 */
const DIRECTIONS = [
  { upstream: CHAT, format: 'messages', of: 0 },
  { upstream: MESSAGES, format: 'chat_completions', of: 1 },
  { upstream: CHAT, format: 'responses', of: 0 },
  { upstream: MESSAGES, format: 'responses', of: 1 },
  { upstream: RESPONSES, format: 'messages', of: 0 },
  { upstream: RESPONSES, format: 'chat_completions', of: 1 },
] as const
type Direction = (typeof DIRECTIONS)[number]

async function lanesOf(shape: StreamShape, mode: 'paced' | 'burst'): Promise<Map<string, Lane>> {
  const lanes = new Map<string, Lane>()
  for (const upstream of [CHAT, MESSAGES, RESPONSES]) {
    const { wire, text, model } = upstream
    const stream = text(shape, EVENTS_PER_STREAM)
    const given = { chunks: cut(stream, mode), events: stream.split('\n\n').length - 1 }
    lanes.set(`${wire} raw`, { way: RAW, ...given })
    lanes.set(`${wire} parse`, { way: PARSE, ...given })
    for (const { format } of [{ format: wire }, ...DIRECTIONS.filter(each => each.upstream === upstream)]) {
      lanes.set(`${wire} → ${format}`, { way: throughStream(await openerOf(model, format, wire)), ...given })
    }
  }
  return lanes
}

console.log(
  '| upstream → client | stream | chunks | raw µs | parse µs | same format µs | converted µs | converted − raw µs | converted / same | of chat ↔ messages |',
)
console.log('|---|---|---|--:|--:|--:|--:|--:|--:|--:|')
for (const shape of SHAPES) {
  for (const mode of ['paced', 'burst'] as const) {
    if (!`${shape} ${mode}`.includes(rows)) continue
    const figure = await measure(await lanesOf(shape, mode), Number(secondsPerRow) * DIRECTIONS.length)
    const convertedBy = ({ upstream, format }: Direction) => figure(`${upstream.wire} → ${format}`)
    for (const direction of DIRECTIONS) {
      const { wire } = direction.upstream
      const [raw, parse, same] = [figure(`${wire} raw`), figure(`${wire} parse`), figure(`${wire} → ${wire}`)]
      const converted = convertedBy(direction)
      const ratios = [converted / same, converted / convertedBy(DIRECTIONS[direction.of])]
      const figures = [raw, parse, same, converted, converted - raw, ...ratios].map(each => each.toFixed(2))
      console.log(`| ${wire} → ${direction.format} | ${shape} | ${mode} | ${figures.join(' | ')} |`)
    }
  }
}
