/** The environment, checked as a whole: a start that cannot work names every fault at once. */

import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSecretSet } from '../lib/secrets.ts'
import type { AwsEnvironment, UpstreamEnvironment } from '../upstream/registry.ts'
import { type BankConfig, readBankConfig } from './bank-config.ts'
import { readTelemetryConfig, type TelemetryConfig } from './telemetry-config.ts'

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
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[]
  /** Most calls that wait at one moment, connections and the like: see the field. */
  readonly limits: ConfigLimits
}

export interface ConfigLimits {
  /** Largest request body after decoding, in bytes. */
  readonly bodyBytesMax: number
  readonly headerBytesMax: number
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly replyBytesMax: number
  readonly eventBytesMax: number
  readonly pingAfterMs: number
  readonly holdTokensPerImage: number
  /** Largest image that is fetched from a URL, in bytes. */
  readonly imageBytesMax: number
  /** Time for fetching an image, redirects included, in ms. */
  readonly imageFetchMs: number
  /** Most images that are fetched at one moment. */
  readonly imageFetchesMax: number
  /** Image URLs that are fetched for one chat call. */
  readonly imageUrlsMax: number
  /** Longest wait for money that other calls hold, in ms. */
  readonly admissionWaitMs: number
  /** Longest wait of a reply for its settlement, in ms; then the spool has it. */
  readonly settleWaitMs: number
  /** Longest wait of a call for a database that does not answer, in ms; then 503. */
  readonly databaseWaitMs: number
  /** Silence after which another process counts as lost and its holds are freed, in ms. */
  readonly lostAfterMs: number
  readonly upstreamConnectionsMax: number
  /** Most tries of one call at all its upstreams. */
  readonly upstreamTriesMax: number
  readonly rememberedKeysMax: number
  readonly rememberedKeyMs: number
  /** Longest wait for calls in flight at a stop, in ms. */
  readonly drainMs: number
  /** Spans that wait for the collector of traces; further ones are dropped. */
  readonly spansWaitingMax: number
  /** Time from "not ready" to the end of listening, for load balancers to notice, in ms. */
  readonly drainNoticeMs: number
  /** Time that idle connections have for one more call at a stop, in ms. */
  readonly drainIdleMs: number
  /** Longest start of a worker, in ms. */
  readonly workerStartMs: number
  /** Longest pause before a dead worker is replaced, in ms; the pauses double up to it. */
  readonly workerPauseMs: number
  /** Starts that fail one after the other while no worker takes calls, after which the supervisor gives up. */
  readonly workerFailuresMax: number
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

interface LimitRow {
  readonly fallback: number
  /** Instead of `fallback` with NODE_ENV=production. */
  readonly production?: number
  readonly min: number
  readonly max: number
}

const MIB = 1024 * 1024

/** Each limit can be set as `LIMIT_<NAME>` in the environment. */
const LIMITS: Readonly<Record<keyof ConfigLimits, LimitRow>> = {
  bodyBytesMax: { fallback: 20 * MIB, min: 1024, max: 200 * MIB },
  headerBytesMax: { fallback: 16 * 1024, min: 4096, max: MIB },
  headersTimeoutMs: { fallback: 30_000, min: 500, max: 900_000 },
  requestTimeoutMs: { fallback: 120_000, min: 1000, max: 900_000 },
  keepAliveTimeoutMs: { fallback: 75_000, min: 1000, max: 900_000 },
  replyBytesMax: { fallback: 64 * MIB, min: 1024, max: 1024 * MIB },
  eventBytesMax: { fallback: 16 * MIB, min: 1024, max: 256 * MIB },
  pingAfterMs: { fallback: 15_000, min: 100, max: 120_000 },
  imageBytesMax: { fallback: 20 * MIB, min: 1024, max: 200 * MIB },
  imageFetchMs: { fallback: 10_000, min: 100, max: 120_000 },
  imageFetchesMax: { fallback: 64, min: 1, max: 10_000 },
  imageUrlsMax: { fallback: 20, min: 0, max: 1000 },
  holdTokensPerImage: { fallback: 1600, min: 1, max: 100_000 },
  admissionWaitMs: { fallback: 15_000, min: 0, max: 120_000 },
  settleWaitMs: { fallback: 250, min: 0, max: 60_000 },
  databaseWaitMs: { fallback: 5_000, min: 100, max: 60_000 },
  lostAfterMs: { fallback: 960_000, min: 1_000, max: 86_400_000 },
  upstreamConnectionsMax: { fallback: 4096, min: 1, max: 65_535 },
  upstreamTriesMax: { fallback: 4, min: 1, max: 20 },
  rememberedKeysMax: { fallback: 10_000, min: 1, max: 10_000_000 },
  rememberedKeyMs: { fallback: 60_000, min: 0, max: 3_600_000 },
  drainMs: { fallback: 900_000, min: 0, max: 3_600_000 },
  spansWaitingMax: { fallback: 4096, min: 1, max: 1_000_000 },
  drainNoticeMs: { fallback: 0, production: 5_000, min: 0, max: 600_000 },
  drainIdleMs: { fallback: 5_000, production: 76_000, min: 0, max: 900_000 },
  workerStartMs: { fallback: 60_000, min: 1000, max: 900_000 },
  workerPauseMs: { fallback: 10_000, min: 100, max: 600_000 },
  workerFailuresMax: { fallback: 10, min: 1, max: 1000 },
}

/** Thrown with every fault of the environment, a line each. */
export class ConfigError extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(
      `The environment has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n  ${faults.join('\n  ')}`,
    )
    this.name = 'ConfigError'
    this.faults = faults
  }
}

export function limitVariable(name: string): string {
  return `LIMIT_${name.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`
}

class Reader {
  readonly faults: string[] = []
  readonly #environment: Readonly<Record<string, string | undefined>>

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.#environment = environment
  }

  text(name: string): string | null {
    const value = this.#environment[name]?.trim()
    return value === undefined || value === '' ? null : value
  }

  integer(name: string, { fallback, min, max }: LimitRow): number {
    const value = this.text(name)
    if (value === null) return fallback
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    this.faults.push(`${name} is ${JSON.stringify(value)}; write a whole number from ${min} to ${max}`)
    return fallback
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[], fallback: Choice): Choice {
    const value = this.text(name)
    if (value === null) return fallback
    const choice = choices.find(candidate => candidate === value)
    if (choice !== undefined) return choice
    this.faults.push(`${name} is ${JSON.stringify(value)}; write one of ${choices.join(', ')}`)
    return fallback
  }

  /** The value is never repeated in a fault: it may hold a password. */
  url(name: string, protocols: readonly string[]): string | null {
    const value = this.text(name)
    if (value === null) return null
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value.replace(/\/$/, '')
    this.faults.push(`${name} is not a URL; write one that begins with ${protocols.map(p => `${p}//`).join(' or ')}`)
    return null
  }

  secretSet(name: string): string | null {
    const value = this.text(name)
    if (value === null) return null
    try {
      parseSecretSet(name, value)
      return value
    } catch (error) {
      this.faults.push((error as Error).message)
      return null
    }
  }
}

/** A host that a client on this machine can call when the server listens on `host`. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/** Environment name of an upstream: `aws-bedrock` is `AWS_BEDROCK`. */
function upstreamVariable(upstreamId: string, suffix: string): string {
  return `UPSTREAM_${upstreamId.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_${suffix}`
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
  const upstreams = new Map(
    upstreamIds.map(id => [
      id,
      {
        baseUrl: reader.url(upstreamVariable(id, 'BASE_URL'), ['http:', 'https:']),
        apiKeys: (reader.text(upstreamVariable(id, 'API_KEY')) ?? '')
          .split(',')
          .map(key => key.trim())
          .filter(key => key !== ''),
      },
    ]),
  )
  const known = new Set(upstreamIds.flatMap(id => [upstreamVariable(id, 'BASE_URL'), upstreamVariable(id, 'API_KEY')]))
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('UPSTREAM_') || known.has(name)) continue
    reader.faults.push(`${name} names no upstream of the catalogue; there are ${[...known].sort().join(', ')}`)
  }
  const publicUrl = reader.url('PUBLIC_URL', ['http:', 'https:']) ?? `http://${reachableHost(host)}:${port}`
  const config: Config = {
    ...readBankConfig(reader, Object.keys(environment), publicUrl),
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
    aws: readAws(reader),
    trustedProxies: readProxies(reader),
    limits: readLimits(reader, production),
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

function readAws(reader: Reader): AwsEnvironment {
  const region = reader.text('AWS_REGION')
  if (region !== null && !/^[a-z0-9-]{1,40}$/.test(region)) {
    reader.faults.push('AWS_REGION is not a region; write one such as us-east-1')
  }
  const [accessKeyId, secretAccessKey] = [reader.text('AWS_ACCESS_KEY_ID'), reader.text('AWS_SECRET_ACCESS_KEY')]
  if (accessKeyId !== null && secretAccessKey !== null) {
    const sessionToken = reader.text('AWS_SESSION_TOKEN')
    return { secret: { kind: 'aws', accessKeyId, secretAccessKey, sessionToken }, region }
  }
  if (accessKeyId !== null || secretAccessKey !== null) {
    reader.faults.push('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together; set both or neither')
  }
  return { secret: null, region }
}

const ADDRESS = /^[0-9a-f.:]+(\/\d{1,3})?$/i

function readProxies(reader: Reader): readonly string[] {
  const proxies = (reader.text('TRUSTED_PROXIES') ?? '').split(',').map(address => address.trim())
  const named = proxies.filter(address => address !== '')
  if (named.every(address => ADDRESS.test(address))) return named
  reader.faults.push('TRUSTED_PROXIES is not a list of addresses; write some such as 10.0.0.5,192.168.0.0/16')
  return []
}

function readLimits(reader: Reader, production: boolean): ConfigLimits {
  const names = Object.keys(LIMITS) as (keyof ConfigLimits)[]
  const read = (name: keyof ConfigLimits) => {
    const row = LIMITS[name]
    return reader.integer(limitVariable(name), { ...row, fallback: (production && row.production) || row.fallback })
  }
  return Object.fromEntries(names.map(name => [name, read(name)])) as unknown as ConfigLimits
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
