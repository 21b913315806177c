/**
 * Helpers for tests of format conversion: a gateway with one scripted provider in place of every upstream, and functions that
 * write requests and streams in the Messages and Chat Completions formats.
 */

import { afterAll, beforeAll, beforeEach } from 'vitest'
import { TABLES } from '../../src/generated/tables.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { startTestGateway, type TestAccount, type TestGateway, type TestGatewayOptions } from './gateway.ts'
import {
  type Answer,
  end,
  json,
  type RecordedRequest,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  write,
} from './scripted-upstream.ts'
import { standardFirst } from './tables.ts'

export type Path = '/v1/messages' | '/v1/chat/completions'

export const CREDIT = 1_000_000n * 1_000_000n

export interface ConversionWorld {
  readonly running: TestGateway
  readonly provider: ScriptedUpstream
  /** A fresh account for each test. */
  account: TestAccount
  /** Sets what the provider replies from now on. */
  answer(answer: Answer | ((request: RecordedRequest) => Answer)): void
  /** Body of the latest request to the provider. */
  sent(): JsonObject
  call(
    path: Path | '/v1/responses',
    body: object,
    init?: { headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Response>
  /** The account's only usage row, with all its token counts. */
  row(): Promise<CallRow>
  spent(): Promise<bigint>
  /** Price per token in µVND, taken from the usage row of an earlier call. The entry must be priced by tokens. */
  priceOf(model: string): Promise<bigint>
  close(): Promise<void>
}

export interface CallRow {
  readonly entry: string
  readonly status: number
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
  readonly cost: bigint
  readonly charged: bigint
  readonly streamed: boolean
  readonly estimated: boolean
}

/** Starts one gateway for all tests of a file, with a fresh account for each test. Call it at the top of the file. */
export function useConversionWorld(): ConversionWorld {
  let world: ConversionWorld
  beforeAll(async () => {
    world = await startConversionWorld()
  })
  beforeEach(async () => {
    world.account = await world.running.account(CREDIT)
  })
  afterAll(() => world.close())
  return new Proxy({} as ConversionWorld, {
    get: (_, name) => Reflect.get(world, name),
    set: (_, name, value) => Reflect.set(world, name, value),
  })
}

export async function startConversionWorld(options: TestGatewayOptions = {}): Promise<ConversionWorld> {
  let scripted: Answer | ((request: RecordedRequest) => Answer) = json(599, { error: 'no answer was scripted' })
  const provider = await startScriptedUpstream(request =>
    typeof scripted === 'function' ? scripted(request) : scripted,
  )
  const ids = TABLES.upstreams.map(upstream => upstream.id).filter(id => !id.startsWith('aws-'))
  const running = await startTestGateway({
    ...options,
    tables: standardFirst(options.tables),
    upstreams: Object.fromEntries(ids.map(id => [id, `${provider.url}/${id}`])),
  })
  const world: ConversionWorld = {
    running,
    provider,
    account: await running.account(CREDIT),
    answer(next) {
      scripted = next
    },
    sent: () => provider.requests.at(-1)?.json() as JsonObject,
    call: (path, body, { headers = {}, signal } = {}) =>
      fetch(running.url + path, {
        method: 'POST',
        headers: { 'x-api-key': world.account.apiKey, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: signal ?? null,
      }),
    async row() {
      await running.usage(world.account.accountId)
      const rows = await running.database.sql`
        select entry_id as entry, status, input_tokens::int as input, output_tokens::int as output,
               cached_input_tokens::int as cached, reasoning_tokens::int as reasoning, cost_micro_vnd::text as cost,
               charged_micro_vnd::text as charged, streamed, estimated
          from usage where account_id = ${world.account.accountId}`
      if (rows.length !== 1) throw new Error(`the account has ${rows.length} usage rows, not one`)
      const row = rows[0] as unknown as CallRow
      return { ...row, cost: BigInt(row.cost), charged: BigInt(row.charged) }
    },
    async spent() {
      await running.usage(world.account.accountId)
      return CREDIT - (await running.balance(world.account.accountId))
    },
    async priceOf(model) {
      const [row] = await running.database.sql`
        select price_vnd::text as price from usage where entry_id = ${model} limit 1`
      return BigInt((row as unknown as { price: string }).price)
    },
    async close() {
      await running.close()
      await provider.close()
    },
  }
  return world
}

/** A request body that is valid in both the Messages and the Chat Completions format. */
export function question(model: string, extra: object = {}): object {
  return { model, max_tokens: 500, messages: [{ role: 'user', content: 'Thủ đô của Việt Nam?' }], ...extra }
}

export function chatText(...chunks: readonly (object | string)[]): string {
  return chunks.map(chunk => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`).join('')
}

export function messagesText(...events: readonly { readonly type?: string }[]): string {
  return events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

/** Answers with a stream that ends properly at the HTTP level, whatever its events say. */
export function streamOf(text: string, cutEvery?: number): Answer {
  return [sse(), write(text, cutEvery === undefined ? {} : { cutEvery }), end()]
}

/** Parses the events of a client's stream, with their names; `[DONE]` stays a string. */
export function eventsOf(text: string): { name: string; data: JsonObject | '[DONE]' }[] {
  return text
    .split('\n\n')
    .filter(block => block.includes('data: '))
    .map(block => {
      const data = block.slice(block.indexOf('data: ') + 6)
      const name = /^event: (.*)$/m.exec(block)?.[1] ?? ''
      return { name, data: data === '[DONE]' ? data : (JSON.parse(data) as JsonObject) }
    })
}
