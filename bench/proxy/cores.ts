/** Assigns CPU cores: one to the measured process alone, the others to everything else in the bench. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The cores for each use, as lists in taskset's syntax. */
export interface Cores {
  /** Core for the gateways and the reference proxies. */
  readonly measured: string
  /** Cores for load, upstream, Postgres and the bench itself. */
  readonly others: string
  readonly all: string
}

/** Reserves a core for the measured process. Null if processes cannot be pinned (no taskset), or if there is only one core. */
export function findCores(): Cores | null {
  try {
    const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? ''
    const cores = list.split(',').flatMap(part => {
      const [first = 0, last = first] = part.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
    if (cores.length < 2) return null
    execFileSync('taskset', ['--version'], { stdio: 'ignore' })
    return { measured: String(cores.at(-1)), others: cores.slice(0, -1).join(','), all: list }
  } catch {
    return null
  }
}

/**
 * Returns the command line that starts a program, with its children, on these cores. If `cores` is null, they run on the cores
 * of this process.
 */
export function pinnedTo(
  cores: string | null,
  program: string,
  ...rest: readonly string[]
): [program: string, ...rest: string[]] {
  return cores === null ? [program, ...rest] : ['taskset', '-c', cores, program, ...rest]
}

/** Moves this process to these cores, along with the processes that it starts from now on. */
export function pinSelf(cores: string): void {
  execFileSync('taskset', ['-acp', cores, String(process.pid)], { stdio: 'ignore' })
}
