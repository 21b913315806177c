/**
 * Cuts links and kills hosts under load, and repairs each fault as docs/operations.md says. At the end, checks that no money
 * was lost or charged twice.
 */

import { type Findings, judge } from '../fault/support/check.ts'
import type { ClientCall } from '../fault/support/client.ts'
import { type Customer, type Transfer, VND } from '../fault/support/customers.ts'
import { eventually, sleep } from '../fault/support/wait.ts'
import { settled } from '../fault/support/world.ts'
import { PRICES } from '../soak/books.ts'
import { LATE_MS, Load, REPRICED_MODEL } from './load.ts'
import type { HostsReport, StepReport } from './report.ts'
import { BALANCER_HOST, createWorld, GATEWAY_HOSTS, killGateway, startGateway, type World } from './world.ts'

export interface HostsOptions {
  readonly ratePerSecond: number
  /** Runs only the steps whose names match. */
  readonly only: RegExp
  readonly onProgress: (line: string) => void
}

interface Step {
  readonly what: string
  /**
   * How many seconds may pass until calls are served again, counted from the operator's first command or, without one, from the
   * fault.
   */
  readonly withinS: number
  /** Maximum number of calls that may fail; no limit if left out. */
  readonly failedMax?: number
  /** Causes the fault, then repairs it. Calls `onRepair` right before the operator's first command. */
  readonly run: (onRepair: () => void) => Promise<void>
  /** Once calls are served again, restores what the next step needs. */
  readonly after?: () => Promise<void>
}

type Sent = Transfer & { acknowledged: boolean }

const CUSTOMERS = 6
/** How long links stay cut. */
const CUT_MS = 12_000
/** How long the operator takes to react to a fault. */
const REACTION_MS = 5_000
const NEW_PRICE_VND = 2_401

class Hosts {
  readonly #world: World
  readonly #options: HostsOptions
  readonly #transfers: Sent[] = []
  readonly #customers: Customer[] = []

  constructor(world: World, options: HostsOptions) {
    this.#world = world
    this.#options = options
  }

  async run(): Promise<HostsReport> {
    const { customers, pair, client } = this.#world
    for (let index = 0; index < CUSTOMERS; index++)
      this.#customers.push(await customers.create(pair.sql, 1_000_000_000n * VND))
    const plan = this.#steps().filter(({ what }) => this.#options.only.test(what))
    for (const [index] of plan.entries()) {
      const { accountId } = this.#customers[index % CUSTOMERS] as Customer
      this.#transfers.push({ ...(await customers.transfer(pair.sql, accountId, 50_000)), acknowledged: false })
    }
    const load = new Load(this.#world, this.#customers)
    const loading = load.run(this.#options.ratePerSecond)
    const startedAt = Date.now()
    const steps: StepReport[] = []
    try {
      await load.calm(startedAt)
      for (const step of plan) steps.push(await this.#play(step, load))
    } finally {
      load.stop()
      await loading
    }
    const seconds = (Date.now() - startedAt) / 1_000
    return { seconds, calls: client.calls.length, steps, ...(await this.#check()) }
  }

  #steps(): readonly Step[] {
    const { network, pair, gateways, releases } = this.#world
    const [gateway] = gateways
    const [host] = GATEWAY_HOSTS
    const cut = async (...link: readonly [string, string]) => {
      network.cut(...link)
      await sleep(CUT_MS)
      network.mend(...link)
    }
    const failOver = async (onRepair: () => void) => {
      await sleep(REACTION_MS)
      onRepair()
      await pair.failOver()
    }
    return [
      { what: 'link balancer – gateway 1 cut', withinS: 12, run: () => cut(BALANCER_HOST, host) },
      { what: 'link gateway 1 – primary cut', withinS: 12, run: () => cut(host, pair.primaryHost) },
      {
        what: 'link primary – standby cut; the primary goes on alone',
        withinS: 15,
        run: async onRepair => {
          network.cut(pair.primaryHost, pair.standbyHost)
          await sleep(CUT_MS)
          if ((await pair.waiting()) === 0) throw new Error('no settlement waits for the standby')
          onRepair()
          await pair.require(false)
        },
        after: async () => {
          network.mend(pair.primaryHost, pair.standbyHost)
          await pair.require(true)
        },
      },
      {
        what: 'link primary – standby cut and mended',
        withinS: 15,
        run: async onRepair => {
          network.cut(pair.primaryHost, pair.standbyHost)
          await sleep(CUT_MS)
          onRepair()
          network.mend(pair.primaryHost, pair.standbyHost)
        },
      },
      {
        what: 'host of gateway 1 lost',
        withinS: 12,
        run: async () => {
          const gone = killGateway(gateway)
          network.unplug(host)
          await gone
        },
        after: async () => {
          network.plug(host)
          await startGateway(gateway)
        },
      },
      {
        what: 'host of the primary lost; standby promoted',
        withinS: 15,
        run: async onRepair => {
          pair.killPrimary()
          network.unplug(pair.primaryHost)
          await failOver(onRepair)
        },
        after: () => this.#rejoin(),
      },
      {
        what: 'primary cut off but alive; shut off, standby promoted',
        withinS: 15,
        run: async onRepair => {
          network.unplug(pair.primaryHost)
          await failOver(onRepair)
        },
        after: () => this.#rejoin(),
      },
      {
        what: 'a release rolled over both hosts',
        withinS: 5,
        failedMax: 0,
        run: async () => {
          for (const each of gateways) {
            each.main = releases[1].main
            const ended = await each.signal('SIGTERM')
            if (ended?.code !== 0) throw new Error(`${each.name} exited with ${JSON.stringify(ended)}`)
            await startGateway(each)
            await this.#bothServe()
          }
        },
      },
      {
        what: 'a price changed on both hosts',
        withinS: 5,
        failedMax: 0,
        run: async () => {
          releases[1].reprice(REPRICED_MODEL, NEW_PRICE_VND)
          for (const each of gateways) {
            each.poke('SIGHUP')
            await sleep(CUT_MS)
          }
        },
      },
    ]
  }

  async #play({ what, withinS, failedMax, run, after }: Step, load: Load): Promise<StepReport> {
    this.#options.onProgress(what)
    const faultAt = Date.now()
    let mendedAt = faultAt
    const top = this.#topUp()
    await run(() => {
      mendedAt = Date.now()
    })
    const calls = await load.calm(faultAt)
    await top
    await after?.()
    await this.#bothServe()
    const failed = calls.filter(call => call.endedAt > 0 && !call.complete)
    const served = calls.filter(call => call.complete && call.endedAt > mendedAt).map(({ endedAt }) => endedAt)
    const last = Math.max(mendedAt, Math.min(...served), ...failed.map(({ startedAt }) => startedAt))
    const servedS = (last - mendedAt) / 1_000
    const report = {
      ...{ what, withinS, failedMax: failedMax ?? null, servedS },
      ...{ calls: calls.length, failed: failed.length, statuses: countStatuses(failed) },
      operatorAfterS: (mendedAt - faultAt) / 1_000,
    }
    this.#options.onProgress(
      `  ${calls.length} calls, served again after ${servedS} s; failed: ${formatCalls(failed, faultAt)}`,
    )
    return report
  }

  /** Brings the old primary's host back as the standby of the new primary. */
  async #rejoin(): Promise<void> {
    const { network, pair } = this.#world
    network.plug(pair.standbyHost)
    await pair.addStandby()
  }

  async #bothServe(): Promise<void> {
    const { replies } = this.#world.oracle
    const from = replies.length
    await eventually(
      () => new Set(replies.slice(from).map(({ gateway }) => gateway)).size,
      count => count === GATEWAY_HOSTS.length,
      { timeoutMs: LATE_MS },
    ).catch(async error => {
      const states = this.#world.gateways.map(async ({ url }) => (await fetch(`${url}/readyz`)).text())
      throw new Error(`a gateway is not serving calls: ${(await Promise.all(states)).join(' ')}`, { cause: error })
    })
  }

  /** Notifies the gateways of a bank transfer during the fault, and repeats this until one of them accepts it. */
  async #topUp(): Promise<void> {
    const { customers, gateways } = this.#world
    const transfer = this.#transfers.find(({ acknowledged }) => !acknowledged) as Sent
    let turn = 0
    await eventually(
      () => customers.notify((gateways[turn++ % 2] as World['gateways'][number]).url, transfer),
      status => status === 200,
      { timeoutMs: LATE_MS, pauseMs: 1_000 },
    )
    transfer.acknowledged = true
  }

  async #check(): Promise<Pick<HostsReport, 'findings' | 'prices'>> {
    const { pair, oracle, client, gateways } = this.#world
    const { sql } = pair
    await settled({ sql })
    const look = () =>
      judge({
        ...{ sql, replies: oracle.replies, calls: client.calls, transfers: this.#transfers },
        runs: new Map(gateways.map(({ name, runs }) => [name, runs])),
        laterPricesVnd: new Map([[REPRICED_MODEL, [NEW_PRICE_VND]]]),
      })
    const { findings } = await eventually(look, ({ clean }) => clean, { timeoutMs: 30_000 }).catch(look)
    const mixed = await sql.unsafe(PRICES, [REPRICED_MODEL])
    const [row] = await sql.unsafe(
      'select count(distinct price_vnd)::integer as n from usage where entry_id = $1 and status <> 599',
      [REPRICED_MODEL],
    )
    const wrong = mixed.map(({ digest, prices }) => `catalogue ${digest} has ${prices} prices`)
    const all: Findings = { ...findings, wrong: [...findings.wrong, ...wrong] }
    return { findings: all, prices: row?.n }
  }
}

/** Formats calls as status and time: the seconds from the fault to the call's start and end. */
function formatCalls(calls: readonly ClientCall[], faultAt: number): string {
  const seconds = (at: number) => ((at - faultAt) / 1_000).toFixed(1)
  return calls
    .map(
      ({ status, fault, startedAt, endedAt }) => `${status} ${fault ?? ''} ${seconds(startedAt)}–${seconds(endedAt)}`,
    )
    .join(', ')
}

function countStatuses(calls: readonly ClientCall[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(calls, ({ status, fault }) =>
    status === 200 || status === 0 ? `${fault}` : String(status),
  )
  return Object.fromEntries([...groups].sort().map(([name, same]) => [name, same.length]))
}

export async function runHosts(options: HostsOptions): Promise<HostsReport> {
  const world = await createWorld()
  try {
    return await new Hosts(world, options).run()
  } finally {
    await world.close()
  }
}
