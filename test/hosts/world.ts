/**
 * Starts a balancer, two gateways, a primary and its standby, each on a host of its own. The provider and the clients run in
 * the test process, outside these hosts.
 */

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { childrenOf, sendSignal } from '../fault/support/child.ts'
import { Client } from '../fault/support/client.ts'
import { Customers } from '../fault/support/customers.ts'
import { GatewayProcess } from '../fault/support/gateways.ts'
import { Oracle } from '../fault/support/oracle.ts'
import { copyProject, type ProjectCopy } from '../support/project-copy.ts'
import { seededRandom } from '../support/random.ts'
import { startBalancer } from './balancer.ts'
import { Network } from './network.ts'
import { DATABASE_HOSTS, Pair } from './pair.ts'

export const BALANCER_HOST = 'lb'
export const GATEWAY_HOSTS = ['gw1', 'gw2'] as const

export interface World {
  readonly network: Network
  readonly pair: Pair
  readonly gateways: readonly [GatewayProcess, GatewayProcess]
  readonly customers: Customers
  readonly oracle: Oracle
  readonly client: Client
  /** URL of the balancer. */
  readonly url: string
  /** The release that runs first, and the one that follows it. */
  readonly releases: readonly [ProjectCopy, ProjectCopy]
  close(): Promise<void>
}

export async function createWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-hosts-'))
  // Postgres runs as another user, who must be able to enter the folder.
  chmodSync(folder, 0o755)
  // With KEEP=yes, logs, spools and the stopped database stay for inspection.
  const keep = process.env.KEEP === 'yes'
  const undo: (() => unknown)[] = [
    () => {
      if (keep) process.stderr.write(`kept: ${folder}\n`)
      else rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  ]
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const network = new Network([BALANCER_HOST, ...GATEWAY_HOSTS, ...DATABASE_HOSTS])
    undo.push(() => network.remove())
    const pair = await Pair.create(network, folder)
    undo.push(() => (keep ? pair.stop() : pair.remove()))
    await pair.addStandby()
    const oracle = await Oracle.start(
      { random: seededRandom(1), faultsPerMille: 0, pauseMsMax: 300, events: 6 },
      network.gateway,
    )
    undo.push(() => oracle.close())
    const releases = [copyProject(), copyProject()] as const
    for (const release of releases) undo.push(() => release.remove())
    releases[1].edit('package.json', '"version": "', '"version": "1')
    const customers = new Customers()
    const balancer = network.host(BALANCER_HOST)
    const environment = {
      DATABASE_URL: pair.url,
      PUBLIC_URL: `https://${balancer.address}`,
      TRUSTED_PROXIES: balancer.address,
      WORKERS: '1',
      // Compiling a new release takes a long time on a busy machine.
      LIMIT_WORKER_START_MS: '300000',
      ...customers.environment,
    }
    const gateways = (await Promise.all(
      GATEWAY_HOSTS.map(async name => {
        mkdirSync(join(folder, name))
        return GatewayProcess.create({
          ...{ name, folder: join(folder, name), host: network.host(name), main: releases[0].main },
          environment: { ...environment, ...oracle.environment(name) },
        })
      }),
    )) as [GatewayProcess, GatewayProcess]
    undo.push(() => Promise.all(gateways.map(killGateway)))
    for (const gateway of gateways) await startGateway(gateway)
    const addresses = gateways.map(({ url }) => new URL(url).host) as [string, string]
    const { url, certificate, stop } = await startBalancer({ host: balancer, folder, gateways: addresses })
    undo.push(stop)
    const client = new Client({ connections: 512, timeoutMs: 60_000, certificate })
    undo.push(() => client.close())
    return { network, pair, gateways, customers, oracle, client, url, releases, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Starts a gateway; rejects with the end of its log if it does not start. */
export async function startGateway(gateway: GatewayProcess): Promise<void> {
  if (!(await gateway.start())) throw new Error(`${gateway.name} did not start:\n${gateway.lastRun?.lastWords}`)
}

/** Kills all processes of a gateway at once, as if its machine had lost power. */
export async function killGateway(gateway: GatewayProcess): Promise<void> {
  const workers = gateway.running ? childrenOf(gateway.pid) : []
  const gone = gateway.signal('SIGKILL')
  for (const worker of workers) sendSignal(worker, 'SIGKILL')
  await gone
}
