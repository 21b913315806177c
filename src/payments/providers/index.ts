/** The configured providers. A provider without a secret gets no webhook route, because nobody could verify its signatures. */

import type { PaymentLimits } from '../limits.ts'
import type { PullSource } from '../pull.ts'
import type { BankProvider } from '../types.ts'
import { createCassoProvider } from './casso.ts'
import { createPayosProvider } from './payos.ts'
import { createSepayProvider } from './sepay.ts'
import { createSepaySource } from './sepay-api.ts'
import type { ProviderOptions } from './signature.ts'
import { createSignedProvider, readWebhookSecret } from './signed.ts'

export interface ProviderSecrets {
  readonly sepayWebhookSecret: string | null
  readonly sepayApiKey: string | null
  readonly payosChecksumKey: string | null
  readonly cassoChecksumKey: string | null
  readonly cassoSecureToken: string | null
  /** In the form `whsec_<base64>`. */
  readonly bankWebhookSecret: string | null
  /** SePay's API token, for polling; the other secrets are for webhooks. */
  readonly sepayApiToken: string | null
}

export const NO_PROVIDER_SECRETS: ProviderSecrets = {
  sepayWebhookSecret: null,
  sepayApiKey: null,
  payosChecksumKey: null,
  cassoChecksumKey: null,
  cassoSecureToken: null,
  bankWebhookSecret: null,
  sepayApiToken: null,
}

/** The configured providers by name, which is part of their webhook's path. */
export function createBankProviders(
  secrets: ProviderSecrets,
  options: ProviderOptions,
): ReadonlyMap<string, BankProvider> {
  const { sepayWebhookSecret, sepayApiKey, payosChecksumKey, cassoChecksumKey, cassoSecureToken } = secrets
  const providers: BankProvider[] = []
  if (sepayWebhookSecret || sepayApiKey) {
    providers.push(
      createSepayProvider({ webhookSecret: sepayWebhookSecret || null, apiKey: sepayApiKey || null }, options),
    )
  }
  if (payosChecksumKey) providers.push(createPayosProvider(payosChecksumKey))
  if (cassoChecksumKey || cassoSecureToken) {
    providers.push(
      createCassoProvider({ checksumKey: cassoChecksumKey || null, secureToken: cassoSecureToken || null }, options),
    )
  }
  if (secrets.bankWebhookSecret) {
    providers.push(createSignedProvider(readWebhookSecret(secrets.bankWebhookSecret), options))
  }
  return new Map(providers.map(provider => [provider.name, provider]))
}

/** The services polled for missed transactions. */
export function createPullSources(
  { sepayApiToken }: ProviderSecrets,
  { limits, sepayApiUrl }: { limits: PaymentLimits; sepayApiUrl: string },
): readonly PullSource[] {
  return sepayApiToken ? [createSepaySource({ token: sepayApiToken, baseUrl: sepayApiUrl }, limits)] : []
}
