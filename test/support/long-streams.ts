/** A provider whose streams are as long as a test wants, in every wire format, sent as fast as they are read. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { messagesEvent, textDelta } from './chat.ts'

export interface LongStreamsOptions {
  /** Number of text events per stream, each with this `text`. */
  readonly events: number
  readonly text: string
  /** Number of input tokens that each reply reports. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** Pause before each event; 0 for none. */
  readonly pauseMs: number
}

export interface LongStreams {
  readonly url: string
  options: LongStreamsOptions
  /** While set, every reply waits for this promise after its first event. */
  gate: Promise<unknown> | null
  /** Request bodies, parsed. */
  readonly bodies: readonly Readonly<Record<string, unknown>>[]
  /** Whether the last stream was written to its end. */
  readonly served: boolean
  /** Number of replies that the gateway aborted. */
  readonly aborted: number
  close(): Promise<void>
}

/** Writes the start of a stream, an event with text, and the end, in one wire format. */
interface Wire {
  readonly start: (inputTokens: number) => string
  readonly delta: (text: string) => string
  readonly end: (usage: { inputTokens: number; outputTokens: number }) => string
}

const chunk = (rest: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...rest })}\n\n`
const choice = (delta: object, finish_reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta, finish_reason }] })
const response = (rest: object) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  output: [],
  ...rest,
})

const WIRES: Readonly<Record<string, Wire>> = {
  messages: {
    start: input_tokens =>
      messagesEvent({ type: 'message_start', message: { id: 'm', model: 'm', content: [], usage: { input_tokens } } }) +
      messagesEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    delta: textDelta,
    end: ({ outputTokens }) =>
      messagesEvent({ type: 'content_block_stop', index: 0 }) +
      messagesEvent({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: outputTokens },
      }) +
      messagesEvent({ type: 'message_stop' }),
  },
  completions: {
    start: () => choice({ role: 'assistant', content: '' }),
    delta: content => choice({ content }),
    end: ({ inputTokens, outputTokens }) =>
      `${choice({}, 'stop')}${chunk({ choices: [], usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens } })}data: [DONE]\n\n`,
  },
  responses: {
    start: () =>
      messagesEvent({ type: 'response.created', sequence_number: 0, response: response({ status: 'in_progress' }) }),
    delta: delta => messagesEvent({ type: 'response.output_text.delta', sequence_number: 1, output_index: 0, delta }),
    end: ({ inputTokens: input_tokens, outputTokens: output_tokens }) =>
      messagesEvent({
        type: 'response.completed',
        sequence_number: 2,
        response: response({ status: 'completed', usage: { input_tokens, output_tokens } }),
      }),
  },
}

const whole = ({ inputTokens, outputTokens }: LongStreamsOptions) => ({
  id: 'x',
  type: 'message',
  object: 'chat.completion',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'x' }],
  stop_reason: 'end_turn',
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  status: 'completed',
  output: [],
  usage: {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
  },
})

export async function startLongStreams(options: LongStreamsOptions): Promise<LongStreams> {
  const bodies: Readonly<Record<string, unknown>>[] = []
  let aborted = 0
  let served = false
  const server: Server = createServer((request, reply) => void answer(request, reply).catch(() => reply.destroy()))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const streams = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    options,
    gate: null as Promise<unknown> | null,
    bodies,
    get served() {
      return served
    },
    get aborted() {
      return aborted
    },
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }

  async function answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
    const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown>
    bodies.push(body)
    const { events, text, inputTokens, outputTokens, pauseMs } = streams.options
    if (body.stream !== true) {
      await streams.gate
      reply
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(wholeWithin(streams.options, body)))
      return
    }
    const left = once(reply, 'close').then(() => {
      if (!reply.writableFinished) aborted++
    })
    served = false
    const wire = WIRES[(request.url ?? '').split('/').at(-1) ?? ''] as Wire
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    reply.write(wire.start(inputTokens))
    await streams.gate
    const delta = Buffer.from(wire.delta(text))
    for (let sent = 0; sent < events && !reply.destroyed; sent++) {
      if (pauseMs > 0) await sleep(pauseMs)
      if (!reply.write(delta)) await Promise.race([once(reply, 'drain'), left])
    }
    reply.end(wire.end({ inputTokens, outputTokens }))
    served = !reply.destroyed
  }

  return streams
}

/** A non-streamed reply with no more output tokens than the request allows. */
function wholeWithin(options: LongStreamsOptions, body: Readonly<Record<string, unknown>>): object {
  const cap = body.max_tokens ?? body.max_completion_tokens ?? body.max_output_tokens
  const outputTokens = typeof cap === 'number' ? Math.min(cap, options.outputTokens) : options.outputTokens
  return whole({ ...options, outputTokens })
}
