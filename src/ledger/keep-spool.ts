/**
 * Keeps a process's spool its own, and on disk. The folder is locked as long as the process runs. If somebody removes it
 * meanwhile, or files in it, they are made again: what is written to a removed file is lost with the process.
 */

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FileLock } from '../lib/file-lock.ts'
import { spoolFolder } from './adopt.ts'
import type { LedgerLimits, LedgerOptions } from './options.ts'
import type { Settling } from './settling.ts'
import type { Spool } from './spool.ts'

const POLL_MS = 20

/** Waits a while for the lock: another process may hold it briefly while it settles the calls of a dead process of this name. */
export async function lockSpool(options: LedgerOptions, { spoolLockMs }: LedgerLimits): Promise<FileLock> {
  const folder = spoolFolder(options, options.instanceName)
  const lock = new FileLock(lockPath(folder))
  const deadline = performance.now() + spoolLockMs
  while (performance.now() < deadline) {
    if (makeAndLock(lock, folder)) return lock
    await sleep(POLL_MS)
  }
  throw new Error(
    `A gateway named ${options.instanceName} is already running on ${options.spoolDir}: give each process its own name or DATA_DIR.`,
  )
}

/** Makes again what has been removed, and writes again what is not in the spool although it should be. */
export function keepSpool(parts: {
  readonly options: LedgerOptions
  readonly lock: FileLock
  readonly spool: Spool
  readonly settling: Settling
  readonly history: string | null
}): void {
  const { options, lock, spool, settling, history } = parts
  if (!lock.isInPlace) {
    lock.release()
    try {
      if (makeAndLock(lock, spoolFolder(options, options.instanceName)) && history !== null) spool.history = history
    } catch {
      // The spool reports that it cannot be written.
    }
  }
  spool.forgetRemoved()
  settling.respool()
}

function makeAndLock(lock: FileLock, folder: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    // The process that settles the calls of a dead one removes the folder when it is done.
    if (lock.tryExclusive() && lock.isInPlace) return true
  } catch (error) {
    if (existsSync(lockPath(folder))) throw error
  }
  lock.release()
  return false
}

function lockPath(folder: string): string {
  return join(folder, 'lock')
}
