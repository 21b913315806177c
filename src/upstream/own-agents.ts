/**
 * Agents for hosts that strangers choose: each request has its own, because undici (8.12) never forgets a host whose request was
 * aborted, and strangers can name any number of hosts.
 */

import type { LookupFunction } from 'node:net'
import { Agent } from 'undici'

export interface OwnAgentsOptions {
  readonly lookup: LookupFunction
  readonly timeoutMs: number
  /** Largest header section of a reply, in bytes; by default Node's own limit. */
  readonly headerBytesMax?: number
}

export class OwnAgents {
  readonly #open = new Set<Agent>()
  readonly #options: OwnAgentsOptions

  constructor(options: OwnAgentsOptions) {
    this.#options = options
  }

  /** Opens the agent of one request. Close it when the request is over. */
  open(): Agent {
    const { lookup, timeoutMs, headerBytesMax } = this.#options
    const agent = new Agent({
      connect: { lookup, timeout: timeoutMs },
      connections: 1,
      pipelining: 1,
      allowH2: false,
      ...(headerBytesMax !== undefined && { maxHeaderSize: headerBytesMax }),
    })
    this.#open.add(agent)
    return agent
  }

  close(agent: Agent): Promise<void> {
    this.#open.delete(agent)
    return agent.destroy()
  }

  /** Ends the requests that still run. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#open].map(agent => this.close(agent)))
  }
}
