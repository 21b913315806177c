/** The credentials of one upstream: a pool, so that an operator can spread calls over several keys. */

import { inspect } from 'node:util'

export interface Credential {
  readonly secret: string
  /** Names the credential in logs; holds no part of the secret. */
  readonly label: string
}

export class CredentialPool {
  readonly #credentials: readonly Credential[]

  /** Throws RangeError without a credential. */
  constructor(credentials: readonly Credential[]) {
    if (credentials.length === 0) throw new RangeError('a pool needs at least one credential')
    this.#credentials = credentials
  }

  /** One credential; the same caller gets the same one, so that the provider's prompt cache serves it. */
  pick(callerId: number): Credential {
    return this.#credentials[callerId % this.#credentials.length] as Credential
  }

  /** For masking them in texts of the provider; not to be shown. */
  get secrets(): readonly string[] {
    return this.#credentials.map(credential => credential.secret)
  }

  toJSON(): string {
    return `${this.#credentials.length} credentials`
  }

  [inspect.custom](): string {
    return this.toJSON()
  }
}
