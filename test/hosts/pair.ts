/** A primary with its synchronous standby, and the actions of their operator, with the commands in docs/operations.md. */

import { join } from 'node:path'
import type { Sql } from '../../src/lib/database.ts'
import { Cluster } from '../fault/support/cluster.ts'
import { eventually } from '../fault/support/wait.ts'
import type { Network } from './network.ts'

export const DATABASE_HOSTS = ['pg1', 'pg2'] as const
type DatabaseHost = (typeof DATABASE_HOSTS)[number]

const SETTINGS = { wal_keep_size: '256MB', wal_sender_timeout: '10s', wal_receiver_timeout: '10s' }

export class Pair {
  readonly #network: Network
  readonly #folder: string
  #primary: Cluster
  #standby: Cluster | null = null
  #sql: Sql
  #hosts: readonly [primary: DatabaseHost, standby: DatabaseHost] = DATABASE_HOSTS
  #copies = 0

  private constructor(network: Network, folder: string, primary: Cluster) {
    this.#network = network
    this.#folder = folder
    this.#primary = primary
    this.#sql = primary.open(4)
  }

  /** Starts a primary without a standby. */
  static async create(network: Network, folder: string): Promise<Pair> {
    const primary = await Cluster.createMigrated(join(folder, 'postgres'), SETTINGS, network.host(DATABASE_HOSTS[0]))
    network.takeFloating(DATABASE_HOSTS[0])
    return new Pair(network, folder, primary)
  }

  /** Connections to the primary at its host's own address. */
  get sql(): Sql {
    return this.#sql
  }

  get primaryHost(): DatabaseHost {
    return this.#hosts[0]
  }

  get standbyHost(): DatabaseHost {
    return this.#hosts[1]
  }

  /** URL of the primary at the floating address, whichever host holds that address. */
  get url(): string {
    return this.#primary.urlAt(this.#primary.port, this.#network.floating)
  }

  /** Turns the other host into a standby with a new copy of the primary. From then on, settlements wait for the standby. */
  async addStandby(): Promise<void> {
    const folder = join(this.#folder, `standby-${++this.#copies}`)
    this.#standby = await this.#primary.standbyFromBackup(folder, this.#network.host(this.standbyHost))
    await this.#standby.startStandby()
    await this.require(true)
  }

  /** Sets whether settlements wait for the standby. */
  async require(standby: boolean): Promise<void> {
    await setNames(this.#sql, standby ? 'standby' : '')
    if (!standby) return
    await eventually(
      async () => (await this.#sql.unsafe('select sync_state from pg_stat_replication'))[0]?.sync_state,
      state => state === 'sync',
    )
  }

  killPrimary(): void {
    this.#primary.kill(true)
  }

  /** How many settlements are waiting for the standby. */
  async waiting(): Promise<number> {
    const [row] = await this.#sql.unsafe(
      `select count(*)::integer as n from pg_stat_activity where wait_event = 'SyncRep'`,
    )
    return row?.n
  }

  /** Shuts off the old primary at its console, promotes the standby, and moves the floating address to it. */
  async failOver(): Promise<void> {
    const [old, promoted] = [this.#primary, this.#standby as Cluster]
    this.#network.dropFloating(this.primaryHost)
    old.kill(true)
    const sql = promoted.open(4)
    await setNames(sql, '')
    await sql.unsafe('select pg_promote()')
    this.#network.takeFloating(this.standbyHost)
    await this.#sql.end({ timeout: 1 })
    this.#sql = sql
    this.#primary = promoted
    this.#standby = null
    this.#hosts = [this.standbyHost, this.primaryHost]
    await old.remove()
  }

  async stop(): Promise<void> {
    await this.#sql.end({ timeout: 1 })
    await this.#standby?.stop()
    await this.#primary.stop()
  }

  async remove(): Promise<void> {
    await this.#sql.end({ timeout: 1 })
    await this.#standby?.remove()
    await this.#primary.remove()
  }
}

async function setNames(sql: Sql, names: string): Promise<void> {
  await sql.unsafe(`alter system set synchronous_standby_names = '${names}'`)
  await sql.unsafe('select pg_reload_conf()')
}
