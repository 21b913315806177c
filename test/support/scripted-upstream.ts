/**
 * A provider that does what a test tells it, on a real socket: complete answers, cut streams, silence, resets, garbage.
 *
 *   const upstream = await startScriptedUpstream([
 *     [head(429, { 'retry-after': '1' }), write('{"error":{}}'), end()],
 *     [sse(), write('data: {"a":"é"}\r\n\r\n', { cutEvery: 1 }), until(gate), reset()],
 *   ])
 *
 * Each answer is a list of steps. The first request gets the first answer, and so on. If the script is a function, it is called
 * for every request and returns the answer. Each `write`, or each part that it is cut into, reaches the client's HTTP parser as a
 * separate chunk.
 */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Step =
  | { readonly do: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly do: 'write'; readonly data: Uint8Array; readonly cuts: Cuts }
  | { readonly do: 'raw'; readonly data: Uint8Array }
  | { readonly do: 'pause'; readonly milliseconds: number }
  | { readonly do: 'until'; readonly promise: Promise<unknown> }
  | { readonly do: 'hang' | 'reset' | 'drop' | 'end' }
  | { readonly do: 'early' }

export interface Cuts {
  /** Byte positions at which to cut the data. */
  readonly cutAt?: readonly number[]
  /** Cuts the data into parts of this many bytes; 1 cuts inside every UTF-8 character and between CR and LF. */
  readonly cutEvery?: number
  /** Pause between the parts. */
  readonly pauseMs?: number
}

export type Answer = readonly Step[]
export type Script = readonly Answer[] | ((request: RecordedRequest, index: number) => Answer)

/** `finished`: the reply was sent as scripted. `aborted`: the client left. `broken`: the script itself cut the connection. */
export type Outcome = 'finished' | 'aborted' | 'broken'

export interface RecordedRequest {
  readonly method: string
  /** Path of the request, including its query string. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The request's whole body; empty if the answer begins with `early`. */
  readonly body: Buffer
  /** The request's body as JSON; throws if it is not JSON. */
  json(): unknown
  /** Settles when the exchange is over; `aborted` means that the gateway gave up. */
  readonly outcome: Promise<Outcome>
}

export interface ScriptedUpstream {
  readonly url: string
  readonly requests: readonly RecordedRequest[]
  /** Number of sockets opened so far; shows whether connections are reused. */
  readonly connections: number
  /** Resolves when this many requests have arrived; rejects after a minute. */
  received(count: number): Promise<void>
  /** Closes the server, including hung answers. */
  close(): Promise<void>
}

/** Sends the status line and headers. Without this step, the first `write` sends 200 and no headers. */
export function head(status: number, headers: Readonly<Record<string, string>> = {}): Step {
  return { do: 'head', status, headers }
}

/** Sends the head of a successful event stream. */
export function sse(headers: Readonly<Record<string, string>> = {}): Step {
  return head(200, { 'content-type': 'text/event-stream', ...headers })
}

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return [head(status, { 'content-type': 'application/json', ...headers }), write(JSON.stringify(body)), end()]
}

export function write(data: string | Uint8Array, cuts: Cuts = {}): Step {
  return { do: 'write', data: typeof data === 'string' ? Buffer.from(data) : data, cuts }
}

/** Writes raw bytes, for answers that are not HTTP. Must come before any `head` or `write`. */
export function raw(data: string | Uint8Array): Step {
  return { do: 'raw', data: typeof data === 'string' ? Buffer.from(data) : data }
}

export function pause(milliseconds: number): Step {
  return { do: 'pause', milliseconds }
}

/** Waits until the test resolves (or rejects) the promise. */
export function until(promise: Promise<unknown>): Step {
  return { do: 'until', promise }
}

/** Stays silent until the client leaves or the upstream is closed. */
export function hang(): Step {
  return { do: 'hang' }
}

/** Sends RST, before or after the head: the client sees ECONNRESET. */
export function reset(): Step {
  return { do: 'reset' }
}

/** Sends FIN in the middle of a reply, so that its body is incomplete at the HTTP level. */
export function drop(): Step {
  return { do: 'drop' }
}

/** Ends the body properly at the HTTP level, whatever its events say. */
export function end(): Step {
  return { do: 'end' }
}

/** Answers without reading the request's body. Must be the first step. */
export function early(): Step {
  return { do: 'early' }
}

/** How long `received` waits; enough for a busy machine. */
const RECEIVE_TIMEOUT_MS = 60_000

export async function startScriptedUpstream(script: Script): Promise<ScriptedUpstream> {
  const requests: RecordedRequest[] = []
  const closing = new AbortController()
  const waiters = new Set<() => void>()
  let connections = 0
  const server = createServer({ keepAliveTimeout: 30_000 }, (request, response) => {
    void answer(request, response)
  })
  server.on('connection', socket => {
    connections += 1
    socket.setNoDelay(true)
    socket.on('error', () => {})
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
    const left = new AbortController()
    let isBroken = false
    response.on('close', () => {
      resolve(response.writableFinished ? 'finished' : isBroken ? 'broken' : 'aborted')
      left.abort()
    })
    const index = requests.length
    const listed = typeof script === 'function' ? null : (script[index] ?? beyond(index))
    const body = listed?.[0]?.do === 'early' ? Buffer.alloc(0) : await readBody(request)
    const recorded = recordOf(request, body, outcome)
    requests.push(recorded)
    for (const wake of waiters) wake()
    const steps = listed ?? (script as (request: RecordedRequest, index: number) => Answer)(recorded, index)
    const signal = AbortSignal.any([left.signal, closing.signal])
    for (const step of steps) {
      if (signal.aborted) return
      if (step.do === 'reset' || step.do === 'drop' || step.do === 'raw') isBroken = true
      await perform(step, response, signal)
    }
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get connections() {
      return connections
    },
    received: count => waitFor(() => requests.length >= count, waiters, `${count} requests`),
    close: () =>
      new Promise(resolve => {
        closing.abort()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function perform(step: Step, response: ServerResponse, signal: AbortSignal): Promise<void> {
  switch (step.do) {
    case 'early':
      return
    case 'head':
      response.writeHead(step.status, step.headers)
      response.flushHeaders()
      return
    case 'write':
      for (const part of cutUp(step.data, step.cuts)) {
        if (signal.aborted) return
        response.write(part)
        await (step.cuts.pauseMs === undefined ? new Promise(setImmediate) : rest(step.cuts.pauseMs, signal))
      }
      return
    case 'raw':
      response.socket?.write(step.data)
      return
    case 'pause':
      return rest(step.milliseconds, signal)
    case 'until':
      await Promise.race([step.promise.catch(() => {}), aborted(signal)])
      return
    case 'hang':
      return aborted(signal)
    case 'reset':
      await drained(response)
      response.socket?.resetAndDestroy()
      return
    case 'drop':
      await drained(response)
      response.socket?.end()
      response.socket?.destroySoon()
      return
    case 'end':
      response.end()
      return
  }
}

/** Waits until written data has left this process, so that a fault that the script causes next cannot discard it. */
async function drained(response: ServerResponse): Promise<void> {
  for (let turn = 0; turn < 100 && (response.socket?.writableLength ?? 0) > 0; turn += 1) await rest(1)
  await rest(20)
}

async function rest(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => {})
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function cutUp(data: Uint8Array, { cutAt, cutEvery }: Cuts): Uint8Array[] {
  const positions = cutAt ?? []
  const every =
    cutEvery === undefined
      ? []
      : Array.from({ length: Math.floor((data.length - 1) / cutEvery) }, (_, at) => (at + 1) * cutEvery)
  const inner = [...positions, ...every].filter(position => position > 0 && position < data.length)
  const edges = [0, ...inner.sort((left, right) => left - right), data.length]
  return edges.slice(1).map((edge, index) => data.subarray(edges[index], edge))
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  } catch {
    // The client left while sending; keep what has arrived.
  }
  return Buffer.concat(chunks)
}

function recordOf(request: IncomingMessage, body: Buffer, outcome: Promise<Outcome>): RecordedRequest {
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body,
    json: () => JSON.parse(body.toString('utf8')) as unknown,
    outcome,
  }
}

/** Answers with a status that no provider sends, so that a test whose script is too short fails clearly. */
function beyond(index: number): Answer {
  return json(599, {
    error: { message: `the script has no answer for request ${index + 1}`, type: 'script_exhausted' },
  })
}

function waitFor(isDone: () => boolean, waiters: Set<() => void>, what: string): Promise<void> {
  if (isDone()) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waiters.delete(wake)
      reject(new Error(`${what} did not arrive within ${RECEIVE_TIMEOUT_MS} ms`))
    }, RECEIVE_TIMEOUT_MS)
    const wake = () => {
      if (!isDone()) return
      clearTimeout(timer)
      waiters.delete(wake)
      resolve()
    }
    waiters.add(wake)
  })
}
