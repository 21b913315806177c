/** Runs a private Postgres with production durability settings, which a test can kill, pause, fill, copy and promote. */

import { execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { locateNativeDirectory } from '../../../src/app/embedded/binaries.ts'
import type { Runner } from '../../../src/app/embedded/identity.ts'
import { findPostmaster, startPostmaster, stopPostmaster } from '../../../src/app/embedded/server.ts'
import { startEmbeddedPostgres } from '../../../src/app/embedded-postgres.ts'
import { migrate } from '../../../src/ledger/migrate.ts'
import { openDatabase, type Sql } from '../../../src/lib/database.ts'
import { FileLock } from '../../../src/lib/file-lock.ts'
import { freePort } from '../../support/program.ts'
import { childrenOf, HERE, type Host, sendSignal } from './child.ts'
import { runnerOn } from './postgres-runner.ts'
import { eventually } from './wait.ts'

const SETTINGS: Readonly<Record<string, string>> = {
  unix_socket_directories: '',
  // Keep shared memory in the data folder, which the test removes. Elsewhere, it would outlive a killed server.
  dynamic_shared_memory_type: 'mmap',
  max_connections: '200',
  shared_buffers: '64MB',
  wal_level: 'replica',
  max_wal_senders: '4',
  max_wal_size: '256MB',
  fsync: 'on',
  full_page_writes: 'on',
  io_method: 'sync',
  jit: 'off',
  timezone: 'UTC',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}

/** Environment variable with the folder of a migrated cluster for all tests to copy. If unset, each test migrates its own. */
export const TEMPLATE_VARIABLE = 'TEST_CLUSTER_TEMPLATE'
/** Access rules of a cluster on a separate host: any address in the host's networks may log in with the password. */
const NEIGHBOURS = 'host all all samenet scram-sha-256\nhost replication all samenet scram-sha-256\n'

/** Clusters that must be killed when this process exits. */
const clusters = new Set<Cluster>()
process.once('exit', () => {
  for (const cluster of clusters) cluster.kill(true)
})

export class Cluster {
  readonly folder: string
  readonly host: Host
  readonly port: number
  #password: string
  readonly #settings: Readonly<Record<string, string>>
  readonly #run: Runner

  private constructor(given: {
    folder: string
    host: Host
    port: number
    password: string
    settings: Readonly<Record<string, string>>
  }) {
    this.folder = given.folder
    this.host = given.host
    this.port = given.port
    this.#password = given.password
    this.#settings = { ...SETTINGS, listen_addresses: given.host === HERE ? HERE.address : '*', ...given.settings }
    this.#run = runnerOn(given.host, join(given.folder, 'postgres'))
    clusters.add(this)
  }

  /** Starts a cluster with an empty database. */
  static async create(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<Cluster> {
    const embedded = await startEmbeddedPostgres({ dataDir: folder })
    await embedded.stop()
    return await Cluster.#start(folder, settings)
  }

  /** Starts a cluster with a migrated database. */
  static async createMigrated(
    folder: string,
    settings: Readonly<Record<string, string>> = {},
    host = HERE,
  ): Promise<Cluster> {
    const template = process.env[TEMPLATE_VARIABLE]
    if (template === undefined) await makeMigrated(folder)
    else await copyMigrated(template, folder)
    const cluster = await Cluster.#start(folder, settings, host)
    const sql = cluster.open(1)
    await sql.unsafe('update database_identity set database_id = gen_random_uuid()')
    await sql.end({ timeout: 1 })
    return cluster
  }

  static async #start(folder: string, settings: Readonly<Record<string, string>>, host = HERE): Promise<Cluster> {
    const { password } = JSON.parse(readFileSync(join(folder, 'postgres.json'), 'utf8')) as { password: string }
    const cluster = new Cluster({ folder, host, port: await portOn(host), password, settings })
    if (host !== HERE) appendFileSync(join(cluster.data, 'pg_hba.conf'), NEIGHBOURS)
    await cluster.start()
    return cluster
  }

  /** Copies this cluster, which must be stopped, as a standby. While both clusters run, the copy follows this one. */
  async copyAsStandby(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<Cluster> {
    mkdirSync(folder, { recursive: true })
    cpSync(join(this.folder, 'postgres'), join(folder, 'postgres'), { recursive: true, verbatimSymlinks: true })
    const follow = { synchronous_standby_names: '', primary_conninfo: this.#follow }
    return this.#copy(folder, 'standby', { ...follow, ...settings })
  }

  /** Creates a standby by copying this cluster while it runs. The cluster must retain its WAL until the standby follows it. */
  async standbyFromBackup(folder: string, host: Host): Promise<Cluster> {
    await this.baseBackup(folder)
    return this.#copy(folder, 'standby', { primary_conninfo: this.#follow }, host)
  }

  get #follow(): string {
    return `host=${this.host.address} port=${this.port} user=postgres password=${this.#password} application_name=standby`
  }

  /** Copies the cluster's files while it runs. Together with the archived WAL, the copy is a complete backup. */
  async baseBackup(folder: string): Promise<void> {
    const target = join(folder, 'postgres', 'data')
    mkdirSync(target, { recursive: true, mode: 0o700 })
    // The session that starts a backup must also stop it.
    const sql = this.open(1)
    try {
      await sql.unsafe(`select pg_backup_start('base', true)`)
      copyLiveFiles(this.data, target)
      const [stopped] = await sql.unsafe('select labelfile from pg_backup_stop(true)')
      writeFileSync(join(target, 'backup_label'), stopped?.labelfile)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  /**
   * Creates a cluster from a base backup of this one. When started, it replays the archived WAL up to its end or to
   * `recovery_target_time`; until then it is read-only. `settings` must have the `restore_command`.
   */
  recoverFrom(folder: string, settings: Readonly<Record<string, string>>): Promise<Cluster> {
    return this.#copy(folder, 'recovery', { recovery_target_action: 'promote', ...settings })
  }

  async #copy(
    folder: string,
    signal: 'standby' | 'recovery',
    settings: Readonly<Record<string, string>>,
    host = this.host,
  ) {
    writeFileSync(join(folder, 'postgres', 'data', `${signal}.signal`), '')
    this.give(join(folder, 'postgres'))
    const all = { ...this.#settings, ...settings }
    return new Cluster({ folder, host, port: await portOn(host), password: this.#password, settings: all })
  }

  /** Takes over another cluster's password, so that programs with that cluster's address can be redirected here. */
  async takePasswordOf(other: Cluster): Promise<void> {
    const sql = this.open(1)
    await sql.unsafe(`alter role postgres password '${other.#password}'`)
    await sql.end({ timeout: 1 })
    this.#password = other.#password
  }

  /** Gives a folder to the user that Postgres runs as. */
  give(folder: string): void {
    giveAway(folder, statSync(join(this.folder, 'postgres')))
  }

  get data(): string {
    return join(this.folder, 'postgres', 'data')
  }

  get logFile(): string {
    return join(this.folder, 'postgres', 'server.log')
  }

  urlAt(port: number, address = this.host.address): string {
    return `postgres://postgres:${this.#password}@${address}:${port}/gateway`
  }

  get url(): string {
    return this.urlAt(this.port)
  }

  open(connectionsMax = 2): Sql {
    return openDatabase({ url: this.url, name: 'fault test', connectionsMax, statementTimeoutMs: 60_000 })
  }

  /** Starts the cluster; resolves when it accepts connections. */
  async start(): Promise<void> {
    await startPostmaster({ ...this.#launch(), timeoutMs: 60_000 })
    await this.#answers()
  }

  /** Starts a standby; resolves when it accepts queries. */
  async startStandby(): Promise<void> {
    const { run, postgres, settings } = this.#launch()
    const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const { file, args, ...identity } = run(postgres, ['-D', this.data, '-p', String(this.port), ...words])
    const log = openSync(this.logFile, 'a')
    const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' }
    spawn(file, args, { ...identity, cwd: '/', env, stdio: ['ignore', log, log], detached: true }).unref()
    closeSync(log)
    await this.#answers()
  }

  #launch() {
    return {
      run: this.#run,
      postgres: join(locateNativeDirectory(), 'bin', 'postgres'),
      dataDirectory: this.data,
      logFile: this.logFile,
      port: this.port,
      settings: this.#settings,
    }
  }

  async #answers(): Promise<void> {
    const sql = this.open(1)
    try {
      await eventually(
        async () => (await sql`select 1 as one`).length,
        count => count === 1,
        { timeoutMs: 60_000 },
      )
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  get running(): boolean {
    return findPostmaster(this.data) !== null
  }

  /** Ids of the postmaster, which comes first, and of every process that it has started. */
  processes(): number[] {
    const postmaster = findPostmaster(this.data)?.processId
    if (postmaster === undefined) return []
    return [postmaster, ...childrenOf(postmaster)]
  }

  /** Sends SIGKILL to the postmaster or, if `whole`, to it and all its processes. */
  kill(whole: boolean): void {
    const [postmaster, ...others] = this.processes()
    if (postmaster === undefined) return
    sendSignal(postmaster, 'SIGKILL')
    if (whole) for (const process of others) sendSignal(process, 'SIGKILL')
  }

  pause(): void {
    for (const process of this.processes()) sendSignal(process, 'SIGSTOP')
  }

  resume(): void {
    for (const process of this.processes()) sendSignal(process, 'SIGCONT')
  }

  async stop(): Promise<void> {
    this.resume()
    await stopPostmaster(this.data, { timeoutMs: 20_000 })
  }

  /** Kills the cluster and removes its files. */
  async remove(): Promise<void> {
    this.resume()
    this.kill(true)
    await eventually(
      () => this.running,
      running => !running,
    )
    clusters.delete(this)
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function makeMigrated(folder: string): Promise<void> {
  const settings = { min_wal_size: '32MB' }
  const embedded = await startEmbeddedPostgres({ dataDir: folder, durable: false, settings })
  const sql = openDatabase({ url: embedded.url, name: 'fault test', connectionsMax: 1 })
  await migrate(sql)
  await sql.end({ timeout: 1 })
  await embedded.stop()
}

/** Copies the migrated cluster that all tests of a run share. The first caller creates it. */
async function copyMigrated(template: string, folder: string): Promise<void> {
  mkdirSync(template, { recursive: true })
  const lock = new FileLock(join(template, 'made.lock'))
  const made = join(template, 'made')
  await lock.exclusive({ timeoutMs: 120_000 })
  try {
    if (!existsSync(made)) {
      const making = join(template, 'making')
      rmSync(making, { recursive: true, force: true })
      await makeMigrated(making)
      renameSync(making, made)
    }
  } finally {
    lock.release()
  }
  cpSync(made, folder, { recursive: true, verbatimSymlinks: true })
  giveAway(join(folder, 'postgres'), statSync(join(made, 'postgres')))
}

/** Postgres' usual port on a separate host, where all ports are free; otherwise any free port. */
async function portOn(host: Host): Promise<number> {
  return host === HERE ? freePort() : 5_432
}

/**
 * Copies a running server's data, without its WAL and its temporary files. Files may change or vanish meanwhile: replaying the
 * WAL, from the archive or from the primary, makes the copy consistent.
 */
function copyLiveFiles(from: string, to: string): void {
  const left = [
    './postmaster.pid',
    './postmaster.opts',
    './pg_wal/*',
    './pg_replslot/*',
    './pg_dynshmem/*',
    './pg_stat_tmp/*',
  ]
  const excluded = left.map(path => `--exclude=${path}`).join(' ')
  const command = `tar -C '${from}' ${excluded} --warning=no-file-changed --warning=no-file-removed -cf - . | tar -C '${to}' -xf -`
  execFileSync('sh', ['-c', command], { stdio: ['ignore', 'ignore', 'pipe'] })
}

/** Gives everything below `folder` to the owner of another folder. */
function giveAway(folder: string, { uid, gid }: { uid: number; gid: number }): void {
  chownSync(folder, uid, gid)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    chownSync(join(entry.parentPath, entry.name), uid, gid)
  }
}
