/** The upstreams as this process sees them: base URL, connections, credentials from the environment, circuits. */

import type { Upstream } from '../generated/types.ts'
import { lookupWith, sharing, systemAddresses } from './addresses.ts'
import type { Signer } from './aws/sign.ts'
import { Circuit, type CircuitPolicy, type ReportedState, reportCircuit } from './circuit.ts'
import { Connections } from './connections.ts'
import {
  type AwsSecret,
  Credential,
  CredentialPool,
  type CredentialStatus,
  SANDBOX_AWS_SECRET,
  type Secret,
} from './credentials.ts'
import { Places } from './places.ts'

/** One upstream's settings in the environment (`UPSTREAM_<ID>_BASE_URL`, `UPSTREAM_<ID>_API_KEY`). */
export interface UpstreamEnvironment {
  readonly baseUrl: string | null
  readonly apiKeys: readonly string[]
}

/** AWS settings in the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`). */
export interface AwsEnvironment {
  readonly secret: AwsSecret | null
  readonly region: string | null
}

export interface RegistryOptions {
  readonly upstreams: Iterable<Upstream>
  readonly environment: (upstreamId: string) => UpstreamEnvironment
  readonly aws: AwsEnvironment
  /** Base URL of the sandbox, which stands in for upstreams without credentials; null: no sandbox. */
  readonly sandboxUrl: string | null
  /** Maximum number of connections to one upstream, unless the upstream's own limit is lower. */
  readonly connectionsMax: number
  /** A monotonic clock, in ms. */
  readonly nowMs: () => number
}

export interface UpstreamStatus {
  readonly id: string
  readonly sandbox: boolean
  readonly state: ReportedState
  /** Seconds until the upstream is tried again; 0 while its circuit is closed. */
  readonly waitSeconds: number
  /** Seconds until the upstream goes back into service, if an operator has taken it out; otherwise 0. */
  readonly outSeconds: number
  readonly callsInFlight: number
  /** Number of attempts since the process started. `failures` counts how many of them failed. */
  readonly tries: number
  readonly failures: number
  /** Failures by kind: the error code that a client would get, or `broken_stream`. */
  readonly failuresByClass: Readonly<Record<string, number>>
  readonly credentials: readonly CredentialStatus[]
}

/** One for all upstreams, because several may be on one host. */
const lookup = lookupWith(sharing(systemAddresses))

export class ReachableUpstream {
  readonly facts: Upstream
  /** Whether the sandbox stands in for the upstream and simulates its replies. */
  readonly sandbox: boolean
  readonly credentials: CredentialPool
  readonly connections: Connections
  /** Host name and port, for the `host` header. */
  readonly host: string
  readonly address: { readonly host: string; readonly port: number }
  /** Path of the base URL, without a trailing slash. */
  readonly basePath: string
  readonly circuit: Circuit
  readonly places: Places
  readonly #region: string
  readonly #signers = new Map<Credential, Signer>()
  tries = 0
  /** When the upstream goes back into service, as a value of `#nowMs()`; 0 while it is in service. */
  #outUntilMs = 0
  readonly #nowMs: () => number
  readonly #failures = new Map<string, number>()

  constructor(
    facts: Upstream,
    given: { baseUrl: string; sandbox: boolean; secrets: readonly Secret[]; region: string },
    options: RegistryOptions,
  ) {
    const { nowMs } = options
    const url = new URL(given.baseUrl)
    this.facts = facts
    this.#nowMs = nowMs
    this.sandbox = given.sandbox
    this.host = url.host
    this.address = { host: url.hostname, port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80) }
    this.basePath = url.pathname.replace(/\/$/, '')
    this.#region = given.region
    const concurrencyMax = Math.min(facts.concurrencyMax, options.connectionsMax)
    this.places = new Places(concurrencyMax)
    // The sandbox fails only when a prompt asks for it, so its faults must not affect the next call.
    const policy: CircuitPolicy = given.sandbox ? { failures: Infinity, baseMs: 0, maxMs: 0 } : facts.cooldown
    this.circuit = new Circuit(policy, nowMs)
    this.credentials = new CredentialPool(
      given.secrets.map((secret, index) => new Credential(secret, `${facts.id}#${index + 1}`, { policy, nowMs })),
    )
    this.connections = new Connections(url.origin, {
      connectionsMax: concurrencyMax,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: facts.connectTimeoutMs, lookup },
      keepAliveTimeout: 30_000,
    })
  }

  /** Time until the upstream goes back into service, in ms, if an operator has taken it out; otherwise 0. */
  get outOfServiceMs(): number {
    return this.#outUntilMs === 0 ? 0 : Math.max(0, this.#outUntilMs - this.#nowMs())
  }

  /** Takes the upstream out of service for `forMs`; 0 puts it back. */
  takeOut(forMs: number): void {
    this.#outUntilMs = forMs === 0 ? 0 : this.#nowMs() + forMs
  }

  /** Counts a failure. `what` is the error's code, or `broken_stream`. */
  failed(what: string): void {
    this.#failures.set(what, (this.#failures.get(what) ?? 0) + 1)
  }

  /** The signer for a credential, created only once. */
  async signerOf(credential: Credential, secret: AwsSecret): Promise<Signer> {
    const known = this.#signers.get(credential)
    if (known !== undefined) return known
    const { createSigner } = await import('./aws/sign.ts')
    const signer = createSigner(secret, this.#region)
    this.#signers.set(credential, signer)
    return signer
  }

  status(): UpstreamStatus {
    return {
      id: this.facts.id,
      sandbox: this.sandbox,
      ...reportCircuit(this.circuit),
      outSeconds: Math.ceil(this.outOfServiceMs / 1000),
      callsInFlight: this.places.taken,
      tries: this.tries,
      failures: this.#failures.values().reduce((sum, count) => sum + count, 0),
      failuresByClass: Object.fromEntries(this.#failures),
      credentials: this.credentials.status(),
    }
  }
}

export interface UpstreamRegistry {
  /** The upstream with this id; null when it has no credentials and no sandbox stands in for it. */
  find(upstreamId: string): ReachableUpstream | null
  /** Ids of upstreams that cannot be called. */
  readonly unreachable: readonly string[]
  readonly sandboxed: readonly string[]
  /** Takes exactly these upstreams out of service, as operators requested, and puts all others back. */
  setOut(upstreams: readonly { readonly upstreamId: string; readonly secondsLeft: number }[]): void
  /** The state of every reachable upstream, for the command line and for metrics. */
  status(): readonly UpstreamStatus[]
  close(): Promise<void>
}

const SANDBOX_SECRETS: Readonly<Record<'key' | 'aws', Secret>> = {
  // Not a word of the sandbox's errors, in which the secret in use is masked.
  key: { kind: 'key', secret: 'key-of-simulated-providers' },
  aws: SANDBOX_AWS_SECRET,
}

/** Credentials for an upstream. API keys take precedence over AWS access keys, even where requests can be signed. */
function secretsOf(facts: Upstream, options: RegistryOptions): readonly Secret[] {
  const { apiKeys } = options.environment(facts.id)
  if (apiKeys.length > 0) return apiKeys.map(secret => ({ kind: 'key', secret }))
  return facts.auth.scheme === 'sigv4' && options.aws.secret !== null ? [options.aws.secret] : []
}

export function createRegistry(options: RegistryOptions): UpstreamRegistry {
  const reachable = new Map<string, ReachableUpstream>()
  const unreachable: string[] = []
  const sandboxed: string[] = []
  for (const facts of options.upstreams) {
    const region = options.aws.region ?? facts.auth.region ?? ''
    const secrets = secretsOf(facts, options)
    if (secrets.length > 0) {
      const baseUrl = options.environment(facts.id).baseUrl ?? facts.baseUrl.replace('{region}', region)
      reachable.set(facts.id, new ReachableUpstream(facts, { baseUrl, sandbox: false, secrets, region }, options))
    } else if (options.sandboxUrl !== null) {
      const baseUrl = `${options.sandboxUrl}/${facts.id}`
      const secret = SANDBOX_SECRETS[facts.auth.scheme === 'sigv4' ? 'aws' : 'key']
      const given = { baseUrl, sandbox: true, secrets: [secret], region }
      reachable.set(facts.id, new ReachableUpstream(facts, given, options))
      sandboxed.push(facts.id)
    } else unreachable.push(facts.id)
  }
  return {
    find: upstreamId => reachable.get(upstreamId) ?? null,
    unreachable,
    sandboxed,
    setOut(upstreams) {
      const out = new Map(upstreams.map(each => [each.upstreamId, each.secondsLeft * 1000]))
      for (const [id, upstream] of reachable) upstream.takeOut(out.get(id) ?? 0)
    },
    status: () => [...reachable.values()].map(upstream => upstream.status()),
    async close() {
      await Promise.all([...reachable.values()].map(upstream => upstream.connections.destroy()))
    },
  }
}
