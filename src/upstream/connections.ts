/**
 * The connections to one upstream: each carries one call at a time, and the one that was used last is used first. A pool
 * that looks for a free connection among all of them takes the longer the more streams are open.
 */

import { Client } from 'undici'

export interface Connection {
  readonly client: Client
  /** Calls that have taken it and not given it back: one, or more that wait behind it while there are no others. */
  calls: number
}

export interface ConnectionsOptions extends Client.Options {
  /** Most of them at the same time. */
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

  /** A connection for one call; it goes back by `release`. */
  take(): Connection {
    const connection = this.#free.pop() ?? this.#another()
    connection.calls++
    return connection
  }

  /** The call is over, however it ended: a connection that was lost is made again by its next call. */
  release(connection: Connection): void {
    connection.calls--
    if (connection.calls === 0) this.#free.push(connection)
  }

  async destroy(): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.destroy()))
  }

  /** A new one, or one in turn that calls have already. */
  #another(): Connection {
    if (this.#all.length >= this.#connectionsMax) return this.#all[this.#next++ % this.#all.length] as Connection
    const connection = { client: new Client(this.#origin, this.#options), calls: 0 }
    this.#all.push(connection)
    return connection
  }
}
