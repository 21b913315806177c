/**
 * Names this process. Whoever starts under the name of an earlier process takes that one for its predecessor, and frees the holds of
 * its calls. So the name needs more than host and port, which machines made from one image share: a number kept in `DATA_DIR`, where
 * the predecessor's spool is, too.
 */

import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Config } from './config.ts'

/** Stays the same over restarts, and is unique among running processes. */
export function processName({ port, worker, dataDir }: Pick<Config, 'port' | 'worker' | 'dataDir'>): string {
  return `${hostname()}-${port}-${folderNumber(dataDir)}${worker === null ? '' : `-${worker}`}`
}

/**
 * Number of the data folder, made at its first use. If it cannot be written, a new one each time; then holds of a killed process are
 * freed as late as those of a machine that is lost. Workers find the one that their supervisor has made.
 */
export function folderNumber(dataDir: string): string {
  const file = join(dataDir, 'folder-number')
  const number = randomBytes(4).toString('hex')
  try {
    const known = readNumber(file)
    if (known !== null) return known
    // It may be left empty by a full disk.
    rmSync(file, { force: true })
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    writeFileSync(file, number, { flag: 'wx', mode: 0o600 })
  } catch {
    // The folder cannot be written, or another process was first.
  }
  return readNumber(file) ?? number
}

function readNumber(file: string): string | null {
  try {
    return /^[0-9a-f]{8}$/.exec(readFileSync(file, 'latin1'))?.[0] ?? null
  } catch {
    return null
  }
}
