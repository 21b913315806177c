/**
 * The connections to one upstream. Each carries one call at a time unless all are taken, and the one released last is taken
 * first. This takes the same time however many streams are open; a pool that searches its connections for a free one gets
 * slower.
 */

import { Client } from 'undici'

export interface Connection {
  readonly client: Client
  /** Number of calls that use the connection: 0 or 1, or more if all connections were taken. */
  calls: number
}

export interface ConnectionsOptions extends Client.Options {
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

  /** Takes a connection for one call; `release` must return it. */
  take(): Connection {
    const connection = this.#free.pop() ?? this.#another()
    connection.calls++
    return connection
  }

  /** Returns a connection at the end of its call, successful or not. If the connection was lost, the next call reopens it. */
  release(connection: Connection): void {
    connection.calls--
    if (connection.calls === 0) this.#free.push(connection)
  }

  async destroy(): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.destroy()))
  }

  /** Opens a new connection. At the limit, returns one that is in use instead, taking them in turn. */
  #another(): Connection {
    if (this.#all.length >= this.#connectionsMax) return this.#all[this.#next++ % this.#all.length] as Connection
    const connection = { client: new Client(this.#origin, this.#options), calls: 0 }
    this.#all.push(connection)
    return connection
  }
}
