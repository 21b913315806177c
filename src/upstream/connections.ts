/**
 * The connections to one upstream: each carries one call at a time, and the one that was used last is used first. A pool
 * that looks for a free connection among all of them takes the longer the more streams are open.
 */

import { Client } from 'undici'

export class Connections {
  readonly #origin: string
  readonly #options: Client.Options
  readonly #free: Client[] = []
  readonly #all = new Set<Client>()

  /** There are never more of them than calls at the same time: whoever takes one keeps to the upstream's limit. */
  constructor(origin: string, options: Client.Options) {
    this.#origin = origin
    this.#options = options
  }

  /** A connection for one call; it goes back by `release`. */
  take(): Client {
    const free = this.#free.pop()
    if (free !== undefined) return free
    const client = new Client(this.#origin, this.#options)
    this.#all.add(client)
    return client
  }

  /** The call is over, however it ended: a connection that was lost is made again by its next call. */
  release(client: Client): void {
    this.#free.push(client)
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#all].map(client => client.destroy()))
  }
}
