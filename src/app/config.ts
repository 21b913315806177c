/** The environment, checked as a whole: a start that cannot work names every fault at once. */

import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AwsEnvironment, UpstreamEnvironment } from '../upstream/registry.ts'
import { type BankConfig, readBankConfig } from './bank-config.ts'
import { type ConfigLimits, readLimits } from './limits.ts'
import { ConfigError, Reader } from './reader.ts'
import { readTelemetryConfig, type TelemetryConfig } from './telemetry-config.ts'
import { readUpstreams } from './upstream-config.ts'

export interface Config {
  readonly production: boolean
  readonly host: string
  readonly port: number
  /** Address that clients use, without a slash at its end. */
  readonly publicUrl: string
  /** Null: the embedded Postgres below `dataDir`. */
  readonly databaseUrl: string | null
  /** Past a pooler that `databaseUrl` leads to, for what needs a session of its own; null: there is no pooler. */
  readonly databaseDirectUrl: string | null
  /** Processes that take calls, under a supervisor; null: this process takes them itself. */
  readonly workers: number | null
  /** Number of this process among the workers of its supervisor, from 1; null: it is none. */
  readonly worker: number | null
  readonly dataDir: string
  readonly logLevel: LogLevel
  readonly sandbox: 'off' | 'auto'
  /** "1:base64,2:base64" or null: kept below `dataDir`. */
  readonly keyEncryptionKeys: string | null
  readonly keyPeppers: string | null
  readonly upstream: (upstreamId: string) => UpstreamEnvironment
  /** Where customers transfer to; null: nobody can top up by transfer. */
  readonly bank: BankConfig['bank']
  /** Secrets of the services that report bank transfers. */
  readonly providers: BankConfig['providers']
  readonly sepayApiUrl: BankConfig['sepayApiUrl']
  readonly mail: BankConfig['mail']
  readonly metrics: TelemetryConfig['metrics']
  readonly traces: TelemetryConfig['traces']
  /** Access keys and region of AWS, as AWS's own tools name them. */
  readonly aws: AwsEnvironment
  /** There is a bank account, a secret of a bank's service or a provider's credential: something real to lose. */
  readonly real: boolean
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[]
  /** Most calls that wait at one moment, connections and the like: see the field. */
  readonly limits: ConfigLimits
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export { ConfigError } from './reader.ts'

/** A host that a client on this machine can call when the server listens on `host`. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

const PROJECT_ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface ConfigInput {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly upstreamIds: readonly string[]
}

/** Reads the environment. Throws ConfigError with all faults. */
export function readConfig({ environment, upstreamIds }: ConfigInput): Config {
  const reader = new Reader(environment)
  const production = reader.text('NODE_ENV') === 'production'
  const host = reader.text('HOST') ?? '127.0.0.1'
  const port = reader.integer('PORT', { fallback: 8080, min: 0, max: 65_535 })
  const { upstreams, aws } = readUpstreams(reader, environment, upstreamIds)
  const publicUrl = reader.url('PUBLIC_URL', ['http:', 'https:']) ?? `http://${reachableHost(host)}:${port}`
  const banking = readBankConfig(reader, Object.keys(environment), publicUrl)
  const config: Config = {
    ...banking,
    ...readTelemetryConfig(reader, Object.keys(environment), port),
    production,
    host,
    port,
    publicUrl,
    databaseUrl: reader.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    databaseDirectUrl: reader.url('DATABASE_DIRECT_URL', ['postgres:', 'postgresql:']),
    workers: readWorkers(reader),
    worker: reader.integer('GATEWAY_WORKER', { fallback: 0, min: 1, max: 10_000 }) || null,
    dataDir: resolve(reader.text('DATA_DIR') ?? `${PROJECT_ROOT}/.data`),
    logLevel: reader.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    sandbox: production ? 'off' : reader.choice('SANDBOX', ['off', 'auto'], 'auto'),
    keyEncryptionKeys: reader.secretSet('KEY_ENCRYPTION_KEYS'),
    keyPeppers: reader.secretSet('KEY_PEPPERS'),
    upstream: id => upstreams.get(id) ?? { baseUrl: null, apiKeys: [] },
    aws,
    real:
      [banking.bank, aws.secret, ...Object.values(banking.providers)].some(secret => secret !== null) ||
      [...upstreams.values()].some(({ apiKeys }) => apiKeys.length > 0),
    trustedProxies: readProxies(reader),
    limits: readLimits(reader, Object.keys(environment), production),
  }
  if (config.databaseDirectUrl !== null && config.databaseUrl === null) {
    reader.faults.push('DATABASE_DIRECT_URL goes past the pooler that DATABASE_URL leads to; set DATABASE_URL as well')
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

const ADDRESS = /^[0-9a-f.:]+(\/\d{1,3})?$/i

function readProxies(reader: Reader): readonly string[] {
  const proxies = (reader.text('TRUSTED_PROXIES') ?? '').split(',').map(address => address.trim())
  const named = proxies.filter(address => address !== '')
  if (named.every(address => ADDRESS.test(address))) return named
  reader.faults.push('TRUSTED_PROXIES is not a list of addresses; write some such as 10.0.0.5,192.168.0.0/16')
  return []
}

const WORKERS_MAX = 64

/** `auto`: one per processor that this process may use. */
function readWorkers(reader: Reader): number | null {
  const text = reader.text('WORKERS')
  if (text === null) return null
  if (text === 'auto') return Math.min(availableParallelism(), WORKERS_MAX)
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= WORKERS_MAX) return number
  reader.faults.push(`WORKERS is ${JSON.stringify(text)}; write auto or a whole number from 1 to ${WORKERS_MAX}`)
  return null
}
