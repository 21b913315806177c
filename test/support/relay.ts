/** A TCP relay between gateways and Postgres. It simulates network faults, and can switch to another server. */

import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from './program.ts'

/**
 * `open` passes everything on. `silent`: connections stay open but nothing arrives, in either direction, as if a cable were
 * unplugged. `reset`: every connection is reset, including new ones.
 */
export type RelayState = 'open' | 'silent' | 'reset'

interface Pair {
  readonly near: Socket
  readonly far: Socket
}

export class Relay {
  readonly port: number
  #target: number
  #state: RelayState = 'open'
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  readonly #stranded = new Set<Socket>()
  /** All open sockets, including those whose other side has closed. */
  readonly #sockets = new Set<Socket>()

  private constructor(port: number, target: number) {
    this.port = port
    this.#target = target
    this.#server = createServer(near => this.#accept(near))
  }

  static async start(target: number): Promise<Relay> {
    const relay = new Relay(await freePort(), target)
    await new Promise<void>(resolve => relay.#server.listen(relay.port, '127.0.0.1', resolve))
    return relay
  }

  get connections(): number {
    return this.#pairs.size
  }

  set(state: RelayState): void {
    this.#state = state
    if (state === 'reset') this.#cut()
    if (state === 'silent') {
      for (const { near, far } of this.#pairs) {
        near.pause()
        far.pause()
      }
    }
    if (state !== 'open') return
    // Paused connections continue. Clients that connected during the silence must connect again.
    for (const { near, far } of this.#pairs) {
      near.resume()
      far.resume()
    }
    for (const socket of this.#stranded) socket.resetAndDestroy()
  }

  /** Switches to another server, and cuts connections to the old one. */
  moveTo(target: number): void {
    this.leadTo(target)
    this.#cut()
  }

  /** Sends new connections to another server, like a changed DNS record. Open connections stay where they are. */
  leadTo(target: number): void {
    this.#target = target
  }

  async close(): Promise<void> {
    // A paused socket would never see the end of its connection.
    for (const socket of this.#sockets) socket.destroy()
    await new Promise(resolve => this.#server.close(resolve))
  }

  #cut(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy()
      far.resetAndDestroy()
    }
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #accept(near: Socket): void {
    near.on('error', () => {})
    this.#track(near)
    if (this.#state === 'reset') return void near.resetAndDestroy()
    if (this.#state === 'silent') {
      this.#stranded.add(near)
      near.on('close', () => this.#stranded.delete(near))
      return void near.pause()
    }
    near.setNoDelay(true)
    const far = connect({ port: this.#target, host: '127.0.0.1', noDelay: true })
    this.#track(far)
    const pair = { near, far }
    this.#pairs.add(pair)
    far.on('error', () => near.resetAndDestroy())
    near.on('error', () => far.resetAndDestroy())
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', chunk => {
        if (!to.write(chunk)) from.pause()
      })
      to.on('drain', () => {
        if (this.#state !== 'silent') from.resume()
      })
      from.on('close', () => {
        this.#pairs.delete(pair)
        to.end()
      })
    }
  }
}
