/**
 * Meters the CPU of processes as the scheduler counts it, to the nanosecond and over all threads, and how long they waited for a
 * core because something else ran on it. Linux only.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** CPU used in a period, over all threads, in microseconds. */
export interface Used {
  readonly run: number
  /** How long threads were ready to run but had to wait, because another thread had the core; in microseconds. */
  readonly wait: number
}

/** Returns the CPU used since the meter was created. */
export type Meter = () => Promise<Used>

/** Lists process ids. Called at each reading, because processes come and go. */
type Pids = () => readonly (string | number)[]

export const HAS_SCHEDSTAT = existsSync('/proc/self/schedstat')

/** Meters processes. Threads that end before the reading do not count; those that begin after the start count in full. */
export function meterOf(pids: Pids): Meter {
  const before = threadsOf(pids())
  return async () => {
    let run = 0
    let wait = 0
    for (const [thread, now] of threadsOf(pids())) {
      run += now.run - (before.get(thread)?.run ?? 0)
      wait += now.wait - (before.get(thread)?.wait ?? 0)
    }
    return { run, wait }
  }
}

function threadsOf(pids: readonly (string | number)[]): Map<string, Used> {
  const threads = new Map<string, Used>()
  for (const pid of pids) {
    for (const thread of list(`/proc/${pid}/task`)) {
      const [run, wait] = read(`/proc/${pid}/task/${thread}/schedstat`).split(' ').map(Number)
      if (run !== undefined && wait !== undefined) threads.set(thread, { run: run / 1000, wait: wait / 1000 })
    }
  }
  return threads
}

/** Ids of a process and all of its descendants. */
export function treeOf(root: string | number): string[] {
  const children = new Map<string, string[]>()
  for (const pid of list('/proc').filter(name => /^\d+$/.test(name))) {
    const parent = read(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ')[1]
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const tree = [String(root)]
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

/** Resident memory of a process in MB, as reported by the system; NaN if the system does not say. */
export function residentMegabytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? Number.NaN) / 1000
}

/** Text of a file; empty if it is gone. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
