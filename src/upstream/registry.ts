/** The upstreams as they are reached in this process: base URL, connections, credentials from the environment. */

import { Pool } from 'undici'
import type { Endpoint, Upstream } from '../generated/types.ts'
import { type Credential, CredentialPool } from './credentials.ts'

/** What the environment says of one upstream (`UPSTREAM_<ID>_BASE_URL`, `UPSTREAM_<ID>_API_KEY`). */
export interface UpstreamEnvironment {
  readonly baseUrl: string | null
  readonly apiKeys: readonly string[]
}

export interface RegistryOptions {
  readonly upstreams: Iterable<Upstream>
  readonly environment: (upstreamId: string) => UpstreamEnvironment
  /** Base URL of the sandbox, which stands in for every upstream without credentials; null: there is none. */
  readonly sandboxUrl: string | null
  /** Most connections to one upstream. */
  readonly connectionsMax: number
}

export interface ReachableUpstream {
  readonly facts: Upstream
  readonly pool: Pool
  /** The replies are simulated. */
  readonly sandbox: boolean
  readonly credentials: CredentialPool
  /** Path of an endpoint on the upstream's origin; null when the upstream does not serve it. */
  path(endpoint: Endpoint): string | null
}

export interface UpstreamRegistry {
  /** Null when the upstream has no credentials and no sandbox stands in for it. */
  find(upstreamId: string): ReachableUpstream | null
  /** Ids of upstreams that cannot be called. */
  readonly unreachable: readonly string[]
  readonly sandboxed: readonly string[]
  close(): Promise<void>
}

const SANDBOX_CREDENTIAL: Credential = { secret: 'sandbox', label: 'sandbox' }

function reach(
  facts: Upstream,
  baseUrl: string,
  sandbox: boolean,
  credentials: CredentialPool,
  options: RegistryOptions,
) {
  const url = new URL(baseUrl)
  const basePath = url.pathname.replace(/\/$/, '')
  const pool = new Pool(url.origin, {
    connections: options.connectionsMax,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: facts.connectTimeoutMs },
    keepAliveTimeout: 30_000,
  })
  return {
    facts,
    pool,
    sandbox,
    credentials,
    path(endpoint: Endpoint): string | null {
      const path = facts.paths[endpoint]
      return path === undefined ? null : basePath + path
    },
  }
}

export function createRegistry(options: RegistryOptions): UpstreamRegistry {
  const reachable = new Map<string, ReachableUpstream>()
  const unreachable: string[] = []
  const sandboxed: string[] = []
  for (const facts of options.upstreams) {
    const environment = options.environment(facts.id)
    if (environment.apiKeys.length > 0) {
      const credentials = new CredentialPool(
        environment.apiKeys.map((secret, index) => ({ secret, label: `${facts.id}#${index + 1}` })),
      )
      reachable.set(facts.id, reach(facts, environment.baseUrl ?? facts.baseUrl, false, credentials, options))
    } else if (options.sandboxUrl !== null) {
      const credentials = new CredentialPool([SANDBOX_CREDENTIAL])
      reachable.set(facts.id, reach(facts, `${options.sandboxUrl}/${facts.id}`, true, credentials, options))
      sandboxed.push(facts.id)
    } else unreachable.push(facts.id)
  }
  return {
    find: upstreamId => reachable.get(upstreamId) ?? null,
    unreachable,
    sandboxed,
    async close() {
      await Promise.all([...reachable.values()].map(upstream => upstream.pool.destroy()))
    },
  }
}
