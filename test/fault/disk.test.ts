/** Fills the disks that hold Postgres' data and a gateway's spool: small file systems, which only root can mount. */

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { judge } from './support/check.ts'
import { type Customer, VND } from './support/customers.ts'
import type { GatewayProcess } from './support/gateways.ts'
import { eventually } from './support/wait.ts'
import { createWorld, settled, type World } from './support/world.ts'

const MIB = 2 ** 20
const mounts: string[] = []

/** Mounts a small file system in memory and returns its folder; null if this user may not mount file systems. */
function mountSmall(bytes: number): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-disk-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]).status === 0
  if (!mounted) {
    rmdirSync(folder)
    return null
  }
  chmodSync(folder, 0o755)
  mounts.push(folder)
  return folder
}

afterAll(() => {
  for (const folder of mounts) {
    spawnSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Fills the disk that a folder is on, leaving `bytes` free. */
function fill(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder)
  try {
    writeFileSync(join(folder, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - bytes)))
  } catch (error) {
    // Other writers may have filled the disk first, which is the goal anyway.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

function empty(folder: string): void {
  rmSync(join(folder, 'ballast'), { force: true })
}

function call(world: World, customer: Customer) {
  const { url, name } = world.gateways[0] as GatewayProcess
  const plan = { url, gateway: name, ...customer, entryId: 'gpt-5.5', secret: world.secret }
  return world.client.call({ ...plan, format: 'chat_completions', streamed: false })
}

async function expectNothingLost(world: World): Promise<void> {
  await settled(world, 120_000)
  const look = () =>
    judge({
      sql: world.sql,
      replies: world.oracle.replies,
      calls: world.client.calls,
      transfers: [],
      runs: new Map(world.gateways.map(gateway => [gateway.name, gateway.runs])),
    })
  const { findings } = await eventually(look, ({ clean }) => clean).catch(look)
  expect(findings).toEqual(Object.fromEntries(Object.keys(findings).map(name => [name, []])))
  expect(world.gateways.flatMap(({ runs }) => runs).filter(({ endedAt }) => endedAt !== null)).toEqual([])
}

const database = mountSmall(160 * MIB)
const WHY = database === null ? ' (skipped: this user cannot mount a small file system)' : ''

test.skipIf(database === null)(
  `the disk of Postgres' tables is full: calls are 503, served calls are charged when there is room again${WHY}`,
  async () => {
    const folder = database as string
    const world = await createWorld({
      gateways: 1,
      clusterFolder: join(folder, 'cluster'),
      environment: { LIMIT_DATABASE_WAIT_MS: '3000' },
      settings: { max_wal_size: '64MB', min_wal_size: '32MB' },
    })
    try {
      // Put the WAL on another disk. A full WAL disk would stop the server; that case is left to storm.test.ts.
      await world.cluster.stop()
      const wal = join(world.cluster.data, 'pg_wal')
      const elsewhere = join(world.folder, 'wal')
      chmodSync(world.folder, 0o755)
      spawnSync('cp', ['-a', wal, elsewhere])
      rmSync(wal, { recursive: true })
      symlinkSync(elsewhere, wal)
      await world.cluster.start()
      const customer = await world.customers.create(world.sql, 1_000_000n * VND)
      expect(
        (
          await eventually(
            () => call(world, customer),
            ({ status }) => status === 200,
          )
        ).complete,
      ).toBe(true)
      // Calls whose holds are in place when the disk fills, so that some served calls cannot be charged yet.
      const { promise: gate, resolve: open } = Promise.withResolvers<void>()
      world.oracle.gate = gate
      const inFlight = Array.from({ length: 50 }, () => call(world, customer))
      await eventually(
        () => world.oracle.open,
        count => count === inFlight.length,
      )
      world.oracle.gate = null
      // Tables grow by more than a page at a time.
      fill(folder, 64 * 1024)
      const statuses = new Set<number>()
      const isFull = () => readFileSync(world.cluster.logFile, 'utf8').includes('No space left on device')
      // A busy machine returns some 503s even before the disk is full.
      for (let round = 0; round < 60 && !(isFull() && statuses.has(503)); round++) {
        const calls = await Promise.all(Array.from({ length: 50 }, () => call(world, customer)))
        for (const { status } of calls) statuses.add(status)
      }
      open()
      const served = await Promise.all(inFlight)
      expect(served.map(({ status }) => status)).toEqual(inFlight.map(() => 200))
      expect(isFull()).toBe(true)
      statuses.delete(200)
      expect([...statuses]).toEqual([503])
      empty(folder)
      await eventually(
        () => call(world, customer),
        ({ status }) => status === 200,
      )
      await expectNothingLost(world)
    } finally {
      await world.close()
    }
  },
)

test.skipIf(database === null)(`the disk of the spool is full: calls continue, and are charged${WHY}`, async () => {
  const spool = mountSmall(MIB) as string
  const world = await createWorld({ gateways: 0 })
  try {
    const gateway = await world.add('small')
    mkdirSync(gateway.dataDir, { recursive: true })
    symlinkSync(spool, join(gateway.dataDir, 'spool'))
    expect(await gateway.start()).toBe(true)
    const customer = await world.customers.create(world.sql, 1_000_000n * VND)
    fill(spool, 0)
    const calls = await Promise.all(Array.from({ length: 200 }, () => call(world, customer)))
    expect(calls.filter(({ complete }) => !complete)).toEqual([])
    expect(readFileSync(gateway.logFile, 'utf8')).toContain('spool_failed')
    empty(spool)
    expect((await call(world, customer)).complete).toBe(true)
    await expectNothingLost(world)
  } finally {
    await world.close()
  }
})
