/**
 * Load generator in Node, used if there is no C compiler; `native/load.c` does the same at lower cost. Each client makes one
 * call after another on its own socket: it sends a prepared buffer and parses only enough of the reply to find its end.
 */

import { connect, type Socket } from 'node:net'

export interface Target {
  readonly url: string
  readonly path: string
  /** Null makes the request a GET. */
  readonly body: Buffer | null
  readonly apiKey: string
  /** Text that the last event of a complete stream contains; left out if the reply is not streamed. */
  readonly mark?: string | null
}

/** A request ready to be sent. */
export interface Call {
  readonly bytes: Buffer
  /** Text that the last event of a complete stream contains; null if the reply is not streamed. */
  readonly mark: string | null
}

/** Generates load on one address. Rejects if a reply does not have status 200, is incomplete, or is a stream without `mark`. */
export interface LoadGenerator {
  /**
   * Keeps `concurrency` calls in flight for `milliseconds`; resolves when the last call has ended. Spreads the start of the
   * first `concurrency` calls evenly over `spreadMs`.
   */
  drive(
    call: Call,
    options: { readonly concurrency: number; readonly milliseconds: number; readonly spreadMs?: number },
  ): Promise<{ readonly calls: number; readonly seconds: number }>
  /**
   * Makes calls at a fixed rate, whether or not earlier calls have ended. Resolves with the latency of each call in
   * milliseconds, counted from when the call was due.
   */
  pace(call: Call, options: { readonly perSecond: number; readonly milliseconds: number }): Promise<number[]>
  close(): Promise<void>
}

const HEAD_END = '\r\n\r\n'
const CHUNKED_END = '\r\n0\r\n\r\n'
/** Number of bytes kept from the end of a chunked reply, to look for its mark. */
const TAIL_BYTES = 16_384

/** A client with one connection, on which it makes one call at a time. */
export class Client {
  readonly #url: string
  #socket: Socket
  #head = ''
  #headDone = false
  #left = 0
  #isChunked = false
  #mark: string | null = null
  #tail: Buffer[] = []
  #tailBytes = 0
  #finish: ((error: Error | null) => void) | null = null

  constructor(url: string) {
    this.#url = url
    this.#socket = this.#connect()
  }

  #connect(): Socket {
    const { hostname, port } = new URL(this.#url)
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    socket.on('data', chunk => this.#read(chunk as Buffer))
    socket.on('error', error => this.#end(error))
    socket.on('close', () => this.#end(new Error('the connection was closed')))
    return socket
  }

  /** Makes a call; resolves when the reply is complete. Rejects if its status is not 200 or a stream lacks its mark. */
  call({ bytes, mark }: Call): Promise<void> {
    this.#mark = mark
    this.#head = ''
    this.#headDone = false
    this.#tail = []
    this.#tailBytes = 0
    // The server may have closed the idle connection while other servers were measured.
    if (this.#socket.destroyed) this.#socket = this.#connect()
    return new Promise((resolve, reject) => {
      this.#finish = error => (error === null ? resolve() : reject(error))
      this.#socket.write(bytes)
    })
  }

  /** Sends a call; resolves when the reply has begun. */
  open({ bytes }: Call): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#finish = error => error && reject(error)
      this.#socket.once('data', () => resolve())
      this.#socket.write(bytes)
    })
  }

  close(): void {
    this.#finish = null
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    let body = chunk
    if (!this.#headDone) {
      const text = this.#head + chunk.toString('latin1')
      const end = text.indexOf(HEAD_END)
      if (end < 0) {
        this.#head = text
        return
      }
      body = chunk.subarray(end + HEAD_END.length - this.#head.length)
      this.#readHead(text.slice(0, end))
    }
    if (this.#isChunked) this.#keepTail(body)
    if (this.#isChunked) {
      if (this.#endsWith(CHUNKED_END)) this.#end(this.#verdict())
      return
    }
    this.#left -= body.length
    if (this.#left <= 0) this.#end(this.#verdict())
  }

  #readHead(head: string): void {
    this.#headDone = true
    this.#head = head
    this.#isChunked = /transfer-encoding: chunked/i.test(head)
    this.#left = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
  }

  #keepTail(body: Buffer): void {
    if (body.length >= TAIL_BYTES) {
      this.#tail = [body.subarray(body.length - TAIL_BYTES)]
      this.#tailBytes = TAIL_BYTES
      return
    }
    this.#tail.push(body)
    this.#tailBytes += body.length
    while (this.#tailBytes - (this.#tail[0]?.length ?? 0) >= TAIL_BYTES) {
      this.#tailBytes -= (this.#tail.shift() as Buffer).length
    }
  }

  #endsWith(end: string): boolean {
    const last = this.#tail.at(-1)
    if (last === undefined) return false
    if (last.length >= end.length) return last.subarray(last.length - end.length).toString('latin1') === end
    return Buffer.concat(this.#tail).toString('latin1').endsWith(end)
  }

  #verdict(): Error | null {
    if (!this.#head.startsWith('HTTP/1.1 200')) return new Error(`not a good reply: ${this.#head}`)
    if (this.#mark === null) return null
    const tail = Buffer.concat(this.#tail).toString('latin1')
    return tail.includes(this.#mark) ? null : new Error(`a stream ended early: ${tail}`)
  }

  #end(error: Error | null): void {
    const finish = this.#finish
    this.#finish = null
    finish?.(error)
  }
}

export function callOf({ url, path, body, apiKey, mark = null }: Target): Call {
  const head = [
    `${body === null ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    `x-api-key: ${apiKey}`,
    'accept: */*',
    'user-agent: bench',
    ...(body === null ? [] : ['content-type: application/json', `content-length: ${body.length}`]),
  ]
  return { bytes: Buffer.concat([Buffer.from(`${head.join('\r\n')}${HEAD_END}`), body ?? Buffer.alloc(0)]), mark }
}

export class NodeLoadGenerator implements LoadGenerator {
  readonly #clients: Client[] = []
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async drive(
    call: Call,
    { concurrency, milliseconds, spreadMs = 0 }: Parameters<LoadGenerator['drive']>[1],
  ): ReturnType<LoadGenerator['drive']> {
    const begun = performance.now()
    let calls = 0
    const work = async (client: Client, index: number) => {
      if (spreadMs > 0) await sleep((index * spreadMs) / concurrency)
      do {
        await client.call(call)
        calls++
      } while (performance.now() < begun + milliseconds)
    }
    await Promise.all(this.#take(concurrency).map(work))
    return { calls, seconds: (performance.now() - begun) / 1000 }
  }

  async pace(call: Call, { perSecond, milliseconds }: Parameters<LoadGenerator['pace']>[1]): Promise<number[]> {
    const free = this.#take(Math.min(64, perSecond)).slice()
    const taken: number[] = []
    const running: Promise<void>[] = []
    const start = performance.now()
    const total = Math.floor((perSecond * milliseconds) / 1000)
    for (let index = 0; index < total; index++) {
      const due = start + (index * 1000) / perSecond
      if (due > performance.now()) await sleep(due - performance.now())
      const client = free.pop() ?? new Client(this.#url)
      const done = client.call(call).then(() => {
        taken.push(performance.now() - due)
        free.push(client)
      })
      running.push(done)
    }
    await Promise.all(running)
    this.#clients.push(...free.filter(client => !this.#clients.includes(client)))
    return taken
  }

  async close(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.close()
  }

  #take(count: number): Client[] {
    while (this.#clients.length < count) this.#clients.push(new Client(this.#url))
    return this.#clients.slice(0, count)
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
