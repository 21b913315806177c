/**
 * Creates a folder for a test run's embedded Postgres, temporary files and compiled code, and removes it after the run. Also
 * removes folders of earlier runs that were killed.
 */

import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../src/app/embedded-postgres.ts'
import { TEMPLATE_VARIABLE } from '../fault/support/cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresDir: string
  }
}

const PREFIX = 'gateway-test-run-'
/** Where Linux mounts a file system in memory. */
const MEMORY = '/dev/shm'
/** Free space that a run requires, in bytes: several times the size of its files. */
const ROOM_BYTES = 3 * 1024 ** 3

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  for (const place of [MEMORY, tmpdir()]) await removeAbandoned(place)
  const folder = join(hasRoom(MEMORY) ? MEMORY : tmpdir(), `${PREFIX}${process.pid}`)
  const temporary = join(folder, 'temporary')
  mkdirSync(temporary, { recursive: true })
  project.provide('postgresDir', folder)
  // Inherited by every worker, and by the programs that tests start.
  process.env.TMPDIR = temporary
  process.env[TEMPLATE_VARIABLE] = join(folder, 'cluster')
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled')
  return () => remove(folder)
}

/**
 * Whether a run can put its files into this folder. A folder in memory is tried first: a database consists of about 600 files,
 * and creating and deleting them on disk takes more CPU time than the tests spend on using them.
 */
function hasRoom(place: string): boolean {
  const probe = join(place, `${PREFIX}probe-${process.pid}`)
  try {
    const { bavail, bsize } = statfsSync(place)
    if (Math.min(bavail * bsize, freemem()) < ROOM_BYTES) return false
    // Some tests write programs and run them, so the folder must allow executable files.
    writeFileSync(probe, '', { mode: 0o700 })
    accessSync(probe, constants.X_OK)
    return true
  } catch {
    return false
  } finally {
    rmSync(probe, { force: true })
  }
}

async function removeAbandoned(place: string): Promise<void> {
  if (!existsSync(place)) return
  for (const name of readdirSync(place)) {
    const processId = Number(name.startsWith(PREFIX) ? name.slice(PREFIX.length) : Number.NaN)
    if (Number.isInteger(processId) && !isAlive(processId)) await remove(join(place, name))
  }
}

/**
 * Removes a run's folder. Stops the run's Postgres first, if there is one. The server stops when the last process that uses it
 * leaves, so this process joins and leaves.
 */
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
