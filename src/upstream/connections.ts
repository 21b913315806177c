/**
 * The connections to one upstream. Each carries one call at a time, and the one used last is used first. (A pool that
 * searches all connections for a free one slows down as more streams are open.)
 */

import { Client } from 'undici'

export interface Connection {
  readonly client: Client
  /** Calls using it: usually one; several queue up when all connections are taken. */
  calls: number
}

export interface ConnectionsOptions extends Client.Options {
  /** Most connections at a time. */
  readonly connectionsMax: number
}

export class Connections {
  readonly #origin: string
  readonly #options: Client.Options
  readonly #connectionsMax: number
  readonly #free: Connection[] = []
  readonly #all: Connection[] = []
  #next = 0

  constructor(origin: string, { connectionsMax, ...options }: ConnectionsOptions) {
    this.#origin = origin
    this.#options = options
    this.#connectionsMax = connectionsMax
  }

  /** Takes a connection for one call; `release` gives it back. */
  take(): Connection {
    const connection = this.#free.pop() ?? this.#another()
    connection.calls++
    return connection
  }

  /** Call it when the call is over, however it ended. A lost connection is reopened by its next call. */
  release(connection: Connection): void {
    connection.calls--
    if (connection.calls === 0) this.#free.push(connection)
  }

  async destroy(): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.destroy()))
  }

  /** A new connection, or one that is already in use, in rotation. */
  #another(): Connection {
    if (this.#all.length >= this.#connectionsMax) return this.#all[this.#next++ % this.#all.length] as Connection
    const connection = { client: new Client(this.#origin, this.#options), calls: 0 }
    this.#all.push(connection)
    return connection
  }
}
