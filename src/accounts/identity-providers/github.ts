/**
 * Sign-in with GitHub over OAuth 2 (docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps, read
 * 2026-11-22). The numeric id identifies the person. An address counts only if it is primary and verified, and is never
 * authoritative, because GitHub runs no mailboxes.
 */

import type { Configuration } from 'openid-client'
import { isObject, type JsonValue, parseJson } from '../../lib/json.ts'
import { readEmail } from '../accounts.ts'
import { answeredUrl, authorizationUrl, configured, library } from './client.ts'
import { type IdentityProvider, ProviderError, type ProviderOptions } from './types.ts'

export interface GithubOptions extends ProviderOptions {
  /** Base URL of the website, such as `https://github.com`. */
  readonly url: string
  /** Base URL of the API, such as `https://api.github.com`. */
  readonly apiUrl: string
}

export function createGithub(options: GithubOptions): IdentityProvider {
  const { url, apiUrl, clientId, clientSecret } = options

  async function configuration(): Promise<Configuration> {
    const client = await library()
    const server = {
      issuer: `${url}/login/oauth`,
      authorization_endpoint: `${url}/login/oauth/authorize`,
      token_endpoint: `${url}/login/oauth/access_token`,
    }
    const auth = client.ClientSecretPost(clientSecret)
    return configured(client, new client.Configuration(server, clientId, undefined, auth), options)
  }

  return {
    id: 'github',
    async start(secrets) {
      const more = { scope: 'user:email' }
      return authorizationUrl(await configuration(), options, { provider: 'github', secrets, more })
    },
    async finish(query, { state, codeVerifier }) {
      try {
        const client = await library()
        const asked = await configuration()
        const checks = { expectedState: state, pkceCodeVerifier: codeVerifier }
        const tokens = await client.authorizationCodeGrant(asked, answeredUrl(options, 'github', query), checks)
        const read = async (path: string): Promise<JsonValue | undefined> => {
          const headers = new Headers({
            accept: 'application/vnd.github+json',
            'user-agent': 'gateway',
            'x-github-api-version': '2022-11-28',
          })
          const resource = new URL(`${apiUrl}${path}`)
          const token = tokens.access_token
          const answer = await client.fetchProtectedResource(asked, token, resource, 'GET', null, headers)
          if (answer.status !== 200) throw new Error(`GitHub answered ${answer.status} to ${path}`)
          return parseJson(await answer.text())
        }
        const user = await read('/user')
        const id = isObject(user) ? user.id : undefined
        if (typeof id !== 'number' || !Number.isSafeInteger(id) || id <= 0) throw new Error('/user has no id')
        const emails = await read('/user/emails')
        return { provider: 'github', subject: String(id), email: primaryEmail(emails), isAuthoritative: false }
      } catch (cause) {
        throw new ProviderError('github', cause)
      }
    },
  }
}

function primaryEmail(emails: JsonValue | undefined): string | null {
  if (!Array.isArray(emails)) return null
  const primary = emails.filter(isObject).find(each => each.primary === true && each.verified === true)
  return typeof primary?.email === 'string' ? readEmail(primary.email) : null
}
