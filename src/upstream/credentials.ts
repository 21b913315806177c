/** The credentials of one upstream. Operators can configure several keys, to spread calls over them. */

import { inspect } from 'node:util'
import { Circuit, type CircuitPolicy, type ReportedState, reportCircuit } from './circuit.ts'

/** A secret that is sent to the provider verbatim. */
export interface KeySecret {
  readonly kind: 'key'
  readonly secret: string
}

/** A secret that signs requests and is never sent. */
export interface AwsSecret {
  readonly kind: 'aws'
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | null
}

export type Secret = KeySecret | AwsSecret

/** Signs requests to the sandbox, which accepts no other access key. */
export const SANDBOX_AWS_SECRET: AwsSecret = {
  kind: 'aws',
  accessKeyId: 'SANDBOX',
  secretAccessKey: 'key-of-simulated-providers',
  sessionToken: null,
}

/** One credential, with a name for logs and with its circuits. */
export class Credential {
  readonly secret: Secret
  /** Names the credential in logs; contains no part of the secret. */
  readonly label: string
  /** Opens when the provider rejects the credential. While it is open, calls do not use the credential. */
  readonly circuit: Circuit
  readonly #policy: CircuitPolicy
  readonly #nowMs: () => number
  /**
   * A circuit per model, by the upstream's name for it, because providers limit each model separately. Only catalogue models
   * get one, so the map stays small.
   */
  readonly #models = new Map<string, Circuit>()

  constructor(secret: Secret, label: string, options: { policy: CircuitPolicy; nowMs: () => number }) {
    this.secret = secret
    this.label = label
    this.#policy = options.policy
    this.#nowMs = options.nowMs
    this.circuit = this.#newCircuit()
  }

  /** The circuit of a model with this credential; null when the model has never failed. */
  model(name: string): Circuit | null {
    return this.#models.size === 0 ? null : (this.#models.get(name) ?? null)
  }

  /** The circuit of a model with this credential, created when missing. */
  watchModel(name: string): Circuit {
    const known = this.#models.get(name)
    if (known !== undefined) return known
    const circuit = this.#newCircuit()
    this.#models.set(name, circuit)
    return circuit
  }

  /** Providers refuse a credential, or a call above their limits, at once; what is not refused may take minutes. */
  #newCircuit(): Circuit {
    return new Circuit(this.#policy, this.#nowMs, { probeMs: this.#policy.baseMs })
  }

  status(): CredentialStatus {
    const modelsCoolingDown = [...this.#models].filter(([, { state }]) => state !== 'closed').map(([name]) => name)
    return { label: this.label, ...reportCircuit(this.circuit), modelsCoolingDown }
  }

  toJSON(): string {
    return this.label
  }

  [inspect.custom](): string {
    return this.label
  }
}

export interface CredentialStatus {
  readonly label: string
  readonly state: ReportedState
  readonly waitSeconds: number
  /** Models that the provider currently limits or refuses for this credential. */
  readonly modelsCoolingDown: readonly string[]
}

export class CredentialPool {
  readonly #credentials: readonly Credential[]
  /** All secrets of the pool, to be masked in text from the provider; never displayed. */
  readonly secrets: readonly string[]

  /** Throws RangeError when there is no credential. */
  constructor(credentials: readonly Credential[]) {
    if (credentials.length === 0) throw new RangeError('a pool needs at least one credential')
    this.#credentials = credentials
    this.secrets = credentials.flatMap(({ secret }) =>
      secret.kind === 'key'
        ? [secret.secret]
        : [secret.secretAccessKey, secret.accessKeyId, ...(secret.sessionToken === null ? [] : [secret.sessionToken])],
    )
  }

  /**
   * All credentials, in the order in which this caller's calls try them. The order is always the same for a caller, so that the
   * provider's prompt cache stays useful, and differs between callers, so that those whose first credential is cooling down are
   * spread over the others.
   */
  orderFor(callerId: number): readonly Credential[] {
    if (this.#credentials.length === 1) return this.#credentials
    const ranked = this.#credentials.map((credential, index) => ({ credential, rank: mixed(callerId, index) }))
    return ranked.sort((a, b) => b.rank - a.rank).map(({ credential }) => credential)
  }

  status(): readonly CredentialStatus[] {
    return this.#credentials.map(credential => credential.status())
  }

  toJSON(): string {
    return `${this.#credentials.length} credentials`
  }

  [inspect.custom](): string {
    return this.toJSON()
  }
}

/** Maps two numbers deterministically to an evenly distributed number in [0, 1) (MurmurHash3's finaliser). */
export function mixed(first: number, second: number): number {
  let hash = (Math.imul(first, 0x9e3779b1) ^ Math.imul(second + 1, 0x85ebca77)) >>> 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
