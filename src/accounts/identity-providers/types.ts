/** The interface of a provider that people sign in with, such as Google or GitHub. */

/** Numbers stored in the tables `identity` and `sign_in_attempt`; never reuse one. */
export const PROVIDER_CODES = { google: 1, github: 2 } as const
export type ProviderId = keyof typeof PROVIDER_CODES
export const PROVIDER_IDS = Object.keys(PROVIDER_CODES) as readonly ProviderId[]
export const PROVIDER_LABELS = { google: 'Google', github: 'GitHub' } as const satisfies Record<ProviderId, string>

/** A person as the provider knows them. */
export interface Identity {
  readonly provider: ProviderId
  /** The provider's own id for the person, which outlives their address. */
  readonly subject: string
  /** Null: they have no address that the provider has verified. */
  readonly email: string | null
  /** The provider runs the mailbox itself, so its word is as good as a mailed link. */
  readonly isAuthoritative: boolean
}

/** Secrets of one attempt, which tie the provider's answer to it. */
export interface AttemptSecrets {
  readonly state: string
  readonly nonce: string
  /** The secret behind the PKCE challenge (RFC 7636). */
  readonly codeVerifier: string
}

export interface IdentityProvider {
  readonly id: ProviderId
  /** The address to send the browser to. Throws ProviderError. */
  start(secrets: AttemptSecrets): Promise<string>
  /** `query` is what the browser came back with. Throws ProviderError, also when the person has declined. */
  finish(query: string, secrets: AttemptSecrets): Promise<Identity>
}

export type IdentityProviders = ReadonlyMap<ProviderId, IdentityProvider>

/** The provider could not be reached, refused, or gave an answer that does not belong to this attempt. */
export class ProviderError extends Error {
  /** The person declined at the provider. */
  readonly isDenied: boolean

  constructor(provider: ProviderId, cause: unknown) {
    super(`${PROVIDER_LABELS[provider]} did not sign anybody in`, { cause })
    this.isDenied = cause instanceof Error && 'error' in cause && cause.error === 'access_denied'
  }
}

/** Options that all providers share. */
export interface ProviderOptions {
  readonly clientId: string
  readonly clientSecret: string
  /** Address of our pages; each provider's redirect address lies below it. */
  readonly publicUrl: string
  /** Set outside production, where a test double may answer over plain http. */
  readonly allowHttp: boolean
  readonly timeoutMs: number
  readonly replyBytesMax: number
}

/** The redirect address registered with the provider. Each has its own, so that no provider's answer is taken for another's. */
export function callbackUrl({ publicUrl }: Pick<ProviderOptions, 'publicUrl'>, provider: ProviderId): string {
  return `${publicUrl}/signin/${provider}/callback`
}
