/**
 * Destroys Postgres' disk under load, twice. The first time, the data is recovered from a base backup and the archived log; the
 * second time, from the gateway's own backup file. Reports each time what was recovered at once, what the spools added, and how
 * long it took.
 */

import { execFile } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { audit } from '../../src/ledger/audit.ts'
import type { Sql } from '../../src/lib/database.ts'
import { judge } from '../fault/support/check.ts'
import { Cluster } from '../fault/support/cluster.ts'
import { type Customer, type Transfer, VND } from '../fault/support/customers.ts'
import type { GatewayProcess } from '../fault/support/gateways.ts'
import type { Outage } from '../fault/support/missing.ts'
import { eventually } from '../fault/support/wait.ts'
import { createWorld, settled, type World } from '../fault/support/world.ts'
import { programEnvironment } from '../support/program.ts'
import type { Relay } from '../support/relay.ts'
import type { DrillReport, Recovery } from './report.ts'

export interface DrillOptions {
  /** How long the load runs between two steps of the drill, in ms. */
  readonly stepMs: number
  readonly callers: number
  readonly onProgress: (line: string) => void
}

const MAIN = fileURLToPath(new URL('../../src/start.js', import.meta.url))
const CUSTOMERS = 4
const TRANSFERS = 12
const ENTRIES = ['gpt-5.5', 'claude-opus-5'] as const

type Sent = Transfer & { acknowledged: boolean }

class Drill {
  readonly #options: DrillOptions
  readonly #world: World
  readonly #folder: string
  readonly #customers: Customer[] = []
  readonly #transfers: Sent[] = []
  readonly #outages: Outage[] = []
  #calling = false
  #callers: Promise<unknown> = Promise.resolve()
  #cluster: Cluster
  #restored = 0

  constructor(options: DrillOptions, world: World, folder: string) {
    this.#options = options
    this.#world = world
    this.#folder = folder
    this.#cluster = world.cluster
  }

  async run(): Promise<DrillReport> {
    const { stepMs, onProgress } = this.#options
    const { customers, sql } = this.#world
    const startedMs = performance.now()
    for (let index = 0; index < CUSTOMERS; index++)
      this.#customers.push(await customers.create(sql, 1_000_000_000n * VND))
    for (let index = 0; index < TRANSFERS; index++) {
      const { accountId } = this.#customers[index % CUSTOMERS] as Customer
      this.#transfers.push({ ...(await customers.transfer(sql, accountId, 50_000 + index)), acknowledged: false })
    }
    this.#startCalls()
    await this.#load(stepMs)
    onProgress('backup to a file, and base backup, under load')
    const file = join(this.#folder, 'backup.gz')
    const backupMs = await timed(() => this.#command(this.#cluster, 'backup', file))
    const baseBackupMs = await timed(() => this.#cluster.baseBackup(join(this.#folder, 'base')))
    await this.#notify(4)
    await this.#load(stepMs)
    // Calls whose settlement is being committed at the moment may be on either side of it.
    const settled = await sql.unsafe('select call_id from usage')
    const [{ moment } = { moment: '' }] = await sql.unsafe('select clock_timestamp()::text as moment')
    await this.#load(stepMs)
    await this.#notify(4)
    onProgress('the disk is lost; recovering from the base backup and the archived log')
    const replayed = await this.#recover('base backup and archived log, gateways running', async () => {
      const copy = this.#copyOfBase()
      return await this.#startRecovery(copy, {})
    })
    await this.#notify(4)
    await this.#load(stepMs)
    await this.#stopCalls()
    onProgress('recovering to a moment')
    const momentReport = await this.#recoverTo(
      moment,
      settled.map(row => row.call_id),
    )
    onProgress('the disk is lost again; restoring the file')
    const restored = await this.#recover('backup file, gateways stopped', async () => {
      const cluster = await Cluster.create(join(this.#folder, `restored-${++this.#restored}`))
      await cluster.takePasswordOf(this.#world.cluster)
      await Promise.all(this.#world.gateways.map(gateway => gateway.signal('SIGTERM')))
      await this.#command(cluster, 'restore', file)
      return cluster
    })
    await this.#cluster.remove()
    return {
      seconds: (performance.now() - startedMs) / 1000,
      backupMs,
      baseBackupMs,
      recoveries: [replayed, restored],
      moment: momentReport,
    }
  }

  #startCalls(): void {
    this.#calling = true
    this.#callers = Promise.all(Array.from({ length: this.#options.callers }, (_, index) => this.#keepCalling(index)))
  }

  async #stopCalls(): Promise<void> {
    this.#calling = false
    await this.#callers
  }

  async #keepCalling(caller: number): Promise<void> {
    for (let turn = caller; this.#calling; turn++) {
      await this.#call(turn)
      await sleep(20)
    }
  }

  async #call(turn: number) {
    const { gateways, client, secret } = this.#world
    const gateway = gateways[turn % gateways.length] as GatewayProcess
    return client.call({
      ...{ url: gateway.url, gateway: gateway.name, secret },
      ...(this.#customers[turn % CUSTOMERS] as Customer),
      entryId: ENTRIES[turn % ENTRIES.length] as string,
      format: turn % 4 < 2 ? 'messages' : 'chat_completions',
      streamed: turn % 3 === 0,
    })
  }

  /** Lets the load run until `ms` milliseconds have passed and some calls have been served. */
  async #load(ms: number): Promise<void> {
    const { calls } = this.#world.client
    const enough = calls.filter(({ complete }) => complete).length + 2 * this.#options.callers
    await sleep(ms)
    await eventually(
      () => calls.filter(({ complete }) => complete).length,
      served => served >= enough,
    )
  }

  /** Sends the bank's notifications of the next transfers. */
  async #notify(count: number): Promise<void> {
    for (const transfer of this.#transfers.filter(({ acknowledged }) => !acknowledged).slice(0, count)) {
      const { url } = this.#world.gateways[0] as GatewayProcess
      transfer.acknowledged = (await this.#world.customers.notify(url, transfer)) === 200
    }
  }

  /** Runs a gateway CLI command in a separate process. */
  async #command(cluster: Cluster, ...words: string[]): Promise<void> {
    const { customers } = this.#world
    const env = { ...programEnvironment(), ...customers.environment, DATABASE_URL: cluster.url, DATA_DIR: this.#folder }
    await promisify(execFile)(process.execPath, [MAIN, ...words], { env })
  }

  #copyOfBase(): string {
    const folder = join(this.#folder, `restored-${++this.#restored}`)
    cpSync(join(this.#folder, 'base'), folder, { recursive: true, verbatimSymlinks: true })
    return folder
  }

  async #startRecovery(folder: string, settings: Readonly<Record<string, string>>): Promise<Cluster> {
    const restore_command = `cp ${join(this.#folder, 'archive')}/%f %p`
    const cluster = await this.#world.cluster.recoverFrom(folder, {
      archive_mode: 'off',
      restore_command,
      ...settings,
    })
    await cluster.start()
    // A recovering cluster can be read before it has replayed everything, so wait until it has.
    const sql = cluster.open(1)
    await eventually(
      async () => (await sql.unsafe('select pg_is_in_recovery() as recovers'))[0]?.recovers,
      recovers => recovers === false,
      { timeoutMs: 300_000 },
    )
    await sql.end({ timeout: 1 })
    return cluster
  }

  /** Loses the disk, and recovers everything with `restore`. */
  async #recover(how: string, restore: () => Promise<Cluster>): Promise<Recovery> {
    const world = this.#world
    const lostAt = Date.now()
    const lostMs = performance.now()
    const old = this.#cluster
    old.kill(true)
    await eventually(
      () => old.running,
      running => !running,
    )
    rmSync(old.data, { recursive: true, force: true, maxRetries: 5 })
    const wasCalling = this.#calling
    await this.#stopCalls()
    const complete = new Set(world.client.calls.flatMap(({ complete, callId }) => (complete ? [callId] : [])))
    const cluster = await restore()
    const restoredMs = performance.now() - lostMs
    this.#cluster = cluster
    const sql = cluster.open(4)
    try {
      const withoutCharge = await countWithoutCharge(sql, complete)
      const creditsGone = await this.#countCreditsGone(sql)
      const backMs = performance.now()
      ;(world.relay as Relay).moveTo(cluster.port)
      for (const gateway of world.gateways.filter(({ running }) => !running)) {
        if (!(await gateway.start())) throw new Error(`${gateway.name} did not start: ${gateway.lastRun?.lastWords}`)
      }
      if (wasCalling) this.#startCalls()
      await eventually(
        () => this.#call(0),
        call => call.complete,
        { timeoutMs: 120_000 },
      )
      const servedMs = performance.now() - backMs
      this.#outages.push({ from: lostAt, to: Date.now() + 2_000, killedAt: lostAt })
      await eventually(
        () => countWithoutCharge(sql, complete),
        count => count === 0,
        { timeoutMs: 60_000 },
      ).catch(() => {})
      const chargedMs = performance.now() - backMs
      const lost = await countWithoutCharge(sql, complete)
      for (const transfer of this.#transfers.filter(({ acknowledged }) => acknowledged))
        await world.customers.notify((world.gateways[0] as GatewayProcess).url, transfer)
      const creditsLost = await this.#countCreditsGone(sql)
      await this.#stopCalls()
      await settled({ sql }, 120_000)
      const look = () =>
        judge({
          sql,
          replies: world.oracle.replies,
          calls: world.client.calls,
          transfers: this.#transfers,
          runs: new Map(world.gateways.map(({ name, runs }) => [name, runs])),
          databaseAway: this.#outages,
        })
      const { findings } = await eventually(look, ({ clean }) => clean, { timeoutMs: 30_000 }).catch(look)
      if (wasCalling) this.#startCalls()
      const calls = complete.size
      return { how, calls, withoutCharge, lost, creditsGone, creditsLost, restoredMs, servedMs, chargedMs, findings }
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  async #countCreditsGone(sql: Sql): Promise<number> {
    const rows = await sql.unsafe(
      `select provider_ref from bank_txn join credit on reference = 'bank_txn:' || bank_txn_id`,
    )
    const known = new Set(rows.map(row => row.provider_ref))
    return this.#transfers.filter(({ acknowledged, reference }) => acknowledged && !known.has(reference)).length
  }

  /**
   * Recovers a copy of the cluster to its state at a past moment, and compares the copy with the calls that were settled before. No
   * gateway uses the copy.
   */
  async #recoverTo(moment: string, settled: readonly string[]): Promise<DrillReport['moment']> {
    const beganMs = performance.now()
    const cluster = await this.#startRecovery(this.#copyOfBase(), { recovery_target_time: moment })
    const ms = performance.now() - beganMs
    const then = cluster.open(2)
    try {
      const found = new Set((await then.unsafe('select call_id from usage')).map(row => row.call_id))
      const [beyond] = await then.unsafe(
        `select count(*)::integer as n from usage where closed_at > '${moment}'::timestamptz`,
      )
      const { differences } = await audit(then)
      return {
        missing: settled.filter(callId => !found.has(callId)).length,
        beyond: beyond?.n,
        differences: Object.values(differences).reduce((sum, count) => sum + count, 0),
        ms,
      }
    } finally {
      await then.end({ timeout: 1 })
      await cluster.remove()
    }
  }
}

async function countWithoutCharge(sql: Sql, complete: ReadonlySet<string | null>): Promise<number> {
  const rows = await sql.unsafe('select call_id from usage where cost_micro_vnd > 0')
  const charged = new Set(rows.map(row => row.call_id))
  return [...complete].filter(callId => !charged.has(callId)).length
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

export async function runDrill(options: DrillOptions): Promise<DrillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-drill-'))
  // Postgres runs as another user, who must be able to enter the folder.
  chmodSync(folder, 0o755)
  const archive = join(folder, 'archive')
  mkdirSync(archive)
  // Postgres must be able to archive from the first segment on: after a few failures, it waits for a minute.
  chmodSync(archive, 0o777)
  let world: World | null = null
  try {
    world = await createWorld({
      gateways: 2,
      relayed: true,
      clusterFolder: join(folder, 'cluster'),
      settings: {
        archive_mode: 'on',
        archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f`,
        archive_timeout: '2',
      },
      environment: { LIMIT_DRAIN_NOTICE_MS: '0', LIMIT_DRAIN_IDLE_MS: '0' },
    })
    return await new Drill(options, world, folder).run()
  } finally {
    await world?.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
