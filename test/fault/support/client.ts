/** Makes calls as a client does, and records what the client observes. */

import { Agent, request } from 'undici'
import { prompt } from './oracle.ts'

export interface CallPlan {
  readonly url: string
  readonly gateway: string
  readonly apiKey: string
  readonly accountId: number
  readonly entryId: string
  readonly format: 'messages' | 'chat_completions'
  readonly streamed: boolean
  /** Part of the prompt. It must never appear outside the gateway and the provider. */
  readonly secret: string
  /** Whether the client disconnects after the first bytes of the reply. */
  readonly leaves?: boolean
  readonly maxTokens?: number
  /** How many events, with many tokens each, the reply should have; null for a short reply. */
  readonly longEvents?: number | null
}

/** What the client observed of a call. Times are milliseconds since 1970. */
export interface ClientCall {
  readonly gateway: string
  readonly accountId: number
  readonly entryId: string
  readonly startedAt: number
  endedAt: number
  /** The id in the reply's header; null if there was none. */
  callId: string | null
  /** HTTP status; 0 if none arrived. */
  status: number
  /** Whether the client received a whole reply without an error. */
  complete: boolean
  /**
   * The reply's unique number, which the provider reports as input tokens (see `oracle.ts`); null if the client did not see it.
   */
  serial: number | null
  /** Cost in the reply's header, in µVND; null for streams. */
  costMicroVnd: bigint | null
  left: boolean
  /** What went wrong, in one word; null if nothing did. */
  fault: string | null
}

export class Client {
  readonly calls: ClientCall[] = []
  readonly #agent: Agent
  readonly #timeoutMs: number

  /** `certificate` is the server's self-signed certificate, which the client will trust. */
  constructor({
    connections,
    timeoutMs,
    certificate,
  }: { connections: number; timeoutMs: number; certificate?: string }) {
    const connect = certificate === undefined ? {} : { ca: certificate }
    this.#agent = new Agent({ connections, pipelining: 1, keepAliveTimeout: 60_000, connect })
    this.#timeoutMs = timeoutMs
  }

  /** Makes a call and records it. Never rejects. */
  async call(plan: CallPlan): Promise<ClientCall> {
    const { gateway, accountId, entryId } = plan
    const call: ClientCall = {
      gateway,
      accountId,
      entryId,
      startedAt: Date.now(),
      endedAt: 0,
      callId: null,
      status: 0,
      complete: false,
      serial: null,
      costMicroVnd: null,
      left: false,
      fault: null,
    }
    this.calls.push(call)
    try {
      await this.#run(plan, call)
    } catch (error) {
      call.fault = (error as { code?: string }).code ?? (error as Error).name
    }
    call.endedAt = Date.now()
    return call
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  async #run(plan: CallPlan, call: ClientCall): Promise<void> {
    const messages = plan.format === 'messages'
    const content = prompt(plan.secret, plan)
    const body = {
      model: plan.entryId,
      max_tokens: plan.maxTokens ?? 50,
      messages: [{ role: 'user', content }],
      ...(plan.streamed && { stream: true, ...(!messages && { stream_options: { include_usage: true } }) }),
    }
    const reply = await request(plan.url + (messages ? '/v1/messages' : '/v1/chat/completions'), {
      method: 'POST',
      headers: { 'x-api-key': plan.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(this.#timeoutMs),
    })
    call.status = reply.statusCode
    call.callId = callIdOf(reply.headers['request-id'])
    const cost = reply.headers['x-svc-cost-vnd']
    if (typeof cost === 'string') call.costMicroVnd = microVndOf(cost)
    let text = ''
    for await (const chunk of reply.body as AsyncIterable<Buffer>) {
      text += chunk.toString('utf8')
      if (!plan.leaves) continue
      call.left = true
      // Destroying the body also closes the connection.
      reply.body.destroy()
      return
    }
    if (call.status !== 200) return
    const counted = [...text.matchAll(/"(?:input_tokens|prompt_tokens)":\s*(\d+)/g)].map(found => Number(found[1]))
    // A converted stream begins with an estimated token count; only the last count is the provider's.
    call.serial = counted.at(-1) ?? null
    call.complete = plan.streamed ? /event: message_stop|data: \[DONE\]/.test(text) : counted.length > 0
    if (!call.complete) call.fault = /"type":\s*"error"|"error":/.test(text) ? 'error event' : 'cut'
  }
}

/** Converts `req_…`, the id of a call without its hyphens, back to the id; null for anything else. */
export function callIdOf(header: string | string[] | undefined): string | null {
  const found = /^req_(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/.exec(String(header))
  return found === null ? null : found.slice(1).join('-')
}

export function microVndOf(text: string): bigint {
  const [whole, part = ''] = text.split('.') as [string, string?]
  return BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0'))
}
