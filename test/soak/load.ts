/** Makes calls of every kind at a steady rate: all formats, streamed or not, converted or not, pictures, speech, faults. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { callIdOf, microVndOf } from '../fault/support/client.ts'
import type { Customer } from '../fault/support/customers.ts'
import type { GatewayProcess } from '../fault/support/gateways.ts'
import type { Random } from '../support/random.ts'

interface Kind {
  readonly path: string
  readonly body: (prompt: string) => object
  /** Text that only a complete reply contains. */
  readonly end: RegExp
}

/** The model whose price changes during the run. */
export const REPRICED_MODEL = 'gpt-5.5'
const CHAT = [REPRICED_MODEL, 'deepseek-v4-flash', 'claude-opus-5']
const MESSAGES = ['claude-opus-5', 'svc/claude-opus-5', REPRICED_MODEL]
const RESPONSES = [REPRICED_MODEL, 'gemini-3.5-flash']
const TURN = (content: string) => [{ role: 'user', content }]

const KINDS: readonly Kind[] = [
  ...CHAT.flatMap(model => [
    {
      path: '/v1/chat/completions',
      body: (prompt: string) => ({ model, max_tokens: 400, messages: TURN(prompt) }),
      end: /"finish_reason":\s*"/,
    },
    {
      path: '/v1/chat/completions',
      body: (prompt: string) => ({ model, max_tokens: 400, stream: true, messages: TURN(prompt) }),
      end: /data: \[DONE\]/,
    },
  ]),
  ...MESSAGES.flatMap(model => [
    {
      path: '/v1/messages',
      body: (prompt: string) => ({ model, max_tokens: 400, messages: TURN(prompt) }),
      end: /"stop_reason":\s*"/,
    },
    {
      path: '/v1/messages',
      body: (prompt: string) => ({ model, max_tokens: 400, stream: true, messages: TURN(prompt) }),
      end: /event: message_stop/,
    },
  ]),
  ...RESPONSES.flatMap(model => [
    {
      path: '/v1/responses',
      body: (prompt: string) => ({ model, input: prompt, store: false }),
      end: /"status":\s*"completed"/,
    },
    {
      path: '/v1/responses',
      body: (prompt: string) => ({ model, input: prompt, store: false, stream: true }),
      end: /event: response\.completed/,
    },
  ]),
  {
    path: '/v1/images/generations',
    body: prompt => ({ model: 'req/gpt-image-2', prompt, size: '256x256' }),
    end: /"b64_json"/,
  },
  {
    path: '/v1/audio/speech',
    body: prompt => ({ model: 'req/gpt-4o-mini-tts', input: prompt, voice: 'alloy', response_format: 'mp3' }),
    end: /^/,
  },
]

/** The `sandbox:` words with which prompts make the sandbox fail. */
const FAULTS = ['error=500', 'error=503', 'reset', 'cut', 'cut=reset', 'garbage', 'slow=40', 'error-event', 'html']

export interface SoakCall {
  readonly gateway: string
  readonly startedAt: number
  /** Fault that the provider was asked for; null for none. */
  readonly asked: string | null
  endedAt: number
  callId: string | null
  /** HTTP status; 0 if the connection broke. */
  status: number
  complete: boolean
  /** The cost in the reply's headers; null for streams. */
  costMicroVnd: bigint | null
  /** What went wrong, in a few words; null for a whole reply. */
  fault: string | null
}

export interface LoadOptions {
  readonly gateways: readonly GatewayProcess[]
  /** Gateways that a load balancer would not choose at the moment. */
  readonly avoided: ReadonlySet<GatewayProcess>
  readonly customers: readonly Customer[]
  readonly random: Random
  readonly ratePerSecond: number
  /** How many calls in a thousand ask the provider to fail. */
  readonly faultsPerMille: number
  /** Part of every call's prompt, which must never be seen elsewhere. */
  readonly secret: string
}

const TIMEOUT_MS = 60_000
/** Maximum number of calls in flight. Further ones are skipped: the machine is behind, and more calls would not help. */
const CALLS_MAX = 200

export class Load {
  readonly calls: SoakCall[] = []
  readonly #options: LoadOptions
  readonly #agent = new Agent({ connections: CALLS_MAX, pipelining: 1, keepAliveTimeout: 4_000 })
  readonly #open = new Set<Promise<void>>()
  #running = true
  #skipped = 0

  constructor(options: LoadOptions) {
    this.#options = options
  }

  get skipped(): number {
    return this.#skipped
  }

  /** Makes calls until `stop`; resolves when the last of them has ended. */
  async run(): Promise<void> {
    const { gateways, avoided, ratePerSecond } = this.#options
    const startedMs = performance.now()
    for (let number = 0; this.#running; number++) {
      await sleep(Math.max(0, startedMs + (number / ratePerSecond) * 1000 - performance.now()))
      const ready = gateways.filter(gateway => gateway.ready && !avoided.has(gateway))
      if (ready.length === 0 || this.#open.size >= CALLS_MAX) {
        this.#skipped++
        continue
      }
      const call = this.#call(this.#pick(ready)).finally(() => this.#open.delete(call))
      this.#open.add(call)
    }
    await Promise.all(this.#open)
    await this.#agent.close()
  }

  stop(): void {
    this.#running = false
  }

  async #call(gateway: GatewayProcess): Promise<void> {
    const { customers, random, faultsPerMille, secret } = this.#options
    const asked = random(1000) < faultsPerMille ? this.#pick(FAULTS) : null
    const call: SoakCall = {
      gateway: gateway.name,
      startedAt: Date.now(),
      asked,
      endedAt: 0,
      callId: null,
      status: 0,
      complete: false,
      costMicroVnd: null,
      fault: null,
    }
    this.calls.push(call)
    const prompt = `${secret} ${asked === null ? `sandbox:tokens=${5 + random(150)}` : `sandbox:${asked}`}`
    try {
      await this.#ask(call, { url: gateway.url, apiKey: this.#pick(customers).apiKey, kind: this.#pick(KINDS), prompt })
    } catch (error) {
      call.fault = (error as { code?: string }).code ?? (error as Error).name
    }
    call.endedAt = Date.now()
  }

  async #ask(
    call: SoakCall,
    { url, apiKey, kind, prompt }: { url: string; apiKey: string; kind: Kind; prompt: string },
  ): Promise<void> {
    const reply = await request(url + kind.path, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(kind.body(prompt)),
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    call.status = reply.statusCode
    call.callId = callIdOf(reply.headers['request-id'])
    const cost = reply.headers['x-svc-cost-vnd']
    if (typeof cost === 'string') call.costMicroVnd = microVndOf(cost)
    const text = await reply.body.text()
    call.complete = call.status === 200 && kind.end.test(text)
    if (!call.complete) call.fault = /"(?:code|type)":\s*"(?!error")(\w+)"/.exec(text)?.[1] ?? 'cut'
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#options.random(items.length)] as Item
  }
}
