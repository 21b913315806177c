/**
 * Measures the CPU time of processes over all their threads, and how long these waited for a core, from the scheduler's
 * nanosecond counters. Linux only.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** CPU time used by all threads in a period, in microseconds. */
export interface Used {
  readonly run: number
  /** How long threads were ready to run but waited for a core, in microseconds. */
  readonly wait: number
}

/** Returns the CPU time used since the measurement started. */
export type Meter = () => Promise<Used>

/** Returns the process ids. Called at each reading, because processes come and go. */
type Pids = () => readonly (string | number)[]

export const HAS_SCHEDSTAT = existsSync('/proc/self/schedstat')

/** Starts a measurement. Threads that end before a reading are left out of it; threads that start later count in full. */
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

/** In `/proc/stat`: user, nice, system and stolen time, in hundredths of a second. Idle time and interrupts are left out. */
const BUSY_FIELDS = [1, 2, 3, 8]
const TICK_US = 10_000

/**
 * Starts measuring how long a core was busy, including the time that the host gave to others, in microseconds. NaN if the system
 * does not report it. The kernel counts in hundredths of a second.
 */
export function meterOfCore(core: string): () => number {
  const busy = () => {
    const fields = new RegExp(`^cpu${core} .*`, 'm').exec(read('/proc/stat'))?.[0].split(' ') ?? []
    return BUSY_FIELDS.reduce((sum, field) => sum + Number(fields[field]), 0) * TICK_US
  }
  const before = busy()
  return () => busy() - before
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

/** Resident memory (VmRSS) of a process in MB; NaN if the system does not report it. */
export function residentMegabytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? Number.NaN) / 1000
}

/** Returns the file's text, or '' if the file is gone. */
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
