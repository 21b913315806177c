/** Reads and checks the whole environment, so that a failed start lists every fault at once. */

import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ipaddr from 'ipaddr.js'
import type { Company } from '../dashboard/options.ts'
import type { TaxRate } from '../payments/tax.ts'
import type { AwsEnvironment, UpstreamEnvironment } from '../upstream/registry.ts'
import { type BankConfig, readBankConfig } from './bank-config.ts'
import { readCompany } from './company-config.ts'
import { type ConfigLimits, readLimits } from './limits.ts'
import { ConfigError, Reader } from './reader.ts'
import { readSignIn, type SignInConfig } from './sign-in-config.ts'
import { readTaxRates } from './tax-config.ts'
import { readTelemetryConfig, type TelemetryConfig } from './telemetry-config.ts'
import { readUpstreams } from './upstream-config.ts'

export interface Config {
  readonly production: boolean
  readonly host: string
  readonly port: number
  /** Address that clients use, without a trailing slash. */
  readonly publicUrl: string
  /** Null: use the embedded Postgres, with its data in `dataDir`. */
  readonly databaseUrl: string | null
  /** Postgres URL that bypasses the pooler at `databaseUrl`, for work that needs a session; null when there is no pooler. */
  readonly databaseDirectUrl: string | null
  /** Number of worker processes under a supervisor; null when this process takes calls itself. */
  readonly workers: number | null
  /** This process's number among its supervisor's workers, from 1; null when it is not a worker. */
  readonly worker: number | null
  readonly dataDir: string
  readonly logLevel: LogLevel
  readonly sandbox: 'off' | 'auto'
  /** Encryption keys, such as `1:<base64>,2:<base64>`; null: one is generated at the first start and kept in `dataDir`. */
  readonly keyEncryptionKeys: string | null
  readonly keyPeppers: string | null
  readonly upstream: (upstreamId: string) => UpstreamEnvironment
  /** The account that customers transfer to; null when top-ups by transfer are off. */
  readonly bank: BankConfig['bank']
  /** Secrets of the services that report bank transfers. */
  readonly providers: BankConfig['providers']
  readonly sepayApiUrl: BankConfig['sepayApiUrl']
  readonly mail: BankConfig['mail']
  /** Value-added tax rates by start date; at least one. */
  readonly taxRates: readonly TaxRate[]
  /** The company that runs the service; null when not set. */
  readonly company: Company | null
  /** Folder with the operator's own page texts; null: use the built-in drafts. */
  readonly contentDir: string | null
  readonly signIn: SignInConfig
  readonly metrics: TelemetryConfig['metrics']
  readonly traces: TelemetryConfig['traces']
  /** AWS access keys and region, under the names that AWS's own tools use. */
  readonly aws: AwsEnvironment
  /** True when a bank account, a bank service's secret or a provider credential is set, so real money or data is at stake. */
  readonly real: boolean
  /** Addresses and networks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
  /** Private networks that customers' webhooks may reach, such as `10.20.0.0/16`; none in most installations. */
  readonly webhookNetworks: readonly string[]
  readonly limits: ConfigLimits
}

/** A mistyped `production` must not start a gateway whose replies are simulated. Test runners set `test`. */
const MODES = ['production', 'development', 'test'] as const
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export { ConfigError } from './reader.ts'

/** Host name at which clients on this machine reach a server that listens on `host`. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

const PROJECT_ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface ConfigInput {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly upstreamIds: readonly string[]
}

/** Pages and the API are at the root of their address, so links to a path below it would lead nowhere. */
function readPublicUrl(reader: Reader): string | null {
  const text = reader.url('PUBLIC_URL', ['http:', 'https:'])
  if (text === null) return null
  const { href, origin } = new URL(text)
  if (href !== `${origin}/`) {
    reader.faults.push(
      'PUBLIC_URL has more than a host and a port; write it without a path, such as https://gateway.example.com: ' +
        'pages and /v1 are at its root',
    )
  }
  return text
}

/** Reads the environment. Throws ConfigError with all faults. */
export function readConfig({ environment, upstreamIds }: ConfigInput): Config {
  const reader = new Reader(environment)
  const production = reader.choice('NODE_ENV', MODES, 'development') === 'production'
  const host = reader.text('HOST') ?? '127.0.0.1'
  const port = reader.integer('PORT', { fallback: 8080, min: 0, max: 65_535 })
  const { upstreams, aws } = readUpstreams(reader, environment, upstreamIds)
  const publicUrl = readPublicUrl(reader) ?? `http://${reachableHost(host)}:${port}`
  const banking = readBankConfig(reader, Object.keys(environment), publicUrl)
  const config: Config = {
    ...banking,
    ...readTelemetryConfig(reader, Object.keys(environment), port),
    production,
    host,
    port,
    publicUrl,
    databaseUrl: reader.database('DATABASE_URL'),
    databaseDirectUrl: reader.database('DATABASE_DIRECT_URL'),
    workers: readWorkers(reader),
    worker: reader.integer('GATEWAY_WORKER', { fallback: 0, min: 1, max: 10_000 }) || null,
    dataDir: resolve(reader.text('DATA_DIR') ?? `${PROJECT_ROOT}/.data`),
    logLevel: reader.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    company: readCompany(reader, Object.keys(environment), production),
    signIn: readSignIn(reader, Object.keys(environment), production),
    contentDir: readFolder(reader, 'CONTENT_DIR'),
    sandbox: production ? 'off' : reader.choice('SANDBOX', ['off', 'auto'], 'auto'),
    keyEncryptionKeys: reader.secretSet('KEY_ENCRYPTION_KEYS'),
    keyPeppers: reader.secretSet('KEY_PEPPERS'),
    upstream: id => upstreams.get(id) ?? { baseUrl: null, apiKeys: [] },
    aws,
    real:
      [banking.bank, aws.secret, ...Object.values(banking.providers)].some(secret => secret !== null) ||
      [...upstreams.values()].some(({ apiKeys }) => apiKeys.length > 0),
    taxRates: readTaxRates(reader),
    trustedProxies: readProxies(reader),
    webhookNetworks: readNetworks(reader),
    limits: readLimits(reader, Object.keys(environment), production),
  }
  if (config.databaseDirectUrl !== null && config.databaseUrl === null) {
    reader.faults.push('DATABASE_DIRECT_URL bypasses the pooler in DATABASE_URL; set DATABASE_URL as well')
  }
  if (production) {
    for (const name of ['DATABASE_URL', 'KEY_ENCRYPTION_KEYS', 'KEY_PEPPERS', 'PUBLIC_URL']) {
      if (reader.text(name) === null) reader.faults.push(`${name} is not set; it is required with NODE_ENV=production`)
    }
    if (reader.text('SANDBOX') === 'auto') reader.faults.push('SANDBOX=auto is not allowed with NODE_ENV=production')
  }
  if (reader.faults.length > 0) throw new ConfigError(reader.faults)
  return config
}

/** Reads the path of an existing folder; null when the variable is not set. */
function readFolder(reader: Reader, name: string): string | null {
  const text = reader.text(name)
  if (text === null) return null
  const folder = resolve(text)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    reader.faults.push(`${name} is not a folder: ${folder}; name an existing one, or leave it out`)
  }
  return folder
}

/** Whether the text is an IP address or a network in CIDR notation; IPv4 with all four numbers. */
function isAddress(text: string): boolean {
  const { IPv4, IPv6 } = ipaddr
  return text.includes(':')
    ? IPv6.isValid(text) || IPv6.isValidCIDR(text)
    : IPv4.isValidFourPartDecimal(text) || IPv4.isValidCIDRFourPartDecimal(text)
}

function readProxies(reader: Reader): readonly string[] {
  const proxies = (reader.text('TRUSTED_PROXIES') ?? '').split(',').map(address => address.trim())
  const named = proxies.filter(address => address !== '')
  if (named.every(isAddress)) return named
  reader.faults.push('TRUSTED_PROXIES is not a list of addresses; write e.g. 10.0.0.5,192.168.0.0/16')
  return []
}

/**
 * Reads networks in CIDR notation. The prefix length is required, because a bare address could mean one host or a whole network.
 */
function readNetworks(reader: Reader): readonly string[] {
  const named = (reader.text('WEBHOOK_PRIVATE_NETWORKS') ?? '').split(',').map(network => network.trim())
  const networks = named.filter(network => network !== '')
  if (networks.every(network => ipaddr.isValidCIDR(network))) return networks
  reader.faults.push('WEBHOOK_PRIVATE_NETWORKS is not a list of networks; write e.g. 10.20.0.0/16,fd12::/48')
  return []
}

const WORKERS_MAX = 64

/** Reads the number of workers; `auto` means one per CPU available to this process. */
function readWorkers(reader: Reader): number | null {
  const text = reader.text('WORKERS')
  if (text === null) return null
  if (text === 'auto') return Math.min(availableParallelism(), WORKERS_MAX)
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= WORKERS_MAX) return number
  reader.faults.push(`WORKERS is ${JSON.stringify(text)}; write auto or a whole number from 1 to ${WORKERS_MAX}`)
  return null
}
