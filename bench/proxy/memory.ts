/** Memory of gateways and of bare: fresh, after all load, and for each stream that is open and silent. */

import { residentMegabytes } from './cpu.ts'
import { Client } from './load.ts'
import type { Row } from './rows.ts'
import { contendersOf, SMALL_CALL } from './scenarios.ts'
import type { World } from './world.ts'

/** Lets a fresh process finish what its start has put off. */
const SETTLE_MS = 3_000
/** Streams that are opened at one time. */
const AT_ONCE = 50

function rolesOf(world: World) {
  return [
    { contender: 'bare', role: world.bare },
    { contender: 'gateway', role: world.gateway.role },
    ...(world.base === null ? [] : [{ contender: 'base: gateway', role: world.base.role }]),
  ]
}

/** Reads now; the rows are there when it is called again after the load. */
export async function startMemory(world: World): Promise<() => Row[]> {
  await new Promise(resolve => setTimeout(resolve, SETTLE_MS))
  const idle = rolesOf(world).map(({ role }) => residentMegabytes(role.pid))
  return () =>
    rolesOf(world).map(({ contender, role }, index) => ({
      what: 'memory',
      contender,
      figures: { idleMegabytes: idle[index] ?? Number.NaN, afterLoadMegabytes: residentMegabytes(role.pid) },
    }))
}

/**
 * Opens streams, and as many again, in processes of their own, with garbage collected before each reading. The first ones pay for what
 * the process needs once: the second ones tell what a stream costs.
 */
export async function measureOpenStreams(world: World, streams: number): Promise<Row[]> {
  const pace = { streamed: true, events: 10, pauseMs: null, textBytes: 0, calls: 0 }
  await world.tools.answer(pace)
  const fresh = {
    ...world,
    bare: await world.startBare(),
    gateway: await world.startGateway('streams'),
    base: world.base === null ? null : await world.startGateway('base_streams', 'base'),
  }
  const rows: Row[] = []
  for (const { name, role, call } of contendersOf(fresh)) {
    if (!/^(bare, messages|(base: )?messages → messages)$/.test(name)) continue
    const request = call({ ...SMALL_CALL, pace })
    const clients: Client[] = []
    const read = [await role.memoryBytes()]
    for (let half = 0; half < 2; half++) {
      for (let opened = 0; opened < streams; opened += AT_ONCE) {
        const some = Array.from({ length: AT_ONCE }, () => new Client(role.url))
        clients.push(...some)
        await Promise.all(some.map(client => client.open(request)))
      }
      read.push(await role.memoryBytes())
    }
    for (const client of clients) client.close()
    const [before = 0, once = 0, twice = 0] = read
    rows.push({
      what: `${streams} open streams, and as many more`,
      contender: name,
      figures: {
        megabytesOfFirst: (once - before) / 1e6,
        megabytesOfSecond: (twice - once) / 1e6,
        kilobytesEach: (twice - once) / 1e3 / streams,
      },
    })
  }
  for (const role of [fresh.bare, fresh.gateway.role, fresh.base?.role]) await role?.stop()
  return rows
}
