/**
 * The storm: kills gateways and Postgres at random under load, while a bank reports each transfer ten times. Then restarts
 * everything, and compares the ledger with what the provider, the clients and the bank saw.
 */

import { appendFileSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, seededRandom } from '../support/random.ts'
import { countBy, exitsOf, refusedStarts, type StormReport } from './report.ts'
import { judge, lookAtJournal } from './support/check.ts'
import { sendSignal } from './support/child.ts'
import type { ClientCall } from './support/client.ts'
import { type Customer, type Transfer, VND } from './support/customers.ts'
import type { GatewayProcess } from './support/gateways.ts'
import type { Outage } from './support/missing.ts'
import { eventually } from './support/wait.ts'
import { createWorld, settled, type World } from './support/world.ts'

export interface StormOptions {
  readonly seed: number
  readonly durationMs: number
  readonly gateways: number
  /** Number of concurrent calls. */
  readonly clients: number
  /** Shortest and longest pause between two kills. */
  readonly gatewayKillMs: readonly [from: number, to: number]
  readonly databaseKillMs: readonly [from: number, to: number]
  readonly onProgress?: (line: string) => void
}

const ENTRIES = ['gpt-5.5', 'req/gpt-5.5', 'gpt-5.4-mini', 'claude-opus-5', 'claude-sonnet-5'] as const
const REPORTS_PER_TRANSFER = 10
const PROBE_PAUSE_MS = 100

class Storm {
  readonly world: World
  readonly #options: StormOptions
  readonly #random: Random
  readonly #customers: { readonly customer: Customer; readonly poor: boolean }[] = []
  readonly #transfers: (Transfer & { acknowledged: boolean })[] = []
  readonly #seen = new Map<string, string>()
  readonly #databaseAway: Outage[] = []
  readonly #databaseRecoveryMs: number[] = []
  #running = true
  #gatewayKills = 0
  #databaseKills = 0
  #brownOuts = 0
  #longStreams = 0
  #spoolsLittered = 0
  #notifications = 0
  #lowestBalance = 0n
  /** Called once, when a client receives its next whole reply. */
  #onComplete: (() => void) | null = null

  constructor(world: World, options: StormOptions) {
    this.world = world
    this.#options = options
    this.#random = seededRandom(options.seed)
  }

  async run(): Promise<StormReport> {
    const { durationMs, clients, onProgress = () => {} } = this.#options
    const { sql, customers } = this.world
    for (let index = 0; index < 12; index++) {
      const poor = index % 5 === 0
      const credit = poor ? BigInt(1 + this.#random(10)) * VND : 1_000_000_000n * VND
      this.#customers.push({ customer: await customers.create(sql, credit), poor })
    }
    const startedAt = performance.now()
    const supervisors = this.world.gateways.map(gateway => this.#supervise(gateway))
    const loads = Array.from({ length: clients }, () => this.#load())
    const probes = this.world.gateways.map(gateway => this.#probe(gateway))
    const others = [...probes, this.#killGateways(), this.#killDatabase(), this.#bank(), this.#watch()]
    while (performance.now() - startedAt < durationMs) {
      await sleep(Math.min(15_000, durationMs - (performance.now() - startedAt)))
      onProgress(`${Math.round((performance.now() - startedAt) / 1000)} s: ${this.#progress()}`)
    }
    this.#running = false
    await Promise.all([...loads, ...others])
    await Promise.all(supervisors)
    return this.#end((performance.now() - startedAt) / 1000)
  }

  #progress(): string {
    const finished = this.world.oracle.replies.filter(reply => reply.state === 'finished').length
    return `${this.world.client.calls.length} calls, ${finished} finished, ${this.#gatewayKills} + ${this.#databaseKills} kills`
  }

  /** Restarts a gateway whenever it has exited, as a supervisor does. */
  async #supervise(gateway: GatewayProcess): Promise<void> {
    while (this.#running) {
      if (!gateway.running) {
        this.#litterSpool(gateway)
        await gateway.start()
      }
      await sleep(100)
    }
  }

  /** Keeps checking a gateway's health: a busy machine may stall it, and the checker must know up to when it worked. */
  async #probe(gateway: GatewayProcess): Promise<void> {
    while (this.#running) {
      await gateway.probe()
      await sleep(PROBE_PAUSE_MS)
    }
  }

  /** Simulates a disk that appended garbage to a gateway's spool file. It must neither prevent a start nor lose a charge. */
  #litterSpool({ dataDir }: GatewayProcess): void {
    if (this.#random(3) !== 0) return
    const file = globSync('spool/*/*.jsonl', { cwd: dataDir })
      .filter(path => /\/\d{8}\.jsonl$/.test(path))
      .sort()
      .at(-1)
    if (file === undefined) return
    appendFileSync(join(dataDir, file), `\n{"accountId":${this.#random(1_000)},"callId":"\u0000\n`)
    this.#spoolsLittered++
  }

  async #load(): Promise<void> {
    while (this.#running) {
      const gateway = this.#pick(this.world.gateways)
      if (!gateway.ready) {
        await sleep(20)
        continue
      }
      const call = await this.#call(gateway)
      if (call.complete) this.#onComplete?.()
      await sleep(call.status === 200 ? this.#random(40) : 50)
    }
  }

  #call(gateway: GatewayProcess): Promise<ClientCall> {
    const { customer, poor } = this.#pick(this.#customers)
    const entryId = this.#pick(ENTRIES)
    const format = this.#random(2) === 0 ? 'messages' : 'chat_completions'
    const streamed = this.#random(2) === 0
    // Without a conversion, a reply's first event has its unique number, so the usage row of a partial reply has it too.
    const isNumbered = format === 'messages' && entryId.startsWith('claude')
    const leaves = streamed && isNumbered && this.#random(8) === 0
    const isLong = streamed && (isNumbered || !poor) && this.#random(4) === 0
    const longEvents = isLong ? 20 + this.#random(60) : null
    if (isLong) this.#longStreams++
    return this.world.client.call({
      longEvents,
      maxTokens: isLong ? 100_000 : 50,
      url: gateway.url,
      gateway: gateway.name,
      apiKey: customer.apiKey,
      accountId: customer.accountId,
      entryId,
      format,
      streamed,
      leaves,
      secret: this.world.secret,
    })
  }

  async #killGateways(): Promise<void> {
    while (await this.#pause(this.#options.gatewayKillMs)) {
      const gateway = this.#pick(this.world.gateways)
      if (!gateway.running) continue
      this.#gatewayKills++
      await gateway.signal('SIGKILL')
    }
  }

  async #killDatabase(): Promise<void> {
    const { cluster } = this.world
    while (await this.#pause(this.#options.databaseKillMs)) {
      const from = Date.now()
      let killedAt: number | null = null
      const dice = this.#random(4)
      if (dice === 3) this.#brownOuts++
      else this.#databaseKills++
      const backends = cluster.processes().slice(1)
      // If one backend is killed, the postmaster restarts all backends.
      if (dice === 0 && backends.length > 0) {
        // It may have ended since, with the gateway that it served.
        if (sendSignal(this.#pick(backends), 'SIGKILL')) killedAt = Date.now()
      } else if (dice === 3) {
        // Postgres stops responding, but its connections stay open.
        cluster.pause()
        await sleep(500 + this.#random(7_000))
        cluster.resume()
      } else {
        cluster.kill(dice === 1)
        killedAt = Date.now()
        await sleep(this.#random(1_500))
        await cluster.start()
      }
      await eventually(
        () => this.world.sql`select 1`,
        () => true,
      )
      const upAt = performance.now()
      this.#databaseAway.push({ from, to: Date.now() + 2_000, killedAt })
      await new Promise<void>(resolve => {
        const timeout = setTimeout(resolve, 30_000)
        this.#onComplete = () => {
          clearTimeout(timeout)
          this.#onComplete = null
          resolve()
        }
      })
      this.#databaseRecoveryMs.push(performance.now() - upAt)
    }
  }

  /** Simulates a bank: reports each transfer to random gateways ten times at once, and again until one accepts it. */
  async #bank(): Promise<void> {
    const { world } = this
    while (await this.#pause([200, 800])) {
      const { customer, poor } = this.#pick(this.#customers)
      // A poor account gets enough for part of a long stream.
      const amountVnd = poor ? 1 + this.#random(200) : 50_000
      const made = await world.customers.transfer(world.sql, customer.accountId, amountVnd).catch(() => null)
      if (made === null) continue
      const transfer = { ...made, acknowledged: false }
      this.#transfers.push(transfer)
      await this.#notify(transfer)
    }
  }

  async #notify(transfer: Transfer & { acknowledged: boolean }): Promise<void> {
    const send = async () => {
      this.#notifications++
      const { url } = this.#pick(this.world.gateways)
      const status = await this.world.customers.notify(url, transfer).catch(() => 0)
      if (status === 200) transfer.acknowledged = true
    }
    await Promise.all(Array.from({ length: REPORTS_PER_TRANSFER }, send))
    for (let again = 0; again < 5 && !transfer.acknowledged && this.#running; again++) {
      await sleep(300)
      await send()
    }
  }

  /** Keeps recording journal rows, which must not change later, and the lowest balance, which must never be negative. */
  async #watch(): Promise<void> {
    while (await this.#pause([2_000, 2_000])) {
      try {
        await lookAtJournal(this.world.sql, this.#seen, 100)
        const [row] = await this.world.sql.unsafe('select min(balance_micro_vnd)::text as lowest from wallet')
        const lowest = BigInt(row?.lowest ?? 0)
        if (lowest < this.#lowestBalance) this.#lowestBalance = lowest
      } catch {
        // Postgres is unavailable.
      }
    }
  }

  /** Waits for a random time; returns false if the storm is over. */
  async #pause([from, to]: readonly [number, number]): Promise<boolean> {
    const until = performance.now() + from + this.#random(to - from + 1)
    while (this.#running && performance.now() < until) await sleep(Math.min(100, until - performance.now()))
    return this.#running
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#random(items.length)] as Item
  }

  /** Kills and restarts all gateways one last time, waits until everything is settled, and reports. */
  async #end(seconds: number): Promise<StormReport> {
    const { world } = this
    const { client, oracle, gateways, sql } = world
    await Promise.all(gateways.map(gateway => gateway.signal('SIGKILL')))
    this.#gatewayKills += gateways.length
    const started = await Promise.all(gateways.map(gateway => gateway.start()))
    if (started.includes(false)) throw new Error('a gateway did not start after the storm')
    const readyAt = performance.now()
    await settled(world)
    const sweptMs = performance.now() - readyAt
    for (const transfer of this.#transfers) {
      for (let tries = 0; tries < 10 && !transfer.acknowledged; tries++) await this.#notify(transfer)
    }
    await eventually(
      () => oracle.open,
      open => open === 0,
    )
    const runs = new Map(gateways.map(gateway => [gateway.name, gateway.runs]))
    const verdict = await judge({
      databaseAway: this.#databaseAway,
      sql,
      replies: oracle.replies,
      calls: client.calls,
      transfers: this.#transfers,
      runs,
      seen: this.#seen,
    })
    await sql.unsafe('checkpoint')
    const calls = client.calls
    return {
      seed: this.#options.seed,
      seconds,
      calls: calls.length,
      statuses: countBy(calls.map(call => String(call.status))),
      complete: calls.filter(call => call.complete).length,
      left: calls.filter(call => call.left).length,
      gatewayKills: this.#gatewayKills,
      databaseKills: this.#databaseKills,
      brownOuts: this.#brownOuts,
      longStreams: this.#longStreams,
      spoolsLittered: this.#spoolsLittered,
      startsRefused: refusedStarts(gateways, this.#databaseAway).length,
      notifications: this.#notifications,
      transfers: this.#transfers.length,
      acknowledged: this.#transfers.filter(transfer => transfer.acknowledged).length,
      verdict,
      exits: exitsOf(gateways, this.#databaseAway),
      leaks: this.#leaks(),
      hung: calls.filter(call => call.fault === 'TimeoutError').length,
      databaseRecoveryMs: this.#databaseRecoveryMs,
      silencesMs: gateways.flatMap(({ runs: all }) =>
        all.flatMap(({ answeredFrom, killedAt }) =>
          answeredFrom === null || killedAt === null ? [] : [killedAt - answeredFrom],
        ),
      ),
      bootMs: gateways.flatMap(({ runs: all }) =>
        all.flatMap(run => (run.readyAt === null ? [] : [run.readyAt - run.startedAt])),
      ),
      sweptMs,
      lowestBalance: this.#lowestBalance,
    }
  }

  #leaks(): string[] {
    const keys = this.#customers.map(({ customer }) => customer.apiKey)
    return [this.world.secret, 'upstream-secret', ...keys].flatMap(text => this.world.filesWith(text))
  }
}

/** Runs a storm, then calls `inspect` with the test world as the storm left it, and tears the world down. */
export async function runStorm<Answer>(
  options: StormOptions,
  inspect: (report: StormReport, world: World) => Promise<Answer>,
): Promise<Answer> {
  const world = await createWorld({
    gateways: options.gateways,
    seed: options.seed,
    oracle: { faultsPerMille: 20, pauseMsMax: 60, events: 4 },
  })
  try {
    return await inspect(await new Storm(world, options).run(), world)
  } finally {
    await world.close()
  }
}
