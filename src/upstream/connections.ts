/**
 * The connections to one upstream. Each carries one call at a time, and the one used last is taken first. (A pool that searches
 * all its connections for a free one gets slower the more streams are open.)
 */

import { Client } from 'undici'

export interface Connection {
  readonly client: Client
  /** Number of calls using the connection: usually one, more when all connections were taken. */
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

  /** Returns a connection when its call is over, however that ended. If the connection was lost, the next call opens it again. */
  release(connection: Connection): void {
    connection.calls--
    if (connection.calls === 0) this.#free.push(connection)
  }

  async destroy(): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.destroy()))
  }

  /** Opens a new connection. At the limit, returns one that is in use instead, a different one each time. */
  #another(): Connection {
    if (this.#all.length >= this.#connectionsMax) return this.#all[this.#next++ % this.#all.length] as Connection
    const connection = { client: new Client(this.#origin, this.#options), calls: 0 }
    this.#all.push(connection)
    return connection
  }
}
