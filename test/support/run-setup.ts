/**
 * Creates a folder for the run's embedded Postgres and for its processes' compiled code, and cleans up afterwards,
 * including what a killed run left behind.
 */

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../src/app/embedded-postgres.ts'
import { TEMPLATE_VARIABLE } from '../fault/support/cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresDir: string
  }
}

const PREFIX = 'gateway-test-postgres-'

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  for (const name of readdirSync(tmpdir())) {
    const processId = Number(name.startsWith(PREFIX) ? name.slice(PREFIX.length) : Number.NaN)
    if (Number.isInteger(processId) && !isAlive(processId)) await remove(join(tmpdir(), name))
  }
  const folder = join(tmpdir(), `${PREFIX}${process.pid}`)
  mkdirSync(folder, { recursive: true })
  project.provide('postgresDir', folder)
  // Passed to every worker, and to the programs that tests start.
  process.env[TEMPLATE_VARIABLE] = join(folder, 'cluster')
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled')
  return () => remove(folder)
}

/** Joining makes this process the server's last user, so leaving stops it. */
async function remove(folder: string): Promise<void> {
  if (existsSync(join(folder, 'postgres', 'data'))) {
    const instance = await startEmbeddedPostgres({ dataDir: folder, durable: false })
    await instance.stop()
  }
  rmSync(folder, { recursive: true, force: true })
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch {
    return false
  }
}
