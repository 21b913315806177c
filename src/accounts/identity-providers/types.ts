/** What a way to sign in offers, whoever runs it. */

/** In the tables `identity` and `sign_in_attempt`; never reused. */
export const PROVIDER_CODES = { google: 1, github: 2 } as const
export type ProviderId = keyof typeof PROVIDER_CODES
export const PROVIDER_IDS = Object.keys(PROVIDER_CODES) as readonly ProviderId[]
export const PROVIDER_LABELS = { google: 'Google', github: 'GitHub' } as const satisfies Record<ProviderId, string>

/** A person as the provider knows them. */
export interface Identity {
  readonly provider: ProviderId
  /** The provider's own id of the person, which outlives their address. */
  readonly subject: string
  /** Null: they have no address that the provider has verified. */
  readonly email: string | null
  /** The provider runs the mailbox itself, so its word is as good as a mailed link. */
  readonly isAuthoritative: boolean
}

/** Secrets of one attempt; each is asked back. */
export interface AttemptSecrets {
  readonly state: string
  readonly nonce: string
  /** PKCE. */
  readonly codeVerifier: string
}

export interface IdentityProvider {
  readonly id: ProviderId
  /** Where the browser goes. Throws ProviderError. */
  start(secrets: AttemptSecrets): Promise<string>
  /** `query` is what the browser came back with. Throws ProviderError, also when somebody has said no. */
  finish(query: string, secrets: AttemptSecrets): Promise<Identity>
}

export type IdentityProviders = ReadonlyMap<ProviderId, IdentityProvider>

/** The provider could not be asked, said no, or said something that does not belong to this attempt. */
export class ProviderError extends Error {
  /** Its person has turned back. */
  readonly isDenied: boolean

  constructor(provider: ProviderId, cause: unknown) {
    super(`${PROVIDER_LABELS[provider]} did not sign anybody in`, { cause })
    this.isDenied = cause instanceof Error && 'error' in cause && cause.error === 'access_denied'
  }
}

/** What both need of the process. */
export interface ProviderOptions {
  readonly clientId: string
  readonly clientSecret: string
  /** Of our pages; the redirect address lies below it, one for each provider. */
  readonly publicUrl: string
  /** Outside production a double may answer over plain http. */
  readonly allowHttp: boolean
  readonly timeoutMs: number
  readonly replyBytesMax: number
}

/** Registered with the provider: one address each, so that no provider's answer is taken for another's. */
export function callbackUrl({ publicUrl }: Pick<ProviderOptions, 'publicUrl'>, provider: ProviderId): string {
  return `${publicUrl}/signin/${provider}/callback`
}
