/**
 * Makes continuous calls to a gateway, streamed or not, on kept-alive and new connections, and records each outcome. The
 * provider's streams take a few hundred milliseconds, so some are open at any time.
 */

import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'

export const LOAD_MODEL = 'gpt-5.5'
const INPUT_TOKENS = 600
const OUTPUT_TOKENS = 100
export const LOAD_TOKENS = INPUT_TOKENS + OUTPUT_TOKENS
const USAGE = { prompt_tokens: INPUT_TOKENS, completion_tokens: OUTPUT_TOKENS, total_tokens: LOAD_TOKENS }
const EVENTS = 10
const BODIES = [true, false].map(stream =>
  JSON.stringify({ model: LOAD_MODEL, stream, messages: [{ role: 'user', content: 'x' }] }),
)

function event(choices: readonly object[], more: object = {}): string {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: LOAD_MODEL, choices, ...more })}\n\n`
}

/**
 * Starts a provider that speaks Chat Completions and replies within `streamMs` or, if not streamed, `wholeMs`. Returns its base
 * URL.
 */
export async function startLoadProvider({ streamMs = 400, wholeMs = 20 } = {}) {
  const whole = JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    model: LOAD_MODEL,
    choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
    usage: USAGE,
  })
  const server = createServer(async (incoming, response) => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    if (!(JSON.parse(body) as { stream?: boolean }).stream) {
      await sleep(wholeMs)
      return response.writeHead(200, { 'content-type': 'application/json' }).end(whole)
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let index = 0; index < EVENTS; index++) {
      response.write(event([{ index: 0, delta: { content: 'x' }, finish_reason: null }]))
      await sleep(streamMs / EVENTS)
    }
    response.write(event([{ index: 0, delta: {}, finish_reason: 'stop' }]))
    response.write(event([], { usage: USAGE }))
    response.end('data: [DONE]\n\n')
  })
  server.keepAliveTimeout = 0
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

export interface LoadOptions {
  readonly url: string
  readonly apiKey: string
  /** Number of concurrent calls. */
  readonly callers: number
  /** Target number of calls per second; by default, as many as possible. */
  readonly rate?: number
}

export interface LoadResult {
  readonly calls: number
  readonly streams: number
  /** Failures, each with the time since the start; empty if no call failed and every stream reached its end. */
  readonly failures: readonly string[]
  readonly seconds: number
  /** Median latency of non-streamed calls, in ms. */
  readonly p50: number
  /** 99th percentile of the same latencies. */
  readonly p99: number
}

/** Makes calls until `stop` is called, which resolves when the last call has ended. */
export function startLoad({ url, apiKey, callers, rate }: LoadOptions): {
  calls(): number
  stop(): Promise<LoadResult>
} {
  const agent = new Agent({ connections: callers, pipelining: 1 })
  const failures: string[] = []
  const latencies: number[] = []
  const startedMs = performance.now()
  let [calls, streams, begun, stopped] = [0, 0, 0, false]
  const one = async (number: number): Promise<void> => {
    const stream = number % 2 === 0
    const body = BODIES[stream ? 0 : 1] as string
    const beganMs = performance.now()
    const fresh = number % 4 >= 2
    try {
      const { status, text } = await (fresh ? onNewConnection(url, apiKey, body) : onAgent(agent, url, apiKey, body))
      const isWhole = stream ? text.endsWith('data: [DONE]\n\n') : text.includes('"total_tokens":700')
      if (status !== 200 || !isWhole) throw new Error(`${status} ${text.slice(-200)}`)
      if (!stream) latencies.push(performance.now() - beganMs)
      calls++
      if (stream) streams++
    } catch (error) {
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(2)
      const kind = `${stream ? 'stream' : 'whole'} on a ${fresh ? 'new' : 'kept'} connection`
      failures.push(`${seconds} s, ${kind}: ${error} ${String((error as Error).cause ?? '')}`)
    }
  }
  const caller = async (): Promise<void> => {
    while (!stopped) {
      const number = begun++
      if (rate !== undefined) await sleep(Math.max(0, startedMs + (number / rate) * 1000 - performance.now()))
      if (!stopped) await one(number)
    }
  }
  const done = Promise.all(Array.from({ length: callers }, caller))
  const end = async (): Promise<LoadResult> => {
    stopped = true
    await done
    await agent.close()
    const sorted = latencies.toSorted((a, b) => a - b)
    const quantile = (share: number) => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10
    const seconds = (performance.now() - startedMs) / 1000
    return { calls, streams, failures, seconds, p50: quantile(0.5), p99: quantile(0.99) }
  }
  let ending: Promise<LoadResult> | null = null
  return {
    calls: () => calls,
    stop() {
      ending ??= end()
      return ending
    },
  }
}

interface Reply {
  readonly status: number
  readonly text: string
}

async function onAgent(agent: Agent, url: string, apiKey: string, body: string): Promise<Reply> {
  const headers = { authorization: `Bearer ${apiKey}` }
  const reply = await request(`${url}/v1/chat/completions`, { method: 'POST', headers, body, dispatcher: agent })
  return { status: reply.statusCode, text: await reply.body.text() }
}

/** Makes a call on a new socket; returns the raw reply, and its body without chunked encoding. */
function onNewConnection(url: string, apiKey: string, body: string): Promise<Reply> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', data => {
      text += data
    })
    socket.on('error', reject)
    socket.on('connect', () =>
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${apiKey}\r\n` +
          `connection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      ),
    )
    socket.on('close', () => {
      const [head = '', ...rest] = text.split('\r\n\r\n')
      const payload = rest.join('\r\n\r\n')
      const isChunked = /^transfer-encoding: chunked\r?$/im.test(head)
      if (isChunked && !payload.endsWith('0\r\n\r\n')) return reject(new Error(`a cut reply: ${text.slice(-200)}`))
      const decoded = isChunked ? payload.replace(/(^|\r\n)[0-9a-f]+\r\n/g, '').replace(/\r\n$/, '') : payload
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), text: decoded })
    })
  })
}
