/** Loads the OpenID client library on first use, to keep start-up fast, and limits the size of the replies that it reads. */

import type { Configuration } from 'openid-client'
import { type AttemptSecrets, callbackUrl, type ProviderId, type ProviderOptions } from './types.ts'

export const library = () => import('openid-client')
type Library = Awaited<ReturnType<typeof library>>

/** A `fetch` that follows no redirect and reads at most `replyBytesMax`. */
export function boundedFetch({ replyBytesMax }: Pick<ProviderOptions, 'replyBytesMax'>) {
  return async (url: string, init: object): Promise<Response> => {
    const response = await fetch(url, { ...init, redirect: 'manual' })
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > replyBytesMax) throw new Error(`the reply is larger than ${replyBytesMax} bytes`)
      chunks.push(chunk)
    }
    const { status, headers } = response
    return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers })
  }
}

export function configured(client: Library, configuration: Configuration, options: ProviderOptions): Configuration {
  configuration.timeout = options.timeoutMs / 1000
  configuration[client.customFetch] = boundedFetch(options)
  if (options.allowHttp) client.allowInsecureRequests(configuration)
  return configuration
}

export async function authorizationUrl(
  configuration: Configuration,
  options: ProviderOptions,
  { provider, secrets, more }: { provider: ProviderId; secrets: AttemptSecrets; more: Record<string, string> },
): Promise<string> {
  const client = await library()
  return client.buildAuthorizationUrl(configuration, {
    redirect_uri: callbackUrl(options, provider),
    state: secrets.state,
    code_challenge: await client.calculatePKCECodeChallenge(secrets.codeVerifier),
    code_challenge_method: 'S256',
    ...more,
  }).href
}

/** The callback URL with which the browser came back, built on our public address, whatever host the request arrived on. */
export function answeredUrl(options: ProviderOptions, provider: ProviderId, query: string): URL {
  return new URL(`${callbackUrl(options, provider)}?${query}`)
}
