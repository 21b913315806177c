/** Limits processes to a share of a core with Linux's control groups (version 1 or 2), which takes root or a delegated group. */

import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = '/sys/fs/cgroup'
/** Short, so that a process at its limit never sleeps for longer than a call takes. The kernel grants at least 1 ms at a time. */
const GRANT_US = 1_000

export interface Quota {
  /** Ends the limit. The processes must have exited. */
  remove(): void
}

/** Gives a process at most `share` of a core, whichever cores it runs on. Null if this system does not let us. */
export function limitCpu(pid: number | string, share: number): Quota | null {
  const periodUs = Math.round(GRANT_US / share)
  const isUnified = existsSync(join(ROOT, 'cgroup.controllers'))
  const folder = join(ROOT, isUnified ? '' : 'cpu', `gateway-bench-${pid}`)
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
  try {
    if (isUnified) writeFileSync(join(ROOT, 'cgroup.subtree_control'), '+cpu')
    mkdirSync(folder)
  } catch {
    return null
  }
  try {
    if (isUnified) write('cpu.max', `${GRANT_US} ${periodUs}`)
    else {
      write('cpu.cfs_period_us', String(periodUs))
      write('cpu.cfs_quota_us', String(GRANT_US))
    }
    write('cgroup.procs', String(pid))
    return { remove: () => rmdirSync(folder) }
  } catch {
    rmdirSync(folder)
    return null
  }
}
