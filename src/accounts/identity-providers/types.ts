/** The interface to identity providers, with which people sign in: Google, GitHub. */

/** Numbers stored in the tables `identity` and `sign_in_attempt`; never reuse one. */
export const PROVIDER_CODES = { google: 1, github: 2 } as const
export type ProviderId = keyof typeof PROVIDER_CODES
export const PROVIDER_IDS = Object.keys(PROVIDER_CODES) as readonly ProviderId[]
export const PROVIDER_LABELS = { google: 'Google', github: 'GitHub' } as const satisfies Record<ProviderId, string>

/** A person as the provider knows them. */
export interface Identity {
  readonly provider: ProviderId
  /** The provider's id for the person, which stays the same when their email address changes. */
  readonly subject: string
  /** Null if the provider has no verified email address for the person. */
  readonly email: string | null
  /** True if the provider hosts the mailbox: its answer then proves ownership of the address, as an emailed link does. */
  readonly isAuthoritative: boolean
}

/** Secrets of one sign-in attempt, which prove that the provider's answer belongs to it. */
export interface AttemptSecrets {
  readonly state: string
  readonly nonce: string
  /** The secret behind the PKCE challenge (RFC 7636). */
  readonly codeVerifier: string
}

export interface IdentityProvider {
  readonly id: ProviderId
  /** Returns the URL to send the browser to. Throws ProviderError. */
  start(secrets: AttemptSecrets): Promise<string>
  /**
   * `query` is the query string that the browser came back with. Throws ProviderError if signing in failed or the person
   * declined.
   */
  finish(query: string, secrets: AttemptSecrets): Promise<Identity>
}

export type IdentityProviders = ReadonlyMap<ProviderId, IdentityProvider>

/** The provider could not be reached, refused the request, or gave an answer that does not belong to this attempt. */
export class ProviderError extends Error {
  /** True if the person declined at the provider. */
  readonly isDenied: boolean

  constructor(provider: ProviderId, cause: unknown) {
    super(`sign-in with ${PROVIDER_LABELS[provider]} failed`, { cause })
    this.isDenied = cause instanceof Error && 'error' in cause && cause.error === 'access_denied'
  }
}

export interface ProviderOptions {
  readonly clientId: string
  readonly clientSecret: string
  /** Base URL of our pages; each provider's redirect URL lies below it. */
  readonly publicUrl: string
  /** True only outside production, where a test double may answer over plain http. */
  readonly allowHttp: boolean
  readonly timeoutMs: number
  readonly replyBytesMax: number
}

/**
 * The redirect URL registered with the provider. Each provider has its own URL, so that no provider's answer can pass for another
 * provider's.
 */
export function callbackUrl({ publicUrl }: Pick<ProviderOptions, 'publicUrl'>, provider: ProviderId): string {
  return `${publicUrl}/signin/${provider}/callback`
}
