/** Which core runs what: the process that is measured has one to itself, and everything else of the bench has the others. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Lists of cores as taskset takes them. */
export interface Cores {
  /** The one core of gateways and references. */
  readonly measured: string
  /** Load, upstream, Postgres and the bench itself. */
  readonly others: string
  readonly all: string
}

/** Null where processes cannot be pinned (no taskset), or where there is one core only. */
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

/** A program and its arguments so that it starts on these cores, and its children with it; null: as this process. */
export function pinnedTo(
  cores: string | null,
  program: string,
  ...rest: readonly string[]
): [program: string, ...rest: string[]] {
  return cores === null ? [program, ...rest] : ['taskset', '-c', cores, program, ...rest]
}

/** Moves this process; what it starts from now on begins there. */
export function pinSelf(cores: string): void {
  execFileSync('taskset', ['-acp', cores, String(process.pid)], { stdio: 'ignore' })
}
