/**
 * Sign-in with Google over OpenID Connect (developers.google.com/identity/openid-connect/openid-connect, read 2026-11-22). `sub`
 * identifies the person, because addresses change. Google is an authority only for mailboxes that it runs: those at `@gmail.com`,
 * and all addresses of accounts with `hd` set.
 */

import type { Configuration } from 'openid-client'
import { readEmail } from '../accounts.ts'
import { answeredUrl, authorizationUrl, boundedFetch, configured, library } from './client.ts'
import { type IdentityProvider, ProviderError, type ProviderOptions } from './types.ts'

/** How long Google's endpoints are cached, in ms. Its signing keys are fetched again whenever a token has an unknown one. */
const DISCOVERY_MS = 86_400_000
/** OpenID Connect Core 1.0, section 2. */
const SUBJECT_CHARACTERS_MAX = 255

export function createGoogle({ issuer, ...options }: ProviderOptions & { readonly issuer: string }): IdentityProvider {
  let known: { readonly configuration: Promise<Configuration>; readonly until: number } | null = null

  function configuration(): Promise<Configuration> {
    if (known !== null && known.until > Date.now()) return known.configuration
    const discovered = discover()
    known = { configuration: discovered, until: Date.now() + DISCOVERY_MS }
    discovered.catch(() => {
      known = null
    })
    return discovered
  }

  async function discover(): Promise<Configuration> {
    const client = await library()
    const { clientId, clientSecret, allowHttp, timeoutMs } = options
    const found = await client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      execute: allowHttp ? [client.allowInsecureRequests] : [],
      timeout: timeoutMs / 1000,
      [client.customFetch]: boundedFetch(options),
    })
    // By default the library trusts an ID token that comes straight from Google's token endpoint; check its signature too.
    client.enableNonRepudiationChecks(found)
    return configured(client, found, options)
  }

  return {
    id: 'google',
    async start(secrets) {
      try {
        const more = { scope: 'openid email', nonce: secrets.nonce }
        return await authorizationUrl(await configuration(), options, { provider: 'google', secrets, more })
      } catch (cause) {
        throw new ProviderError('google', cause)
      }
    },
    async finish(query, { state, nonce, codeVerifier }) {
      try {
        const client = await library()
        const tokens = await client.authorizationCodeGrant(
          await configuration(),
          answeredUrl(options, 'google', query),
          { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier, idTokenExpected: true },
        )
        const claims = tokens.claims()
        if (claims === undefined || claims.sub.length > SUBJECT_CHARACTERS_MAX)
          throw new Error('the ID token has no valid subject')
        const { sub, email: address, email_verified: isVerified, hd } = claims
        const email = isVerified === true && typeof address === 'string' ? readEmail(address) : null
        const isAuthoritative = email !== null && (/@gmail\.com$/i.test(email) || typeof hd === 'string')
        return { provider: 'google', subject: sub, email, isAuthoritative }
      } catch (cause) {
        throw new ProviderError('google', cause)
      }
    },
  }
}
