/** Creates the identity providers that are configured, once per process. Those whose options are null are not offered. */

import { createGithub, type GithubOptions } from './github.ts'
import { createGoogle } from './google.ts'
import type { IdentityProvider, IdentityProviders, ProviderOptions } from './types.ts'

type Client = Pick<ProviderOptions, 'clientId' | 'clientSecret'>

export function createIdentityProviders(
  {
    google,
    github,
  }: {
    readonly google: (Client & { readonly issuer: string }) | null
    readonly github: (Client & Pick<GithubOptions, 'url' | 'apiUrl'>) | null
  },
  common: Omit<ProviderOptions, keyof Client>,
): IdentityProviders {
  const offered: IdentityProvider[] = []
  if (google !== null) offered.push(createGoogle({ ...google, ...common }))
  if (github !== null) offered.push(createGithub({ ...github, ...common }))
  return new Map(offered.map(provider => [provider.id, provider]))
}
