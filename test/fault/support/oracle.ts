/**
 * The only provider behind all gateways of a fault test, which records every reply that it finished. Each reply has a
 * unique number, reported as its input tokens, so that a usage row shows which reply it charges.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { messagesEvent, textDelta } from '../../support/chat.ts'
import type { Random } from '../../support/random.ts'

export interface Reply {
  /** The reply's unique number, reported as its input tokens. */
  readonly serial: number
  readonly outputTokens: number
  readonly gateway: string
  readonly accountId: number
  readonly entryId: string
  /** How many text events, with many tokens each, the call requested; null for a short reply. */
  readonly longEvents: number | null
  /** `finished`: sent completely; `broken`: cut off by either side. */
  state: 'open' | 'finished' | 'broken'
  /** Milliseconds since 1970; null if the reply has not finished. */
  finishedAt: number | null
}

export interface OracleOptions {
  readonly random: Random
  /** How many of a thousand requests get each kind of fault. */
  readonly faultsPerMille: number
  /** Longest pause before each part of a reply, in ms. */
  readonly pauseMsMax: number
  /** Number of text events in a stream. */
  readonly events: number
}

/**
 * What a prompt tells the provider about its call: the account that pays, the entry and, if the stream is to be so long that
 * its hold must be extended, the number of text events (`longEvents`).
 */
export interface Mark {
  readonly accountId: number
  readonly entryId: string
  readonly longEvents?: number | null
}

/** Builds the prompt. By its `secret`, tests search for it in logs and data files, which must not contain prompts. */
export function prompt(secret: string, { accountId, entryId, longEvents = null }: Mark): string {
  return `${secret} account=${accountId} entry=${entryId}${longEvents === null ? '' : ` events=${longEvents}`} end`
}

const SHORT_TEXT = 'Xin chào '
/** Text of about 300 tokens. */
const LONG_TEXT = ' lorem ipsum dolor sit amet'.repeat(60)
const LONG_TEXT_TOKENS = 300

export class Oracle {
  readonly replies: Reply[] = []
  /** While set, every reply waits for this promise before its last part. */
  gate: Promise<unknown> | null = null
  options: OracleOptions
  #serial = 0
  #open = 0
  readonly #server: Server

  private constructor(options: OracleOptions) {
    this.options = options
    this.#server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      void this.#answer(request, response).catch(() => response.destroy())
    })
  }

  static async start(options: OracleOptions, address = '127.0.0.1'): Promise<Oracle> {
    const oracle = new Oracle(options)
    await new Promise<void>(resolve => oracle.#server.listen(0, address, resolve))
    return oracle
  }

  /** Number of requests whose replies are not complete yet. */
  get open(): number {
    return this.#open
  }

  /** Environment for a gateway that has only this provider. */
  environment(gateway: string): Record<string, string> {
    const { address, port } = this.#server.address() as AddressInfo
    const url = `http://${address}:${port}/${gateway}`
    return {
      UPSTREAM_OPENAI_BASE_URL: url,
      UPSTREAM_OPENAI_API_KEY: 'upstream-secret-openai',
      UPSTREAM_ANTHROPIC_BASE_URL: url,
      UPSTREAM_ANTHROPIC_API_KEY: 'upstream-secret-anthropic',
    }
  }

  close(): Promise<void> {
    return new Promise(resolve => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString('utf8')
    const marked = /account=(\d+) entry=(\S+)(?: events=(\d+))? end/.exec(body)
    const { random, faultsPerMille } = this.options
    if (marked === null) return void response.writeHead(400).end('{}')
    const longEvents = marked[3] === undefined ? null : Number(marked[3])
    const reply: Reply = {
      serial: ++this.#serial,
      outputTokens: 1 + (this.#serial % 50) + (longEvents ?? 0) * LONG_TEXT_TOKENS,
      longEvents,
      gateway: (request.url ?? '').split('/')[1] ?? '',
      accountId: Number(marked[1]),
      entryId: marked[2] as string,
      state: 'open',
      finishedAt: null,
    }
    this.replies.push(reply)
    this.#open++
    let faulty = false
    response.once('close', () => {
      this.#open--
      if (response.writableFinished && !faulty) reply.finishedAt = Date.now()
      reply.state = response.writableFinished && !faulty ? 'finished' : 'broken'
    })
    const dice = random(1000)
    if (dice < faultsPerMille) {
      faulty = true
      return void response.writeHead(500, JSON_TYPE).end('{"error":{"message":"faulty","type":"server_error"}}')
    }
    const messages = (request.url ?? '').includes('/messages')
    const streamed = /"stream"\s*:\s*true/.test(body)
    if (!streamed) {
      await this.#pause()
      await this.gate
      return void response.writeHead(200, JSON_TYPE).end(JSON.stringify(messages ? message(reply) : completion(reply)))
    }
    const output =
      longEvents === null ? { events: this.options.events, text: SHORT_TEXT } : { events: longEvents, text: LONG_TEXT }
    const parts = messages ? messageParts(reply, output) : chunkParts(reply, output)
    const breaksAt = dice < 2 * faultsPerMille ? random(parts.length) : -1
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const [index, part] of parts.entries()) {
      await this.#pause()
      if (index === parts.length - 1) await this.gate
      if (response.destroyed) return
      if (index === breaksAt) {
        faulty = true
        return void response.socket?.resetAndDestroy()
      }
      response.write(part)
    }
    response.end()
  }

  async #pause(): Promise<void> {
    const { random, pauseMsMax } = this.options
    if (pauseMsMax > 0) await sleep(random(pauseMsMax))
  }
}

const JSON_TYPE = { 'content-type': 'application/json' }

function message({ serial, outputTokens }: Reply): object {
  return {
    id: `msg_${serial}`,
    type: 'message',
    role: 'assistant',
    model: 'upstream-name',
    content: [{ type: 'text', text: 'Xin chào' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: serial, output_tokens: outputTokens },
  }
}

function completion({ serial, outputTokens }: Reply): object {
  return {
    id: `chat_${serial}`,
    object: 'chat.completion',
    created: 1,
    model: 'upstream-name',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Xin chào' }, finish_reason: 'stop' }],
    usage: usageOf(serial, outputTokens),
  }
}

function usageOf(serial: number, outputTokens: number): object {
  return { prompt_tokens: serial, completion_tokens: outputTokens, total_tokens: serial + outputTokens }
}

interface Output {
  readonly events: number
  readonly text: string
}

function messageParts({ serial, outputTokens }: Reply, { events, text }: Output): string[] {
  const start = { id: `msg_${serial}`, model: 'upstream-name', content: [], usage: { input_tokens: serial } }
  return [
    messagesEvent({ type: 'message_start', message: { ...start, type: 'message', role: 'assistant' } }) +
      messagesEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...Array.from({ length: events }, () => textDelta(text)),
    messagesEvent({ type: 'content_block_stop', index: 0 }) +
      messagesEvent({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { input_tokens: serial, output_tokens: outputTokens },
      }) +
      messagesEvent({ type: 'message_stop' }),
  ]
}

function chunkParts({ serial, outputTokens }: Reply, { events, text }: Output): string[] {
  const chunk = (rest: object): string =>
    `data: ${JSON.stringify({ id: `chat_${serial}`, object: 'chat.completion.chunk', created: 1, model: 'upstream-name', ...rest })}\n\n`
  const delta = (content: object, finish_reason: string | null = null): string =>
    chunk({ choices: [{ index: 0, delta: content, finish_reason }] })
  return [
    delta({ role: 'assistant', content: '' }),
    ...Array.from({ length: events }, () => delta({ content: text })),
    `${delta({}, 'stop')}${chunk({ choices: [], usage: usageOf(serial, outputTokens) })}data: [DONE]\n\n`,
  ]
}
