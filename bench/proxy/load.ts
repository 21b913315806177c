/**
 * Clients on plain sockets, so that the load costs far less than what is measured: a request is one prepared piece of bytes,
 * and of a reply only what says where it ends is read. Each client makes one call after the other on its own connection.
 */

import { connect, type Socket } from 'node:net'

export interface Target {
  readonly url: string
  readonly path: string
  /** Null: a GET. */
  readonly body: Buffer | null
  readonly apiKey: string
}

const HEAD_END = '\r\n\r\n'
const CHUNKED_END = '\r\n0\r\n\r\n'
/** Bytes of a reply's end that are kept, to see that a stream ended well. */
const TAIL_BYTES = 512

/** One connection with one call at a time. */
export class Client {
  readonly #url: string
  #socket: Socket
  #head = ''
  #headDone = false
  #left = 0
  #isChunked = false
  #isStream = false
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

  /** Resolves when the whole reply has come. Rejects for a status other than 200 and for a stream that did not end well. */
  call(request: Buffer): Promise<void> {
    this.#head = ''
    this.#headDone = false
    this.#tail = []
    this.#tailBytes = 0
    // A server closes a connection that was idle while others had their turns.
    if (this.#socket.destroyed) this.#socket = this.#connect()
    return new Promise((resolve, reject) => {
      this.#finish = error => (error === null ? resolve() : reject(error))
      this.#socket.write(request)
    })
  }

  /** Sends a call and resolves when the reply has begun. */
  open(request: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#finish = error => error && reject(error)
      this.#socket.once('data', () => resolve())
      this.#socket.write(request)
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
    if (this.#isStream || this.#isChunked) this.#keepTail(body)
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
    this.#isStream = head.includes('text/event-stream')
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
    if (!this.#isStream) return null
    const tail = Buffer.concat(this.#tail).toString('latin1')
    return /message_stop|\[DONE\]/.test(tail) ? null : new Error(`a stream broke off: ${tail}`)
  }

  #end(error: Error | null): void {
    const finish = this.#finish
    this.#finish = null
    finish?.(error)
  }
}

export function requestBytes({ url, path, body, apiKey }: Target): Buffer {
  const head = [
    `${body === null ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    `x-api-key: ${apiKey}`,
    'accept: */*',
    'user-agent: bench',
    ...(body === null ? [] : ['content-type: application/json', `content-length: ${body.length}`]),
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}${HEAD_END}`), body ?? Buffer.alloc(0)])
}

export class Load {
  readonly #clients: Client[] = []
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** `concurrency` calls at once, each followed by the next, for a time; resolves with how many finished. */
  async drive(
    request: Buffer,
    options: { readonly concurrency: number; readonly milliseconds: number },
  ): Promise<number> {
    const until = performance.now() + options.milliseconds
    let calls = 0
    const work = async (client: Client) => {
      do {
        await client.call(request)
        calls++
      } while (performance.now() < until)
    }
    await Promise.all(this.#take(options.concurrency).map(work))
    return calls
  }

  /** Calls at a fixed rate whether or not earlier ones have ended; resolves with the milliseconds of each. */
  async pace(
    request: Buffer,
    { perSecond, milliseconds }: { readonly perSecond: number; readonly milliseconds: number },
  ): Promise<number[]> {
    const free = this.#take(Math.min(64, perSecond)).slice()
    const taken: number[] = []
    const running: Promise<void>[] = []
    const start = performance.now()
    const total = Math.floor((perSecond * milliseconds) / 1000)
    for (let index = 0; index < total; index++) {
      const wait = start + (index * 1000) / perSecond - performance.now()
      if (wait > 0) await new Promise(resolve => setTimeout(resolve, wait))
      const client = free.pop()
      if (client === undefined) continue
      const begun = performance.now()
      const done = client.call(request).then(() => {
        taken.push(performance.now() - begun)
        free.push(client)
      })
      running.push(done)
    }
    await Promise.all(running)
    return taken
  }

  close(): void {
    for (const client of this.#clients.splice(0)) client.close()
  }

  #take(count: number): Client[] {
    while (this.#clients.length < count) this.#clients.push(new Client(this.#url))
    return this.#clients.slice(0, count)
  }
}
