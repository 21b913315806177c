/**
 * A real Postgres for development, from binaries installed by npm. Every process that uses it holds a file lock, which
 * the kernel releases when the process dies; the last user to leave stops the server.
 */

import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { openDatabase } from '../lib/database.ts'
import { FileLock } from '../lib/file-lock.ts'
import { completeNativeDirectory, copyNativeDirectory, locateNativeDirectory } from './embedded/binaries.ts'
import {
  canRun,
  chooseIdentity,
  type Identity,
  type Runner,
  runAs,
  runAsSelf,
  runWithReadAccess,
} from './embedded/identity.ts'
import { findPostmaster, startPostmaster, stopPostmaster } from './embedded/server.ts'

export interface EmbeddedPostgresOptions {
  /** Folder for the gateway's files; Postgres keeps `postgres/`, `postgres.json` (mode 0600) and two lock files in it. */
  readonly dataDir: string
  /** False gives up durability on power loss for speed; for tests only. */
  readonly durable?: boolean
  readonly startTimeoutMs?: number
  readonly stopTimeoutMs?: number
  /** Extra server settings, overriding the defaults below. */
  readonly settings?: Readonly<Record<string, string>>
  /** Path of `setpriv`, with which root runs Postgres as another user that can still read every folder; null to do without. */
  readonly setpriv?: string | null
  /**
   * Where binaries and data go when the gateway runs as root, the database user cannot enter the project's folder, and setpriv
   * is missing.
   */
  readonly outsideDir?: string
}

export interface EmbeddedPostgres {
  readonly url: string
  /** True when the server was already running. */
  readonly joined: boolean
  /** Releases the server, and stops it unless another process uses it. */
  stop(): Promise<void>
}

const DATABASE = 'gateway'
const ROLE = 'postgres'
const LOCK_TIMEOUT_MS = 60_000

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '512MB',
  checkpoint_timeout: '15min',
  io_method: 'sync',
  jit: 'off',
  log_checkpoints: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The log must never repeat a statement's contents.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}

interface Place {
  readonly run: Runner
  readonly identity: Identity | null
  readonly native: string
  /** Owned by the user that runs Postgres; contains `data/` and the log. */
  readonly home: string
}

interface Secrets {
  readonly port: number
  readonly password: string
}

/**
 * Starts the server with its files in `dataDir`, or joins the running one; creates the data on first use (about 2 s; later
 * starts take under 1 s). Rejects with an Error that says what to do.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const root = resolve(options.dataDir)
  mkdirSync(root, { recursive: true, mode: 0o755 })
  const starting = new FileLock(join(root, 'postgres.start.lock'))
  const users = new FileLock(join(root, 'postgres.users.lock'))
  await starting.exclusive({ timeoutMs: LOCK_TIMEOUT_MS })
  let place: Place
  let started: { secrets: Secrets; joined: boolean }
  try {
    place = choosePlace(root, options)
    started = await joinOrStart(root, place, options)
    if (!users.tryShared()) throw new Error(`${root}/postgres.users.lock is held by a process that is not a gateway`)
  } finally {
    starting.release()
  }
  let stopped: Promise<void> | null = null
  return {
    url: urlOf(started.secrets),
    joined: started.joined,
    stop() {
      stopped ??= leave({ starting, users, place, timeoutMs: options.stopTimeoutMs ?? 10_000 })
      return stopped
    },
  }
}

async function leave(instance: {
  starting: FileLock
  users: FileLock
  place: Place
  timeoutMs: number
}): Promise<void> {
  const { starting, users, place, timeoutMs } = instance
  await starting.exclusive({ timeoutMs: LOCK_TIMEOUT_MS })
  try {
    users.release()
    if (!users.tryExclusive()) return
    await stopPostmaster(join(place.home, 'data'), { timeoutMs })
  } finally {
    users.release()
    starting.release()
  }
}

function choosePlace(root: string, options: EmbeddedPostgresOptions): Place {
  const native = locateNativeDirectory()
  completeNativeDirectory(native)
  const home = makeHome(join(root, 'postgres'))
  const identity = chooseIdentity(home)
  if (identity === null) return { run: runAsSelf, identity, native, home }
  const program = { postgres: join(native, 'bin', 'postgres'), folder: home }
  chownSync(home, identity.uid, identity.gid)
  const runners = [runAs(identity)]
  const setpriv = options.setpriv === undefined ? 'setpriv' : options.setpriv
  if (setpriv !== null) runners.push(runWithReadAccess(identity, setpriv))
  const run = runners.find(candidate => canRun(candidate, program))
  if (run !== undefined) return { run, identity, native, home }
  if (existsSync(join(home, 'data'))) {
    throw new Error(
      `Postgres cannot run as root on the data in ${home}: install setpriv (util-linux), or move the project to a folder that every user can enter.`,
    )
  }
  return placeOutside(root, { native, identity, base: options.outsideDir ?? '/var/lib/gateway-postgres' })
}

function placeOutside(
  root: string,
  { native, identity, base }: { native: string; identity: Identity; base: string },
): Place {
  const folder = join(base, createHash('sha256').update(root).digest('hex').slice(0, 16))
  const copy = join(folder, 'native')
  copyNativeDirectory(native, copy)
  const home = makeHome(join(folder, 'postgres'))
  chownSync(home, identity.uid, identity.gid)
  const run = runAs(identity)
  if (canRun(run, { postgres: join(copy, 'bin', 'postgres'), folder: home }))
    return { run, identity, native: copy, home }
  throw new Error(
    `Postgres cannot be run as user ${identity.uid} from ${folder}. Set DATABASE_URL to a PostgreSQL 18 server.`,
  )
}

function makeHome(home: string): string {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const owner = statSync(home).uid
  const self = process.getuid?.()
  if (self !== undefined && self !== 0 && owner !== self) {
    throw new Error(`${home} belongs to user ${owner}. Run as that user or as root, or set DATA_DIR to another folder.`)
  }
  return home
}

async function joinOrStart(
  root: string,
  place: Place,
  options: EmbeddedPostgresOptions,
): Promise<{ secrets: Secrets; joined: boolean }> {
  const dataDirectory = join(place.home, 'data')
  const file = join(root, 'postgres.json')
  const timeoutMs = options.startTimeoutMs ?? 30_000
  if (!existsSync(dataDirectory))
    initialise(place, { file, durable: options.durable ?? true, secrets: await newSecrets() })
  const version = readFileSync(join(dataDirectory, 'PG_VERSION'), 'utf8').trim()
  if (version !== '18')
    throw new Error(
      `${dataDirectory} was made by Postgres ${version}; this gateway runs 18. Export the data, or set DATA_DIR to another folder.`,
    )
  let secrets = readSecrets(file)
  const running = findPostmaster(dataDirectory)
  if (running !== null) secrets = { ...secrets, port: running.port }
  else {
    if (!(await isFree(secrets.port))) secrets = { ...secrets, port: await freePort() }
    await startPostmaster({
      run: place.run,
      postgres: join(place.native, 'bin', 'postgres'),
      dataDirectory,
      logFile: join(place.home, 'server.log'),
      port: secrets.port,
      settings: {
        ...SETTINGS,
        ...(options.durable === false ? { fsync: 'off', full_page_writes: 'off' } : {}),
        ...options.settings,
      },
      timeoutMs,
    })
  }
  writeSecrets(file, secrets)
  await createDatabase(secrets, { timeoutMs })
  return { secrets, joined: running !== null }
}

function initialise(
  place: Place,
  { file, durable, secrets }: { file: string; durable: boolean; secrets: Secrets },
): void {
  writeSecrets(file, secrets)
  const passwordFile = join(place.home, 'password')
  const partial = join(place.home, 'data.partial')
  rmSync(partial, { recursive: true, force: true })
  writeFileSync(passwordFile, secrets.password, { mode: 0o600 })
  if (place.identity !== null) chownSync(passwordFile, place.identity.uid, place.identity.gid)
  try {
    const {
      args,
      file: program,
      ...identity
    } = place.run(join(place.native, 'bin', 'initdb'), [
      `--pgdata=${partial}`,
      `--username=${ROLE}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--data-checksums',
      '--no-instructions',
      ...(durable ? [] : ['--no-sync']),
    ])
    const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' }
    const result = spawnSync(program, args, { ...identity, cwd: '/', env, encoding: 'utf8', timeout: 120_000 })
    if (result.status !== 0) {
      throw new Error(
        `The embedded Postgres could not create its data: ${result.error?.message ?? result.stderr.trim()}`,
      )
    }
    renameSync(partial, join(place.home, 'data'))
  } finally {
    rmSync(passwordFile, { force: true })
  }
}

async function newSecrets(): Promise<Secrets> {
  return { port: await freePort(), password: randomBytes(24).toString('base64url') }
}

function writeSecrets(file: string, secrets: Secrets): void {
  const partial = `${file}.partial`
  writeFileSync(partial, `${JSON.stringify(secrets)}\n`, { mode: 0o600 })
  renameSync(partial, file)
}

function readSecrets(file: string): Secrets {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(
      `Cannot read ${file}, which contains the password of the embedded Postgres. Restore it, or delete the data next to it to start afresh.`,
      { cause: error },
    )
  }
  const { port, password } = value as Partial<Secrets>
  if (typeof port !== 'number' || typeof password !== 'string')
    throw new Error(`${file} does not contain a port and a password`)
  return { port, password }
}

function urlOf({ port, password }: Secrets, database: string = DATABASE): string {
  return `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}`
}

/** Checks that the server accepts our password, and creates the database on first use. */
async function createDatabase(secrets: Secrets, { timeoutMs }: { timeoutMs: number }): Promise<void> {
  const deadline = performance.now() + timeoutMs
  const STARTING_UP = '57P03'
  for (;;) {
    const sql = openDatabase({ url: urlOf(secrets, 'postgres'), name: 'gateway start', connectionsMax: 1 })
    try {
      const found = await sql`select 1 from pg_database where datname = ${DATABASE}`
      if (found.length === 0) await sql.unsafe(`create database ${DATABASE}`)
      return
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : ''
      if ((code !== STARTING_UP && code !== 'ECONNREFUSED') || performance.now() > deadline) throw error
    } finally {
      await sql.end({ timeout: 1 })
    }
    await new Promise(done => setTimeout(done, 50))
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise(done => {
    const probe = createServer()
    probe.once('error', () => done(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => done(true)))
  })
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer()
    probe.once('error', fail)
    probe.listen({ port: 0, host: '127.0.0.1' }, () => {
      const address = probe.address()
      probe.close(() =>
        address !== null && typeof address === 'object'
          ? done(address.port)
          : fail(new Error('could not get a free port from the operating system')),
      )
    })
  })
}
