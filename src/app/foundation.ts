/** What the server and the command line share: configuration, secrets and a migrated database. */

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findForeignSecrets } from '../accounts/fingerprints.ts'
import type { KeySecrets } from '../accounts/key-secret.ts'
import { TABLES } from '../generated/tables.ts'
import { MigrationBusyError, migrate } from '../ledger/migrate.ts'
import { faultCode, openDatabase, type Sql } from '../lib/database.ts'
import { readDatabaseAddress } from '../lib/database-address.ts'
import { generateSecretSet, parseSecretSet } from '../lib/secrets.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import type { EmbeddedPostgres } from './embedded-postgres.ts'

export interface Foundation {
  readonly config: Config
  readonly secrets: KeySecrets
  readonly databaseUrl: string
  /** Postgres URL that bypasses the pooler; null when there is no pooler. */
  readonly databaseDirectUrl: string | null
  /** Small connection pool for accounts, keys and reports. */
  readonly sql: Sql
  readonly embedded: boolean
  close(): Promise<void>
}

/** Reads the environment. Throws ConfigError with every fault. */
export function environmentConfig(environment: NodeJS.ProcessEnv): Config {
  return readConfig({ environment, upstreamIds: TABLES.upstreams.map(upstream => upstream.id) })
}

/** Reads the secrets from the environment; outside production, missing ones are generated once and kept in the data folder. */
function readSecrets(config: Config): KeySecrets {
  const encryptionKeys = config.keyEncryptionKeys ?? localSecret(config.dataDir, 'key-encryption-keys')
  const peppers = config.keyPeppers ?? localSecret(config.dataDir, 'key-peppers')
  return {
    service: TABLES.settings.service,
    encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', encryptionKeys),
    peppers: parseSecretSet('KEY_PEPPERS', peppers),
  }
}

function localSecret(dataDir: string, name: string): string {
  const directory = join(dataDir, 'secrets')
  const file = join(directory, name)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  try {
    writeFileSync(file, `${generateSecretSet()}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    chmodSync(file, 0o600)
  }
  const text = readFileSync(file, 'utf8').trim()
  try {
    parseSecretSet(name, text)
  } catch (error) {
    throw new ConfigError([
      `${file} is damaged (${(error as Error).message}); restore it, or delete it to start with new secrets`,
    ])
  }
  return text
}

/** Imported lazily, because production never needs it. */
async function startEmbedded({ dataDir }: Config): Promise<EmbeddedPostgres> {
  const { startEmbeddedPostgres } = await import('./embedded-postgres.ts')
  return startEmbeddedPostgres({ dataDir })
}

/**
 * Opens and migrates the database (the embedded one if none is configured). Throws if the database's keys were stored with
 * other secrets, unless `anySecrets` is set.
 */
export async function layFoundation(
  config: Config,
  { anySecrets = false }: { readonly anySecrets?: boolean } = {},
): Promise<Foundation> {
  const secrets = readSecrets(config)
  const embedded = config.databaseUrl === null ? await startEmbedded(config) : null
  const databaseUrl = config.databaseUrl ?? (embedded?.url as string)
  const { databaseDirectUrl } = config
  const sql = openDatabase({ url: databaseDirectUrl ?? databaseUrl, name: 'gateway-admin', connectionsMax: 2 })
  const close = async () => {
    await sql.end({ timeout: 5 })
    await embedded?.stop()
  }
  try {
    await requireSession(sql, config)
    await requireUnicode(sql, config)
    await migrate(sql)
  } catch (error) {
    await close()
    if (error instanceof MigrationBusyError || error instanceof ConfigError) throw error
    throw new ConfigError([databaseFault(error, config)])
  }
  try {
    const foreign = anySecrets ? [] : await findForeignSecrets(sql, secrets)
    if (foreign.length > 0) throw new ConfigError([secretsFault(foreign, config)])
  } catch (error) {
    await close()
    throw error
  }
  return { config, secrets, databaseUrl, databaseDirectUrl, sql, embedded: embedded !== null, close }
}

function secretsFault(foreign: readonly string[], { dataDir, keyPeppers, keyEncryptionKeys }: Config): string {
  const own =
    keyPeppers === null || keyEncryptionKeys === null
      ? ` (variables that are not set come from ${dataDir}/secrets)`
      : ''
  return (
    `${foreign.join(', ')}: this database was used with a different secret under that number, so keys created now would ` +
    `never work. Set KEY_PEPPERS and KEY_ENCRYPTION_KEYS to the gateways' values${own}, and give a new secret a new number. ` +
    'If the old secrets are lost for good, run "secrets trust" to accept these; keys created before stop working'
  )
}

/**
 * Throws ConfigError if a pooler stands in between and ignores the settings of sessions. Calls would seem to work, but locks, prepared
 * statements and notifications belong to sessions, too: a living process could count as dead.
 */
async function requireSession(sql: Sql, config: Config): Promise<void> {
  // `openDatabase` asks for both.
  const [row] = await sql`
    select current_setting('statement_timeout')::interval = '60 s'
       and current_setting('idle_in_transaction_session_timeout')::interval = '60 s' as is_ours`
  if (row?.is_ours !== true) throw new ConfigError([poolerFault(config)])
}

function poolerFault(config: Config): string {
  return (
    `${databaseVariable(config)} leads to a connection pooler, which ignores or refuses the settings of sessions; set ` +
    'DATABASE_DIRECT_URL to the address of Postgres itself, beside the pooler in DATABASE_URL (docs/scale.md)'
  )
}

/** Throws ConfigError if the database cannot store every text: bank transfers and names in Vietnamese would be refused later. */
async function requireUnicode(sql: Sql, config: Config): Promise<void> {
  const [row] = await sql`select current_setting('server_encoding') as encoding`
  if (row?.encoding === 'UTF8') return
  throw new ConfigError([
    `${databaseVariable(config)}: the encoding of the database is ${row?.encoding}; create one with UTF8, e.g. ` +
      "create database gateway template template0 encoding 'UTF8' locale 'C'",
  ])
}

function databaseVariable({ databaseDirectUrl }: Config): string {
  return databaseDirectUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL'
}

/** Describes a database error without repeating the URL, which contains a password. */
function databaseFault(error: unknown, config: Config): string {
  const name = databaseVariable(config)
  const url = config.databaseDirectUrl ?? config.databaseUrl
  const place = url === null ? '' : ` at ${readDatabaseAddress(url).place}`
  const code = faultCode(error)
  const text = error instanceof Error ? error.message : String(error)
  // PgBouncer refuses settings that it has not been told to ignore.
  if (text.startsWith('unsupported startup parameter')) return poolerFault(config)
  if (SILENT.has(code)) {
    return (
      `${name}: Postgres${place} did not respond in time (${code}); check host and port of the database, ` +
      'firewalls in between, and the load of the server, then start again'
    )
  }
  return (
    `${name} does not lead to a usable Postgres${place} (${[code, text].filter(Boolean).join(': ')}); ` +
    'check host, port, name, user and password, and that the server is running (version 18 or newer)'
  )
}

/** Error codes for timeouts while connecting or during a statement. */
const SILENT: ReadonlySet<string> = new Set(['CONNECT_TIMEOUT', 'ETIMEDOUT', 'STATEMENT_DEADLINE', '57014'])
