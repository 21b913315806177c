/**
 * Takes over the spools of dead processes on this disk. The kernel releases a spool's lock when its process ends, so whoever
 * gets the lock knows that the process is gone. This process first settles the calls that the dead process had finished, then
 * marks it as ended, so that its remaining holds are released.
 */

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { classifyFault, type StatementPool } from '../lib/database.ts'
import { FileLock } from '../lib/file-lock.ts'
import { fenceNamed } from './instance.ts'
import type { LedgerLimits, LedgerOptions } from './options.ts'
import { replay } from './replay.ts'
import type { SetAsideReport } from './set-aside-report.ts'
import type { Settling } from './settling.ts'
import { Spool } from './spool.ts'

export function spoolFolder(options: Pick<LedgerOptions, 'spoolDir'>, name: string): string {
  return join(options.spoolDir, encodeURIComponent(name).replaceAll('.', '%2E'))
}

export interface Adopter {
  readonly options: LedgerOptions
  readonly limits: LedgerLimits
  readonly pools: { readonly life: StatementPool }
  readonly settling: Settling
  readonly databaseId: string
  /** The database's current history (see `readHistory`); null if it is not known yet. */
  readonly history: string | null
  readonly setAside: SetAsideReport
}

/**
 * Takes over every spool that it can lock. Resolves to true if any of them belonged to a dead process, whose remaining holds
 * may have to be released.
 */
export async function adoptSpools(adopter: Adopter): Promise<boolean> {
  const { options } = adopter
  const own = spoolFolder(options, options.instanceName)
  let found = false
  for (const entry of readdirSync(options.spoolDir, { withFileTypes: true })) {
    const folder = join(options.spoolDir, entry.name)
    if (!entry.isDirectory() || folder === own) continue
    const lock = new FileLock(join(folder, 'lock'))
    try {
      if (!lock.tryExclusive()) continue
      if (await adopt(adopter, folder, decodeURIComponent(entry.name))) found = true
    } catch (cause) {
      if (classifyFault(cause) === 'retry') throw cause
      // Another process on this disk may have removed the folder.
      if (!existsSync(folder)) continue
      const message = `cannot read the spool in ${folder}; its calls stay unsettled until it is repaired`
      options.report({ level: 'error', code: 'spool_failed', message, cause })
    } finally {
      lock.release()
    }
  }
  return found
}

async function adopt(adopter: Adopter, folder: string, name: string): Promise<boolean> {
  const { options, limits, pools, settling, databaseId, history, setAside } = adopter
  const spool = new Spool({ folder, limits, databaseId, report: options.report })
  const left = spool.load()
  const source = { spool, pool: pools.life, settling }
  const sent = await replay(left, source)
  for (const { settlement } of left) spool.done(settlement.callId)
  if (sent > 0) report(options, `settled ${sent} calls left by ${name}`)
  if (history !== null && spool.history !== null && spool.history !== history) {
    for (const settlements of spool.retained()) await replay(settlements, source)
    spool.history = history
  }
  await setAside.update(name, spool.setAside)
  spool.tidy()
  spool.close()
  const isDead = await fenceNamed(pools.life, { name, history })
  // Finished settlements are kept for a while, in case the database fails over to a standby that lacks them.
  const isOld = Date.now() - statSync(folder).mtimeMs >= limits.spoolRetentionMs
  const isClear = spool.setAside.lines + spool.setAside.files === 0
  if (spool.isEmpty && isClear && isOld) rmSync(folder, { recursive: true, force: true })
  return isDead || left.length > 0
}

function report(options: LedgerOptions, message: string): void {
  options.report({ level: 'info', code: 'spool_replayed', message })
}
